"""The command `minitx bench attention`: time and memory of every compatibility function over length and d_k (§3.2.1).

"While the two are similar in theoretical complexity, dot-product attention is much faster and more space-efficient in
practice, since it can be implemented using highly optimized matrix multiplication code": put to the test.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from minitx.bench.attention_figure import save_figure
from minitx.bench.attention_table import print_table
from minitx.bench.machine import facts, headline, idle_check
from minitx.bench.reporting import Parser, WriteRecord, duration, json_lines, make_console, positive, positives, say
from minitx.bench.sweep import Result, Sweep, is_reference
from minitx.bench.workload import ONE_QUERY, PARTS, REFERENCE, Series, Setting, load_variants, option_names
from minitx.errors import UserError
from minitx.launch import make_importable
from minitx.loading import choose_device
from minitx.training.machine import prepare_process

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
EXAMPLES = f"""examples:
  minitx bench attention                                     every option of configs/attention
  minitx bench attention --variants scaled,additive --lengths 16,64,256 --d-k 64
  minitx bench attention --variants my_pkg.Distance --part score
  minitx bench attention --device cuda --dtype bfloat16 --json attention.jsonl

Each variant gets as many queries as keys, of unit variance, without mask and dropout; `{REFERENCE}` is always among
them. Times are medians with quartiles, of the variants in turn; a case of over 5 s gets fewer samples. Memory is the
most that a forward and backward pass hold at once beyond queries, keys and values: what torch's allocator hands out
or, if that is over 1 MiB more, the growth of the process as Linux counts it, which sees compiled code too. Cases that
would not fit into the free memory are left out and named. Ctrl-C keeps what is measured.
"""


def main(argv: Sequence[str]) -> int:
    """Measure as `argv` says; the exit status is 0.

    Raises:
        UserError: an option or a variant is at fault.
        KeyboardInterrupt: after Ctrl-C; what was measured has been shown.
    """
    arguments = _parser().parse_args(argv)
    make_importable(Path.cwd())
    prepare_process(arguments.threads)
    device = choose_device(arguments.device)
    variants = load_variants(arguments.variants or option_names())
    setting = Setting(arguments.part, arguments.batch, arguments.heads, DTYPES[arguments.dtype], device)
    series = [*map(Series, variants), *(Series(v, ONE_QUERY) for v in variants if v.name == REFERENCE)]
    _make_directory(arguments.out)
    console = make_console(arguments.json)
    state, warning = idle_check(device)
    if warning:
        say(console, warning)
    with json_lines(arguments.json) as write:
        common = {"benchmark": "attention", **facts(device, arguments.dtype), **state}
        common |= {name: getattr(arguments, name) for name in ("part", "batch", "heads")}
        say(console, headline(common))
        _measure(Sweep(setting, series, arguments.repeats), arguments, console, write, common)
    return 0


def _measure(
    sweep: Sweep, arguments: argparse.Namespace, console: Console, write: WriteRecord, common: dict[str, Any]
) -> None:
    """Run all cases, write a record of each, and show them all at the end, also of a run that breaks off."""
    records: list[dict[str, Any]] = []
    try:
        for results in _groups(sweep, arguments):
            reference = next((result for result in results if is_reference(result)), None)
            for result in results:
                records.append({**common, **result.record(reference)})
                write(records[-1])
                if result.skipped:
                    say(console, f"left out: {_case(result)}: {result.skipped}")
    finally:
        if any(record["skipped"] is None for record in records):
            print_table(console, records)
            for path in save_figure(records, arguments.out, headline(common)):
                say(console, f"figure {path}")


def _groups(sweep: Sweep, arguments: argparse.Namespace) -> Iterator[list[Result]]:
    """The results of each size, after a word on how long all of them will take."""
    with _progress() as (progress, console):
        task = progress.add_task("pilot runs", total=None)
        for d_k in arguments.d_k:
            sweep.run_pilots(d_k, max(arguments.lengths))
        sizes = [(length, d_k) for d_k in arguments.d_k for length in arguments.lengths]
        seconds = [sweep.expected_seconds(*size) for size in sizes]
        cases = len(sizes) * len(sweep.series)
        say(console, f"{cases} cases, about {duration(sum(seconds))} in all")
        progress.update(task, total=sum(seconds))
        for number, (length, d_k) in enumerate(sizes):
            left = f"about {duration(sum(seconds[number:]))} left"
            progress.update(task, description=f"d_k {d_k}, length {length}")
            if not console.is_terminal:
                say(console, f"d_k {d_k}, length {length}: {number} of {len(sizes)} sizes done, {left}")
            yield sweep.measure(length, d_k)
            progress.advance(task, seconds[number])


@contextmanager
def _progress() -> Iterator[tuple[Progress, Console]]:
    """A bar on standard error, where that is a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        yield progress, console


def _case(result: Result) -> str:
    return f"{result.series.label}, length {result.length}, d_k {result.d_k}"


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {path}: no such directory can be made: {error.strerror}.") from error


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="minitx bench attention",
        description="Time and memory of every compatibility function, beside what theory says.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--variants", type=_words, metavar="NAME,…", help="options of attention, or module.Class (all)")
    parser.add_argument("--part", choices=PARTS, default=PARTS[0], help="all of Eq. 1, or the score alone (attention)")
    parser.add_argument(
        "--lengths", type=positives, default=[16, 64, 256, 1024], metavar="N,…", help="queries and keys"
    )
    parser.add_argument(
        "--d-k", type=positives, default=[16, 64, 256], metavar="N,…", help="16,64,256; d_v is the same"
    )
    parser.add_argument("--batch", type=positive, default=8, metavar="N", help="sentences (8)")
    parser.add_argument("--heads", type=positive, default=4, metavar="N", help="attention heads (4)")
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="precision of all tensors (float32)")
    parser.add_argument("--device", default="auto", metavar="NAME", help="cpu, cuda, cuda:1, … (cuda if there is one)")
    parser.add_argument("--repeats", type=positive, default=10, metavar="N", help="samples of each case (10)")
    parser.add_argument("--threads", type=positive, metavar="N", help="threads on the processor (torch's own number)")
    parser.add_argument("--out", type=Path, default=Path("bench"), metavar="DIR", help="for the figure (bench)")
    parser.add_argument("--json", metavar="FILE", help="a JSON line for each case; -: to standard output")
    return parser
