"""A `Report` as tables for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from minitx.data.check import Report
from minitx.data.survey import EXAMPLES, Side, Survey, side_as_data

SHOWN = 12
SHARES = ("1", "50", "99", "100")


def print_report(report: Report, console: Console) -> None:
    """Print the tables, then the faults, or that there are none."""
    for table in (_sizes(report), _pairs(report), _characters(report)):
        if table.row_count:
            console.print(table)
            console.print()
    faults = report.faults()
    for fault in faults:
        console.print(f"[bold red]![/] {fault}", highlight=False, soft_wrap=True)
    if not faults:
        console.print("No fault that would stop a run or spoil it.")


def _sizes(report: Report) -> Table:
    table = _table("Sentences; lengths at 1, 50, 99 and 100 %", "split", "side")
    for heading in ("words", "per sentence", "characters", "blank", "edge\nblanks", "not\nNFC"):
        table.add_column(heading, justify="right", no_wrap=True)
    for survey, label, side in _sides(report):
        data = side_as_data(side)
        words, characters = data["word_percentiles"], data["character_percentiles"]
        table.add_row(
            survey.name,
            label,
            f"{data['words']:,}",
            *(" ".join(f"{lengths.get(share, 0):3d}" for share in SHARES) for lengths in (words, characters)),
            *(f"{count:,}" for count in (side.blank, side.edge_blanks, side.characters.not_nfc)),
        )
    return table


def _pairs(report: Report) -> Table:
    table = _table("Pairs", "", *report.splits, right=True)
    surveys, overlaps = report.splits.values(), report.overlaps()
    table.add_row("pairs", *(f"{survey.num_pairs:,}" for survey in surveys))
    table.add_row("with a blank side", *(f"{survey.blank:,}" for survey in surveys))
    table.add_row("both sides the same", *(f"{survey.copies:,}" for survey in surveys))
    duplicates = [survey.duplicates() for survey in surveys]
    for kind in ("pairs", "sources", "targets"):
        table.add_row(f"repeated {kind}", *(f"{counts[kind]:,}" for counts in duplicates))
    if overlaps:
        for kind in ("pairs", "sources", "targets"):
            also = (overlaps.get(name) for name in report.splits)
            table.add_row(f"{kind} also in {report.train}", *(f"{counts[kind]:,}" if counts else "" for counts in also))
    ratios = [survey.unusual_ratios() for survey in surveys]
    table.add_row("unusual ratio of lengths", *(f"{len(lines):,}" for lines in ratios))
    table.add_row("  lines", *(_listed(lines) for lines in ratios))
    table.add_row("numbers differ", *(f"{survey.numbers_differ:,}" for survey in surveys))
    table.add_row("  lines", *(_listed(survey.numbers_differ_lines) for survey in surveys))
    return table


def _characters(report: Report) -> Table:
    table = _table("Odd characters, and traces of damage", "split", "side", "what")
    table.add_column("count", justify="right")
    table.add_column("first line", justify="right")
    for survey, label, side in _sides(report):
        odd = sorted(side.characters.by_code_point().items(), key=lambda item: -int(item[1]["count"]))
        for code_point, facts in odd[:SHOWN]:
            what = f"{code_point} {facts['name']}"
            table.add_row(survey.name, label, what, f"{facts['count']:,}", str(facts["first_line"]))
        if odd[SHOWN:]:
            total = sum(int(facts["count"]) for _, facts in odd[SHOWN:])
            table.add_row(survey.name, label, f"{len(odd) - SHOWN} other characters", f"{total:,}", "")
        for trace, count in side.characters.traces.items():
            table.add_row(survey.name, label, trace, f"{count:,}", "")
    return table


def _table(title: str, *columns: str, right: bool = False) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0))
    for position, heading in enumerate(columns):
        numbers = right and position > 0
        table.add_column(
            heading, justify="right" if numbers else "left", overflow="fold", no_wrap=right and not numbers
        )
    return table


def _sides(report: Report) -> Iterator[tuple[Survey, str, Side]]:
    for survey in report.splits.values():
        yield survey, report.labels[0], survey.source
        yield survey, report.labels[1], survey.target


def _listed(lines: list[int]) -> str:
    return ", ".join(map(str, lines[:EXAMPLES])) + (", …" if len(lines) > EXAMPLES else "")
