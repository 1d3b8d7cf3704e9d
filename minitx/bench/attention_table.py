"""The figures of `minitx bench attention` as a table, and in a sentence for each variant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from minitx.bench.reporting import count, mebibytes, milliseconds, ratio, say
from minitx.bench.timing import Spread
from minitx.bench.workload import PACKED, REFERENCE

Record = dict[str, Any]
COLUMNS = (
    "forward ms",
    "backward ms",
    "memory MiB",
    "time ×",
    "memory ×",
    "mult-adds",
    "exp, tanh",
    "kept",
)


def label(record: Record) -> str:
    """What a series is called."""
    return record["variant"] if record["form"] == PACKED else f"{record['variant']}, query by query"


def print_table(console: Console, records: Sequence[Record]) -> None:
    """A row for each case that was measured, sections by size; then each series in a sentence."""
    say(
        console,
        "median (quartiles); × against scaled at the same size. Theory, of the forward pass: multiply-adds, values of "
        "exp, tanh and √, numbers kept for the backward pass.",
    )
    table = Table("d_k", "length")
    table.add_column("variant", min_width=22)
    for column in COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    before = None
    for record in records:
        size = record["d_k"], record["length"]
        if before not in (None, size):
            table.add_section()
        shown = ("", "") if size == before else map(str, size)
        table.add_row(*shown, label(record), *_cells(record))
        before = size
    console.print(table)
    for sentence in sentences(records):
        say(console, sentence)


def _cells(record: Record) -> list[str]:
    theory = [count(record[name]) if name in record else "–" for name in COUNTS]
    if record["skipped"]:
        return ["left out", *["–"] * 4, *theory]
    times = [milliseconds(_spread(record, name)) for name in ("forward_seconds", "backward_seconds")]
    ratios = [ratio(record[name]) if name in record else "–" for name in ("time_ratio", "memory_ratio")]
    return [*times, mebibytes(record["memory_bytes"]), *ratios, *theory]


COUNTS = ("multiply_adds", "transcendentals", "numbers_kept")


def _spread(record: Record, name: str) -> Spread:
    return Spread(record[name], record[f"{name}_lower"], record[f"{name}_upper"], record["samples"])


def sentences(records: Sequence[Record]) -> list[str]:
    """How each series compares with the reference over all sizes, theory beside it."""
    references = {(r["d_k"], r["length"]): r for r in records if r["variant"] == REFERENCE and r["form"] == PACKED}
    lines = []
    for name in dict.fromkeys(map(label, records)):
        own = [r for r in records if label(r) == name and "time_ratio" in r]
        if not own or name == REFERENCE:
            continue
        time, memory = _range(own, "time_ratio"), _range(own, "memory_ratio")
        line = f"{name}: {time} × the time and {memory} × the memory of {REFERENCE}"
        counted = [r for r in own if "multiply_adds" in r]
        if counted:
            products = [r["multiply_adds"] / references[r["d_k"], r["length"]]["multiply_adds"] for r in counted]
            line += f", for {_between(products)} × the multiply-adds"
        lines.append(line + ".")
    return lines


def _range(records: Sequence[Record], name: str) -> str:
    return _between([record[name] for record in records])


def _between(numbers: Sequence[float]) -> str:
    low, high = ratio(min(numbers)), ratio(max(numbers))
    return low if low == high else f"{low} to {high}"
