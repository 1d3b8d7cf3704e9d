"""`minitx report`: what runs say together, as a page that works offline, Markdown, CSV and figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from minitx.errors import UserError

EXAMPLES = """examples:
  minitx report runs                                 every run below runs/, into report/
  minitx report runs/a runs/b --out comparison       two runs
  minitx report runs --target 2.5 --reference additive

RUNS are run directories, or directories that hold some at any depth: copied ones, unfinished ones and ones that
diverged included. The report goes to DIR/report.html, report.md, *.csv and figures/*.svg and *.png; where DIR exists it
goes to DIR-2, DIR-3, …
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"minitx report: {message}; `minitx report --help` lists what there is.")


def main(argv: Sequence[str]) -> None:
    """Write a report over the runs named in `argv`.

    Raises:
        UserError: if there is no run, none that can be read or none that was validated, or DIR cannot be made.
    """
    arguments = _parser().parse_args(argv)
    write_report(
        arguments.runs, arguments.out, target=arguments.target, reference=arguments.reference, split=arguments.split
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="minitx report",
        description="Compare runs: convergence, differences paired by seed, BLEU, cost and score statistics.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUNS", help="run directories, or parents of some")
    parser.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="where to (default: report)")
    parser.add_argument(
        "--target", type=float, metavar="LOSS", help="validation loss to time runs to (default: a rule)"
    )
    parser.add_argument("--reference", metavar="VARIANT", help="what to compare with (default: scaled)")
    parser.add_argument("--split", metavar="NAME", help="split whose translations are compared (default: a test split)")
    return parser


def write_report(
    places: Sequence[Path],
    out: Path,
    *,
    target: float | None = None,
    reference: str | None = None,
    split: str | None = None,
) -> Path:
    """Read runs, compute, and write the report's directory, whose path is returned and printed.

    Args:
        places: run directories, or parents of some.
        out: the directory to make; a numbered sibling is made where it exists.
        target, reference, split: see `analyse`.

    Raises:
        UserError: see `main`.
    """
    from minitx.analysis.page import write_files
    from minitx.analysis.results import analyse
    from minitx.analysis.runs import Run, Unreadable, find_runs, read_run

    runs: list[Run] = []
    left_out: list[tuple[Path, str]] = []
    for path in find_runs(places):
        try:
            runs.append(read_run(path))
        except Unreadable as reason:
            left_out.append((path, str(reason)))
    if not runs:
        path, reason_words = left_out[0]
        raise UserError(f"None of {len(left_out)} run directories can be read; of {path}, {reason_words}.")
    results = analyse(runs, left_out, target=target, reference=reference, split=split)
    directory = _make_directory(out)
    write_files(results, directory)
    print(f"{directory / 'report.html'}: {len(results.runs)} runs, {len(results.left_out)} directories left out")
    for warning in results.warnings:
        print(f"warning: {warning}")
    return directory


def _make_directory(out: Path) -> Path:
    """Make `out`, or the first numbered sibling that does not exist yet."""
    out = out if out.name not in ("", "..") else out.resolve()
    number = 1
    while True:
        directory = out if number == 1 else out.with_name(f"{out.name}-{number}")
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise UserError(f"--out {out} cannot be made ({error.strerror}): choose another place.") from error
        else:
            return directory
