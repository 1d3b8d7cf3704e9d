"""The command `minitx data check`: which text to look at, and how the report is printed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from minitx.data.check import Report, check
from minitx.data.sources import PairSource, TextFiles, aligned, stems
from minitx.errors import UserError
from minitx.output import printing, require_standard_output

EXAMPLES = """examples:
  minitx data check --source a.en --target a.de      two files, line by line
  minitx data check DIR en de                        every split in DIR: train.en and train.de, val.en.gz, …
  minitx data check data=multi30k data.path=DIR      what `minitx train` with these words would use

exit status: 0 if nothing would stop a run or spoil it, 1 if something would (it is named last), 2 for a mistake in the
command.
"""
WIDTH_OF_A_FILE = 120


def main(argv: Sequence[str]) -> int:
    """Report on parallel text; the exit status is 1 if it has a fault that would stop a run or spoil it.

    Raises:
        UserError: there is nothing to look at, or the command is unclear.
    """
    arguments = _parser().parse_args(argv)
    require_standard_output()
    report = _report(arguments.what, arguments.source, arguments.target)
    with printing():
        _print(report, arguments.json)
    return 1 if report.faults() else 0


def _print(report: Report, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.as_data(), ensure_ascii=False, indent=2))
    else:
        from rich.console import Console

        from minitx.data.check_tables import print_report

        console = Console()
        if not console.is_terminal:
            console.width = WIDTH_OF_A_FILE
        print_report(report, console)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="minitx data check",
        description="Look for faults in parallel text: counts, lengths, blanks, repeats, overlap of train and test,\n"
        "odd characters, and lines that slipped against each other.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="*", metavar="WHAT", help="DIR and two languages, or data=… as for train")
    parser.add_argument("--source", type=Path, metavar="FILE", help="source sentences, plain or .gz")
    parser.add_argument("--target", type=Path, metavar="FILE", help="their translations, line by line")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def _report(what: Sequence[str], source: Path | None, target: Path | None) -> Report:
    if source is not None and target is not None and not what:
        return check([("pairs", aligned(source, target))], (source.name, target.name), None)
    if source is not None or target is not None:
        raise UserError("Give both --source FILE and --target FILE, and nothing else to check.")
    if what and all("=" in word for word in what):
        return _report_on_configuration(what)
    if len(what) == 3:
        text = TextFiles(*what)
        there = (stems(text.directory, f".{language}") for language in what[1:])
        splits = sorted(set.intersection(*map(set, there)), key=lambda name: (name != "train", name))
        if not splits:
            raise UserError(f"{what[0]} holds no two files that differ only in .{what[1]} and .{what[2]}.")
        return _report_on_source(text, splits, "train")
    raise UserError("Give --source FILE --target FILE, or DIR and two languages, or data=…; --help shows examples.")


def _report_on_configuration(overrides: Sequence[str]) -> Report:
    from hydra.utils import instantiate

    from minitx.config import compose
    from minitx.data.corpus import Corpus

    corpus: Corpus = instantiate(compose(overrides).data)
    splits = corpus.source.splits()
    return _report_on_source(corpus.source, [splits.train, splits.validation, *splits.tests.values()], splits.train)


def _report_on_source(source: PairSource, splits: Iterable[str], train: str) -> Report:
    pairs = [(split, source.pairs(split)) for split in splits]
    return check(pairs, (source.source_language, source.target_language), train)
