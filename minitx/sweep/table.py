"""Tables of jobs: drawn on a terminal, aligned columns in a pipe or a file."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from minitx.sweep.job import Outcome
from minitx.sweep.jobs import Job, varying
from minitx.sweep.runs import read_run

OUTCOMES = ("job", "overrides", "status", "final loss", "best loss", "test BLEU", "seconds", "run directory")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    """Print rows below their headings."""
    if console.is_terminal:
        table = Table(*columns)
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def print_outcomes(jobs: Sequence[Job], outcomes: Mapping[int, Outcome], console: Console) -> None:
    """What came of each job of a sweep, and how many came to what. Losses are validation losses."""
    rows = []
    for job, overrides in zip(jobs, varying(jobs), strict=True):
        outcome = outcomes[job.number]
        directory = shown(outcome.path) if outcome.path else ""
        rows.append([str(job.number + 1), " ".join(overrides), _status(outcome), *_figures(outcome), directory])
    print_table(OUTCOMES, rows, console)
    counts = Counter(_status(outcomes[job.number]) for job in jobs)
    words = ", ".join(f"{count} {status}" for status, count in counts.items())
    console.print(f"{len(jobs)} jobs: {words}", soft_wrap=True, highlight=False, markup=False)


def shown(path: Path) -> str:
    """A path as somebody in the current directory would type it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative


def _status(outcome: Outcome) -> str:
    return f"{outcome.status} earlier" if outcome.earlier else outcome.status


def _figures(outcome: Outcome) -> list[str]:
    """Final and best validation loss, BLEU of the main test, and seconds, as far as there are any."""
    run = read_run(outcome.path) if outcome.path else None
    summary: Mapping[str, Any] = run.summary if run else {}
    tests = list(summary.get("test", {}).values())
    return [
        _number(summary.get("final", {}).get("validation_loss"), "{:.3f}"),
        _number(summary.get("best", {}).get("validation_loss"), "{:.3f}"),
        _number(tests[0].get("bleu") if tests else None, "{:.2f}"),
        _number(summary.get("seconds"), "{:,.0f}"),
    ]


def _number(value: Any, form: str) -> str:
    return "" if value is None else form.format(value)
