"""The report of `minitx data check`: what a person wants to know of parallel text before training on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from minitx.data.alignment import Slip
from minitx.data.sources import Pair
from minitx.data.survey import Survey


@dataclass(frozen=True)
class Report:
    """What was found in the splits of a corpus.

    Attributes:
        labels: what the two sides are called.
        splits: the surveys, by name.
        train: the split that the others are compared with, or None.
    """

    labels: tuple[str, str]
    splits: dict[str, Survey]
    train: str | None

    def overlaps(self) -> dict[str, dict[str, int]]:
        """For each split but the training one: how many of its pairs, sources and targets are there too."""
        if self.train is None:
            return {}
        train = self.splits[self.train]
        return {name: survey.overlap(train) for name, survey in self.splits.items() if name != self.train}

    def faults(self) -> list[str]:
        """What would stop a run or spoil it, in sentences; empty for sound data."""
        return [fault for survey in self.splits.values() for fault in self._faults(survey)]

    def as_data(self) -> dict[str, Any]:
        """All of it as plain data, for JSON."""
        return {
            "sides": list(self.labels),
            "splits": {name: survey.as_data() for name, survey in self.splits.items()},
            "also_in_train": self.overlaps(),
            "faults": self.faults(),
        }

    def _faults(self, survey: Survey) -> Iterator[str]:
        if survey.fault is not None:
            yield survey.fault
        if survey.blank and survey.name != self.train:
            yield f"{survey.name}: {survey.blank} pairs have a blank side, which evaluation refuses."
        for slip in survey.slips():
            yield f"{survey.name}: {slip_in_words(slip, self.labels)}"


def check(splits: Iterable[tuple[str, Iterable[Pair]]], labels: tuple[str, str], train: str | None) -> Report:
    """Survey each split, given by name and pairs; ``train`` names the one that others must not overlap."""
    surveys = {name: Survey(name, pairs) for name, pairs in splits}
    return Report(labels, surveys, train if train in surveys else None)


def slip_in_words(slip: Slip, labels: tuple[str, str]) -> str:
    """What a `Slip` means, in a sentence."""
    source, target = labels
    where = f"lines {slip.first}-{slip.last}"
    if slip.offset is None:
        return f"{where} of {source} and {target} do not seem to be translations of each other."
    lines, step = ("a line", "line") if abs(slip.offset) == 1 else (f"{abs(slip.offset)} lines", "lines")
    earlier, later = (target, source) if slip.offset < 0 else (source, target)
    direction = "before" if slip.offset < 0 else "after"
    return (
        f"{where} of {source} seem to belong to the {target} {abs(slip.offset)} {step} {direction}: {lines} may be "
        f"missing in {earlier}, or too many in {later}, near line {slip.first}."
    )
