"""Seconds, on a processor or on a GPU: medians with their quartiles."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch


class Spread(NamedTuple):
    """The middle of some samples: median and quartiles, and how many samples there were."""

    median: float
    lower: float
    upper: float
    samples: int

    def named(self, name: str) -> dict[str, float]:
        """`name`, `name_lower` and `name_upper`, for a record."""
        return {name: self.median, f"{name}_lower": self.lower, f"{name}_upper": self.upper}


def spread(samples: Sequence[float]) -> Spread:
    """Median and quartiles of at least one sample."""
    lower, median, upper = np.percentile(samples, [25, 50, 75])
    return Spread(float(median), float(lower), float(upper), len(samples))


@runtime_checkable
class Clock(Protocol):
    """Notes moments between pieces of work; reading it waits until the work is done."""

    def mark(self) -> None:
        """Note this moment."""

    def laps(self) -> list[float]:
        """Seconds between successive marks; the marks are forgotten."""


class ProcessorClock:
    """For work that is done when its call returns."""

    def __init__(self) -> None:
        self._marks: list[float] = []

    def mark(self) -> None:
        """Note this moment."""
        self._marks.append(time.perf_counter())

    def laps(self) -> list[float]:
        """Seconds between successive marks."""
        marks, self._marks = self._marks, []
        return [later - earlier for earlier, later in pairwise(marks)]


class CudaClock:
    """For work that is queued on a GPU: events in its stream, so that measuring does not make the work wait."""

    def __init__(self) -> None:
        self._events: list[torch.cuda.Event] = []

    def mark(self) -> None:
        """Put an event behind what is queued so far."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self._events.append(event)

    def laps(self) -> list[float]:
        """Seconds between successive events."""
        torch.cuda.synchronize()
        events, self._events = self._events, []
        return [earlier.elapsed_time(later) / 1000 for earlier, later in pairwise(events)]


def make_clock(device: torch.device) -> Clock:
    """The clock for work on a device."""
    return CudaClock() if device.type == "cuda" else ProcessorClock()
