"""Clocks: a training window that the runner's loop ticks, and passes over the test sentences."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence

MIN_WARM_UP_STEPS = 5
MAX_PASSES = 3


class WindowOver(Exception):
    """The measured part of the training window has ended; raised out of a system's own training loop."""


class Window:
    """Counts the tokens of training steps: some seconds of warm-up, then `seconds` that are measured.

    The clock runs from the end of the last step of the warm-up to the end of the last step measured, so whatever a
    system does between steps (loading, logging, its optimizer) is inside.

    Args:
        warm_up: seconds, and at least five steps, that do not count.
        seconds: least length of the measured part.
        clock: gives seconds.
    """

    def __init__(self, warm_up: float, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self.warm_up, self.seconds, self.clock = warm_up, seconds, clock
        self.tokens = self.steps = 0
        self.elapsed = 0.0
        self._first = self._start = None
        self._warm_up_steps = 0

    def step(self, tokens: int) -> None:
        """A step over `tokens` source and target ids that are not padding has just ended.

        Raises:
            WindowOver: the window has ended with it.
        """
        now = self.clock()
        if self._start is None:
            self._warm_up_steps += 1
            self._first = now if self._first is None else self._first
            if self._warm_up_steps >= MIN_WARM_UP_STEPS and now - self._first >= self.warm_up:
                self._start = now
                print(f"measuring after {self._warm_up_steps} steps of warm-up", file=sys.stderr, flush=True)
            return
        self.steps += 1
        self.tokens += int(tokens)
        self.elapsed = now - self._start
        if self.elapsed >= self.seconds:
            raise WindowOver

    def figures(self) -> dict[str, float]:
        """What was measured.

        Raises:
            RuntimeError: the system's loop ended before the window did.
        """
        if self.elapsed < self.seconds:
            raise RuntimeError(f"training ended after {self.elapsed:.0f} of {self.seconds:.0f} measured seconds")
        return {
            "tokens": self.tokens,
            "steps": self.steps,
            "seconds": round(self.elapsed, 3),
            "tokens_per_second": round(self.tokens / self.elapsed, 1),
        }


def timed_passes(
    translate: Callable[[], list[list[int]]], seconds: float, clock: Callable[[], float] = time.perf_counter
) -> tuple[list[list[int]], list[float]]:
    """Call `translate` until `seconds` have gone by, one to three times; its last result, and each call's seconds."""
    durations: list[float] = []
    while not durations or (sum(durations) < seconds and len(durations) < MAX_PASSES):
        start = clock()
        result = translate()
        durations.append(clock() - start)
    return result, durations


def in_batches(
    sources: Sequence[list[int]], size: int, translate: Callable[[list[list[int]]], list[list[int]]]
) -> list[list[int]]:
    """Translate batches of `size` sentences of like length, longest first; results stand in the order of `sources`."""
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    results: list[list[int]] = [[] for _ in sources]
    for first in range(0, len(order), size):
        rows = order[first : first + size]
        for row, found in zip(rows, translate([sources[row] for row in rows]), strict=True):
            results[row] = found
    return results


def sentences_per_second(sentences: int, durations: Sequence[float]) -> float:
    return round(sentences / statistics.median(durations), 2)
