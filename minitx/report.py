"""`minitx report`: what runs say together, as a page that works offline, Markdown, CSV and figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from minitx.analysis.report import write_report
from minitx.errors import UserError

EXAMPLES = """examples:
  minitx report runs                                 every run below runs/, into report/
  minitx report runs/a runs/b --out comparison       two runs
  minitx report runs --target 2.5 --reference additive
  minitx report runs --wandb minitx                  also as an artifact in the Weights & Biases project minitx

RUNS are run directories, or directories that hold some at any depth: copied ones, unfinished ones and ones that
diverged included. The report goes to DIR/report.html, report.md, *.csv and figures/*.svg and *.png; where DIR exists it
goes to DIR-2, DIR-3, … With --wandb the directory becomes an artifact of a run of its own: online if you are logged in,
else kept offline beside DIR.
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
    directory = write_report(
        arguments.runs, arguments.out, target=arguments.target, reference=arguments.reference, split=arguments.split
    )
    if arguments.wandb:
        from minitx.training.dashboards import publish_report  # needs torch, which a report does not

        print(publish_report(directory, arguments.wandb))


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
    parser.add_argument("--wandb", metavar="PROJECT", help="keep the report in this Weights & Biases project too")
    return parser
