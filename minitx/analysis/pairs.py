"""Spread over seeds, and differences between variants paired by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
FEWEST_PAIRS = 3


class Interval(NamedTuple):
    """A mean with its spread.

    Attributes:
        number: how many values.
        mean: their mean.
        deviation: their standard deviation (n - 1); NaN for one value.
        low, high: the 95 % t interval of the mean; NaN for one value.
    """

    number: int
    mean: float
    deviation: float
    low: float
    high: float

    @property
    def tells(self) -> bool:
        """Whether there are three values or more and the interval leaves zero out."""
        return self.number >= FEWEST_PAIRS and (self.low > 0 or self.high < 0)


def interval(values: Sequence[float]) -> Interval:
    """The mean of finite values, with the t interval of normal errors."""
    count = len(values)
    if count == 0:
        return Interval(0, *[math.nan] * 4)
    mean = float(np.mean(values))
    if count == 1:
        return Interval(1, mean, math.nan, math.nan, math.nan)
    from scipy.stats import t

    deviation = float(np.std(values, ddof=1))
    half = float(t.ppf(0.5 + CONFIDENCE / 2, count - 1)) * deviation / math.sqrt(count)
    return Interval(count, mean, deviation, mean - half, mean + half)


def paired_differences(own: Mapping[int, float], reference: Mapping[int, float]) -> dict[int, float]:
    """own - reference at each seed where both are finite, in the order of seeds."""
    shared = sorted(own.keys() & reference.keys())
    differences = {seed: own[seed] - reference[seed] for seed in shared}
    return {seed: value for seed, value in differences.items() if math.isfinite(value)}
