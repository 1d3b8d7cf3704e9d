"""From JSON lines to the side-by-side table."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from peers.systems import REFERENCE, System

RATES = {
    "train": ("tokens_per_second",),
    "decode": ("greedy_sentences_per_second", "beam_5_sentences_per_second"),
}
HEADER = (
    "system",
    "train tok/s",
    "peak RSS",
    "greedy sent/s",
    "beam-5 sent/s",
    "BLEU greedy / beam 5",
    "greedy as minitx",
)
RATE_NAMES = tuple(name for names in RATES.values() for name in names)


def parse_result(output: str, system: str, phase: str) -> dict[str, Any] | None:
    """The runner's JSON line among whatever else its system printed; None where there is none."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict) and (found.get("system"), found.get("phase")) == (system, phase):
                return found
    return None


def merge(lines: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each system's figures over all rounds: medians of numbers, peak memory at its most, the last reason of a failure.

    Peak memory is that of training where a system trains. A failure is named only where the phase never succeeded.
    """
    columns: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for name, value in line.items():
            if name not in {"system", "phase"}:
                columns[line["system"], line["phase"]][name].append(value)
    systems: dict[str, dict[str, Any]] = defaultdict(dict)
    for (system, phase), figures in sorted(columns.items()):  # decode before train, which has the last word on memory
        merged = systems[system]
        measured = RATES[phase][0] in figures
        for name, values in figures.items():
            if name == "peak_memory_bytes":
                merged[name] = max(values)
            elif name == "failure":
                if not measured:
                    merged.setdefault("failures", {})[phase] = values[-1]
            elif all(isinstance(value, int | float) for value in values):
                merged[name] = statistics.median(values)
    return dict(systems)


def table(systems: Sequence[System], figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The rows of `systems` in Markdown; in brackets the ratio to fairseq as shipped, where that was measured."""
    reference = figures.get(REFERENCE, {})
    rows = [list(HEADER), ["---"] * len(HEADER)]
    for system in systems:
        own = figures.get(system.name, {})
        rates = [_rate(own, reference, name) for name in RATE_NAMES]
        quality = [_number(own.get(f"{search}_bleu"), ".2f") for search in ("greedy", "beam_5")]
        cells = [system.label, rates[0], _memory(own), *rates[1:], " / ".join(quality) if any(quality) else ""]
        cells.append(_number(own.get("greedy_agreement"), ".1%"))
        failures = "; ".join(f"{phase} failed: {reason}" for phase, reason in own.get("failures", {}).items())
        if failures:
            cells[0] += f" ({failures.replace('|', '/')})"
        rows.append(cells)
    return "\n".join("| " + " | ".join(cell or "–" for cell in row) + " |" for row in rows)


def _rate(own: Mapping[str, Any], reference: Mapping[str, Any], name: str) -> str:
    if name not in own:
        return ""
    rate = own[name]
    ratio = f" ({rate / reference[name]:.2f} x)" if reference.get(name) else ""
    return f"{rate:,.0f}{ratio}" if rate >= 100 else f"{rate:,.1f}{ratio}"


def _memory(own: Mapping[str, Any]) -> str:
    return f"{own['peak_memory_bytes'] / 1e9:.2f} GB" if "peak_memory_bytes" in own else ""


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
