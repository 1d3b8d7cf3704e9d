"""What there is to know of one split of parallel text, from one pass over it."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minitx.data.alignment import Evidence, Slip
from minitx.data.characters import Characters
from minitx.data.sources import Pair
from minitx.errors import UserError

PERCENTILES = (0, 1, 5, 25, 50, 75, 95, 99, 100)
NUMBERS = re.compile(r"\d+")
EXAMPLES = 5
OUTLYING = 5.0
"""Standard deviations from the usual ratio of lengths beyond which a pair is suspect."""


@dataclass
class Side:
    """One side of a split.

    Attributes:
        blank: lines that hold nothing but white space.
        edge_blanks: other lines that begin or end with white space.
        characters: what is odd about its characters.
        words, lengths: words and characters of each line.
        hashes: of each line, without white space at its edges.
    """

    blank: int = 0
    edge_blanks: int = 0
    characters: Characters = field(default_factory=Characters)
    words: array[int] = field(default_factory=lambda: array("i"))
    lengths: array[int] = field(default_factory=lambda: array("i"))
    hashes: array[int] = field(default_factory=lambda: array("q"))

    def add(self, text: str, line: int) -> None:
        """Take a sentence into account."""
        stripped = text.strip()
        self.blank += not stripped
        self.edge_blanks += stripped != text and bool(stripped)
        self.characters.add(text, line)
        self.words.append(len(stripped.split()))
        self.lengths.append(len(stripped))
        self.hashes.append(hash(stripped))


class Survey:
    """A split, read once.

    Attributes:
        name: of the split.
        source, target: its sides.
        num_pairs: lines read on both sides.
        blank: pairs with a blank side.
        copies: pairs whose sides are the same text.
        numbers_differ: pairs whose digits differ, with the lines of the first few.
        fault: what ended the reading early, if anything did.
    """

    def __init__(self, name: str, pairs: Iterable[Pair]) -> None:
        self.name = name
        self.source, self.target = Side(), Side()
        self.num_pairs = self.blank = self.copies = self.numbers_differ = 0
        self.numbers_differ_lines: list[int] = []
        self.fault: str | None = None
        self._lines = array("q")
        self._evidence = Evidence()
        try:
            for pair in pairs:
                self._add(pair)
        except UserError as error:
            self.fault = str(error)

    def _add(self, pair: Pair) -> None:
        self.num_pairs += 1
        self._lines.append(pair.line)
        self.source.add(pair.source, pair.line)
        self.target.add(pair.target, pair.line)
        self._evidence.add(pair)
        source, target = pair.source.strip(), pair.target.strip()
        self.blank += not (source and target)
        self.copies += source == target and bool(source)
        if source and target and Counter(NUMBERS.findall(source)) != Counter(NUMBERS.findall(target)):
            self.numbers_differ += 1
            self.numbers_differ_lines.extend([pair.line][: EXAMPLES - len(self.numbers_differ_lines)])

    def hashes(self) -> dict[str, NDArray[np.int64]]:
        """A hash of each pair, source and target, equal for equal text in one process."""
        source, target = (np.frombuffer(side.hashes, dtype=np.int64) for side in (self.source, self.target))
        return {"pairs": source * np.int64(1_000_003) ^ target, "sources": source, "targets": target}

    def duplicates(self) -> dict[str, int]:
        """How many pairs, sources and targets repeat an earlier one."""
        return {name: len(values) - len(np.unique(values)) for name, values in self.hashes().items()}

    def overlap(self, other: Survey) -> dict[str, int]:
        """How many pairs, sources and targets of this split are in ``other`` too."""
        others = other.hashes()
        return {name: int(np.isin(mine, others[name]).sum()) for name, mine in self.hashes().items()}

    def unusual_ratios(self) -> list[int]:
        """Lines whose sides differ in length far more than others of the split, the most unusual first."""
        lengths = [np.frombuffer(side.lengths, dtype=np.int32) for side in (self.source, self.target)]
        if self.num_pairs < 20:
            return []
        # Lengths of few characters vary a lot by chance: the deviation of a ratio falls with the square root of length.
        ratios = np.log1p(lengths[0]) - np.log1p(lengths[1])
        surprise = (ratios - np.median(ratios)) * np.sqrt((lengths[0] + lengths[1]) / 2)
        deviation = max(0.5, 1.4826 * float(np.median(np.abs(surprise))))
        surprise = np.where((lengths[0] > 0) & (lengths[1] > 0), np.abs(surprise), 0)
        order = np.argsort(-surprise, kind="stable")[: int((surprise > OUTLYING * deviation).sum())]
        return [self._lines[row] for row in order]

    def slips(self) -> list[Slip]:
        """Stretches that seem to be shifted or unrelated, by line; see `Evidence`."""
        return [
            Slip(self._lines[slip.first - 1], self._lines[slip.last - 1], slip.offset)
            for slip in self._evidence.slips()
        ]

    def as_data(self) -> dict[str, Any]:
        """All of it as plain data, for JSON."""
        ratios = self.unusual_ratios()
        return {
            "pairs": self.num_pairs,
            "fault": self.fault,
            "blank_pairs": self.blank,
            "copies": self.copies,
            "duplicates": self.duplicates(),
            "source": side_as_data(self.source),
            "target": side_as_data(self.target),
            "unusual_length_ratio": {"count": len(ratios), "lines": ratios[:EXAMPLES]},
            "numbers_differ": {"count": self.numbers_differ, "lines": self.numbers_differ_lines},
            "slips": [{"first": slip.first, "last": slip.last, "offset": slip.offset} for slip in self.slips()],
        }


def side_as_data(side: Side) -> dict[str, Any]:
    """One side as plain data, for JSON; percentiles are of words and of characters in a sentence."""
    return {
        "blank": side.blank,
        "edge_blanks": side.edge_blanks,
        "words": sum(side.words),
        "word_percentiles": _percentiles(side.words),
        "character_percentiles": _percentiles(side.lengths),
        "odd_characters": side.characters.by_code_point(),
        "not_nfc": side.characters.not_nfc,
        "traces": dict(side.characters.traces),
    }


def _percentiles(lengths: array[int]) -> dict[str, int]:
    if not lengths:
        return {}
    values = np.percentile(np.frombuffer(lengths, dtype=np.int32), PERCENTILES, method="nearest")
    return {str(percentile): int(value) for percentile, value in zip(PERCENTILES, values, strict=True)}
