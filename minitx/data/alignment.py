"""Where the two sides of parallel text seem to have slipped against each other.

A line lost on one side pairs every later sentence with a neighbour of its translation. No single pair proves that, but
translations resemble each other in length, share words (names, numbers, cognates) and end marks more often than
sentences that only stand near each other. How much more often is measured on the text itself; each pair then weighs
for or against each offset, and the course of offsets that explains the whole text best is found by dynamic
programming (Viterbi), in which every change of offset has to pay for itself.
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from minitx.data.sources import Pair

REACH = 3
OFFSETS = tuple(range(-REACH, REACH + 1))
"""Source line n is compared with target lines n - 3 … n + 3."""
UNRELATED = REACH + 5
"""Source line n and target line n + 8 are taken for unrelated sentences of the same text."""
BLOCK = 8
COST_OF_A_CHANGE = 15.0
LARGEST_WEIGHT = 4.0
SHORTEST_TEXT = 64
WORDS = re.compile(r"\d+|\w{4,}")


@dataclass(frozen=True)
class Slip:
    """Lines whose translation seems to stand elsewhere.

    Attributes:
        first, last: source lines, from 1.
        offset: target line n + offset belongs to source line n; None: no offset fits, the sides seem unrelated.
    """

    first: int
    last: int
    offset: int | None


class Evidence:
    """What there is to know of each pair, gathered line by line; `slips` draws the conclusion."""

    def __init__(self) -> None:
        self._lengths = array("f"), array("f")
        self._ends = array("i"), array("i")
        self._shared = {offset: array("b") for offset in (*OFFSETS, UNRELATED)}
        self._sources: deque[frozenset[str]] = deque(maxlen=UNRELATED + 1)
        self._targets: deque[frozenset[str]] = deque(maxlen=REACH + 1)

    def add(self, pair: Pair) -> None:
        """Take the next pair into account."""
        for side, text in enumerate((pair.source, pair.target)):
            text = text.strip()
            self._lengths[side].append(np.log1p(len(text)))
            self._ends[side].append(0 if not text or text[-1].isalnum() else ord(text[-1]))
        self._sources.append(frozenset(WORDS.findall(pair.source.lower())))
        self._targets.append(frozenset(WORDS.findall(pair.target.lower())))
        for offset, shared in self._shared.items():
            # At a positive offset this target line belongs to an earlier source line, at a negative one the reverse.
            earlier, now = (self._sources, self._targets) if offset >= 0 else (self._targets, self._sources)
            if abs(offset) < len(earlier):
                shared.append(not earlier[-1 - abs(offset)].isdisjoint(now[-1]))

    def slips(self) -> list[Slip]:
        """Stretches of lines that seem to be shifted or unrelated; none for fewer than 64 lines."""
        count = len(self._lengths[0])
        if count < SHORTEST_TEXT:
            return []
        weights = self._weights(count)
        states = _best_course(weights)
        changes = [0, *(np.flatnonzero(np.diff(states)) + 1).tolist(), count]
        return [
            Slip(start + 1, end, None if states[start] == len(OFFSETS) else OFFSETS[states[start]])
            for start, end in pairwise(changes)
            if start < end and states[start] != REACH
        ]

    def _weights(self, count: int) -> NDArray[np.floating]:
        """Log-likelihood ratio, translations against unrelated sentences, of each line at each offset; [count, 8].

        The last column stands for "unrelated" and is zero.
        """
        ratios = {offset: self._difference(offset, count) for offset in (*OFFSETS, UNRELATED)}
        closest = min(OFFSETS, key=lambda offset: (_spread(ratios[offset])[1], abs(offset)))
        near, far = _spread(ratios[closest]), _spread(ratios[UNRELATED])
        rates = [
            (agree, max(_rate(agree(offset, count)) for offset in OFFSETS), _rate(agree(UNRELATED, count)))
            for agree in (self._shares, self._same_end)
        ]
        weights = np.zeros((count, len(OFFSETS) + 1), dtype=np.float32)
        for column, offset in enumerate(OFFSETS):
            gain = _log_density(ratios[offset], *near) - _log_density(ratios[offset], *far)
            for agree, often, seldom in rates:
                gain = gain + _agreement(agree(offset, count), often, seldom)
            weights[:, column] = _spread_out(np.clip(gain, -LARGEST_WEIGHT, LARGEST_WEIGHT), offset, count)
        return weights

    def _difference(self, offset: int, count: int) -> NDArray[np.floating]:
        source, target = _overlap(offset, count)
        lengths = [np.frombuffer(side, dtype=np.float32) for side in self._lengths]
        difference: NDArray[np.floating] = lengths[0][source] - lengths[1][target]
        return difference

    def _same_end(self, offset: int, count: int) -> NDArray[np.bool_]:
        source, target = _overlap(offset, count)
        ends = [np.frombuffer(side, dtype=np.int32) for side in self._ends]
        same: NDArray[np.bool_] = ends[0][source] == ends[1][target]
        return same

    def _shares(self, offset: int, count: int) -> NDArray[np.bool_]:
        return np.frombuffer(self._shared[offset], dtype=np.bool_)


def _overlap(offset: int, count: int) -> tuple[slice, slice]:
    """Source lines that have a target line at ``offset``, and those target lines."""
    return slice(max(0, -offset), count - max(0, offset)), slice(max(0, offset), count - max(0, -offset))


def _spread_out(values: NDArray[np.floating], offset: int, count: int) -> NDArray[np.floating]:
    """``values`` at the source lines they belong to; zero where the offset leads out of the text."""
    placed = np.zeros(count, dtype=np.float32)
    placed[_overlap(offset, count)[0]] = values
    return placed


def _spread(values: NDArray[np.floating]) -> tuple[float, float]:
    """Median, and standard deviation as the median deviation tells it, so that outliers do not."""
    middle = float(np.median(values))
    return middle, max(0.05, 1.4826 * float(np.median(np.abs(values - middle))))


def _log_density(values: NDArray[np.floating], mean: float, deviation: float) -> NDArray[np.floating]:
    density: NDArray[np.floating] = -0.5 * ((values - mean) / deviation) ** 2 - np.log(deviation)
    return density


def _rate(agrees: NDArray[np.bool_]) -> float:
    return (float(agrees.sum()) + 1) / (len(agrees) + 2)


def _agreement(agrees: NDArray[np.bool_], translations: float, unrelated: float) -> NDArray[np.floating]:
    """The weight of agreeing or not, from how often translations and unrelated sentences agree."""
    for_it, against_it = np.log(translations / unrelated), np.log((1 - translations) / (1 - unrelated))
    weight: NDArray[np.floating] = against_it + (for_it - against_it) * agrees
    return weight


def _best_course(weights: NDArray[np.floating]) -> NDArray[np.int64]:
    """The state of each line, column of ``weights``, with the largest sum less the cost of changes."""
    count, num_states = weights.shape
    starts = np.arange(0, count, BLOCK)
    gains = np.add.reduceat(weights, starts, axis=0)
    best = np.where(np.arange(num_states) == REACH, 0.0, -COST_OF_A_CHANGE)
    came_from = np.empty(gains.shape, dtype=np.int8)
    for block, gain in enumerate(gains):
        leader = int(best.argmax())
        stay = best >= best[leader] - COST_OF_A_CHANGE
        came_from[block] = np.where(stay, np.arange(num_states), leader)
        best = np.where(stay, best, best[leader] - COST_OF_A_CHANGE) + gain
    course = np.empty(len(starts), dtype=np.int64)
    state = int(best.argmax())
    for block in range(len(starts) - 1, -1, -1):
        course[block] = state
        state = int(came_from[block, state])
    states = np.repeat(course, BLOCK)[:count]
    for change in np.flatnonzero(np.diff(course)) + 1:
        _place_change(states, weights, int(change) * BLOCK)
    return states


def _place_change(states: NDArray[np.int64], weights: NDArray[np.floating], middle: int) -> None:
    """Move a change of state from a block's edge to the line near it where it fits best."""
    before, after = states[middle - 1], states[middle]
    first, last = max(0, middle - BLOCK), min(len(states), middle + BLOCK)
    gain = np.cumsum(weights[first:last, before] - weights[first:last, after])
    change = first + int(np.argmax([0.0, *gain]))
    states[first:change], states[change:last] = before, after
