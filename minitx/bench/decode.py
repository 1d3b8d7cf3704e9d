"""The command `minitx bench decode`: how fast the model of a run translates."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from minitx.bench.machine import facts, headline, idle_check
from minitx.bench.reporting import (
    Parser,
    duration,
    json_lines,
    make_console,
    mebibytes,
    positive,
    positives,
    say,
)
from minitx.bench.timing import spread
from minitx.data.tokenizer import BOS_ID, EOS_ID
from minitx.decoding import translate_ids
from minitx.errors import UserError
from minitx.loading import LoadedRun, choose_device, load_run
from minitx.training.machine import peak_memory_bytes, prepare_process
from minitx.translator import tested_with

EXAMPLES = """examples:
  minitx bench decode runs/RUN
  minitx bench decode runs/RUN --beam-size 1,4 --batch-size 128 --limit 200
  minitx bench decode runs/RUN data.path=DIR --json -       where the run's data have been moved

Timed is the search, from source ids to target ids, over all sentences `--repeats` times, beam sizes in turn, after a
batch of warm-up; loading, reading and detokenising are not. Tokens are target tokens, end mark included.
"""


def main(argv: Sequence[str]) -> int:
    """Measure as `argv` says; the exit status is 0.

    Raises:
        UserError: the run, its data or an option is at fault.
        KeyboardInterrupt: after Ctrl-C; passes that were complete have been shown.
    """
    arguments = _parser().parse_intermixed_args(argv)
    prepare_process(arguments.threads)
    console = make_console(arguments.json)
    state, warning = idle_check(choose_device(arguments.device))
    if warning:
        say(console, warning)
    run = load_run(arguments.run, arguments.checkpoint, arguments.device)
    dataset = run.corpus(_data_path(arguments.words)).split(arguments.split)
    sources = [example.source for example in dataset.__getitems__(range(min(arguments.limit, len(dataset))))]
    search = {"batch_size": arguments.batch_size, "max_length": arguments.max_length}
    search["length_penalty"] = tested_with(run)["length_penalty"]
    parameter = next(run.model.parameters())
    common = {
        "benchmark": "decode",
        **facts(parameter.device, str(parameter.dtype).removeprefix("torch.")),
        **state,
        "run": run.path.name,
        "checkpoint": run.checkpoint.name,
        "split": arguments.split,
        "sentences": len(sources),
        **search,
    }
    with json_lines(arguments.json) as write:
        say(console, headline(common))
        passes: dict[int, list[tuple[float, int]]] = {beam_size: [] for beam_size in arguments.beam_size}
        try:
            _run_passes(run, sources, search, passes, arguments.repeats, console)
        finally:
            records = [common | _figures(beam, done, len(sources)) for beam, done in passes.items() if done]
            memory = peak_memory_bytes(parameter.device)
            for record in records:
                record["peak_memory_bytes"] = memory
                write(record)
            if records:
                _show(console, records)
    return 0


def _run_passes(
    run: LoadedRun,
    sources: Sequence[Any],
    search: dict[str, Any],
    passes: dict[int, list[tuple[float, int]]],
    repeats: int,
    console: Any,
) -> None:
    """Fill `passes` with (seconds, target tokens) of each pass over all sentences, by beam size."""

    def translate(chosen: Sequence[Any], beam_size: int) -> tuple[float, int]:
        started = time.perf_counter()
        found = translate_ids(run.model, chosen, bos_id=BOS_ID, eos_id=EOS_ID, beam_size=beam_size, **search)
        # The ids have come from the device: nothing is left to wait for.
        return time.perf_counter() - started, sum(len(best[0].ids) + 1 for best in found)

    few = sources[: search["batch_size"]]
    warm = [translate(few, beam_size)[0] for beam_size in passes for _ in range(2)][
        1::2
    ]  # the second: without start-up
    expected = repeats * sum(warm) * len(sources) / len(few)
    say(console, f"{repeats} times {len(sources)} sentences, about {duration(expected)} in all")
    for _ in range(repeats):
        for beam_size, done in passes.items():
            done.append(translate(sources, beam_size))
            say(console, f"beam {beam_size}: {len(sources) / done[-1][0]:,.1f} sentences/s")


def _figures(beam_size: int, passes: Sequence[tuple[float, int]], sentences: int) -> dict[str, Any]:
    return {
        "beam_size": beam_size,
        "passes": len(passes),
        "target_tokens": passes[0][1],
        **spread([seconds for seconds, _ in passes]).named("seconds"),
        **spread([sentences / seconds for seconds, _ in passes]).named("sentences_per_second"),
        **spread([tokens / seconds for seconds, tokens in passes]).named("tokens_per_second"),
    }


def _show(console: Any, records: Sequence[dict[str, Any]]) -> None:
    first = records[0]
    say(
        console,
        f"{first['run']}, {first['checkpoint']}, {first['split']}: {first['sentences']} sentences, batches of "
        f"{first['batch_size']}, at most {first['max_length']} tokens; median (quartiles)",
    )
    table = Table("beam")
    for heading in ("sentences/s", "target tokens/s", "target tokens", "passes"):
        table.add_column(heading, justify="right")
    for record in records:
        speeds = [
            "{:,.1f} ({:,.1f}–{:,.1f})".format(*(record[f"{name}{end}"] for end in ("", "_lower", "_upper")))
            for name in ("sentences_per_second", "tokens_per_second")
        ]
        table.add_row(str(record["beam_size"]), *speeds, f"{record['target_tokens']:,}", str(record["passes"]))
    memory = (f"{place} {mebibytes(size)} MiB" for place, size in first["peak_memory_bytes"].items())
    console.print(table)
    say(console, f"peak memory: {', '.join(memory)}")


def _data_path(words: Sequence[str]) -> str | None:
    path = None
    for word in words:
        key, _, path = word.partition("=")
        if key != "data.path" or not path:
            raise UserError(f"{word} is not understood here: write data.path=DIR.")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="minitx bench decode",
        description="Sentences and tokens a second of a run's model.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help="a run directory")
    parser.add_argument("words", nargs="*", metavar="data.path=DIR", help="where the run's data lie now")
    parser.add_argument("--beam-size", type=positives, default=[1, 5], metavar="K,…", help="widths, 1: greedy (1,5)")
    parser.add_argument("--batch-size", type=positive, default=64, metavar="N", help="sentences at once (64)")
    parser.add_argument("--max-length", type=positive, default=60, metavar="N", help="most tokens of each (60)")
    parser.add_argument("--split", default="test", metavar="NAME", help="train, validation or a test set (test)")
    parser.add_argument("--limit", type=positive, default=1000, metavar="N", help="the split's first N (1000)")
    parser.add_argument("--repeats", type=positive, default=3, metavar="N", help="passes over them (3)")
    parser.add_argument("--checkpoint", metavar="NAME", help="final, best, last or a file name (final if there is one)")
    parser.add_argument("--device", default="auto", metavar="NAME", help="cpu, cuda, cuda:1, … (cuda if there is one)")
    parser.add_argument("--threads", type=positive, metavar="N", help="threads on the processor (torch's own number)")
    parser.add_argument("--json", metavar="FILE", help="a JSON line for each beam size; -: to standard output")
    return parser
