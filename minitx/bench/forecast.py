"""How long a case will take and how much memory it will hold, told from shorter ones before it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

PILOT_LENGTHS = (8, 32, 128)
LONG = 1.0
"""Seconds that a pilot may be expected to take."""
SHARE = 0.8
"""Of the memory that is free, how much a case may be expected to need."""


class Cost(NamedTuple):
    """Of one forward and backward pass."""

    seconds: float
    bytes: int | float


class Forecast:
    """The cost of one series at one d_k as a function of the length, b·n + c·n² through the longest lengths known.

    Nothing is assumed of the series but that it grows no faster than the square of its length, as Eq. 1 does.
    """

    def __init__(self) -> None:
        self.known: dict[int, Cost] = {}

    def learn(self, length: int, cost: Cost) -> None:
        """A length was measured."""
        self.known[length] = cost

    def at(self, length: int) -> Cost:
        """What to expect at a length. At least one must be known."""
        if length in self.known:
            return self.known[length]
        nearest = sorted(self.known)[-2:]
        return Cost(*(_extend(nearest, [self.known[n][i] for n in nearest], length) for i in range(2)))

    def run_pilots(self, lengths: Iterable[int], run: Callable[[int], Cost], may_take: int | float) -> None:
        """Learn from short lengths, as long as they are quick and fit into `may_take` bytes."""
        for length in lengths:
            if self.known and (self.at(length).seconds > LONG or self.at(length).bytes > may_take):
                return
            self.learn(length, run(length))


def _extend(lengths: list[int], costs: list[int | float], length: int) -> int | float:
    last, cost = lengths[-1], costs[-1]
    square = cost * (length / last) ** 2
    if len(lengths) == 1 or length < last:
        return square
    slopes = [y / n for y, n in zip(costs, lengths, strict=True)]
    c = max(0.0, (slopes[1] - slopes[0]) / (lengths[1] - lengths[0]))
    b = max(0.0, slopes[1] - c * last)
    return min(square, b * length + c * length**2)
