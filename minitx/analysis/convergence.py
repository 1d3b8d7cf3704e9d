"""How fast one run's validation loss falls, and how soon an arm's runs reach a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Curve = Float[np.ndarray, " points"]


def time_to_target(measure: Curve, loss: Curve, target: int | float) -> float | None:
    """When a loss first is at or below a target, between two validations by a straight line.

    The first crossing counts: a loss that rises again afterwards has still reached the target.

    Args:
        measure: steps, tokens, seconds or FLOPs at each validation, ascending.
        loss: the loss there.
        target: the loss to reach.

    Returns:
        The crossing in the unit of `measure`; the first validation if the target is reached there already, which then
        is an upper bound; None if it is never reached.
    """
    reached = np.flatnonzero(loss <= target)
    if not len(reached):
        return None
    after = int(reached[0])
    if after == 0:
        return float(measure[0])
    before = after - 1
    share = (loss[before] - target) / (loss[before] - loss[after])
    return float(measure[before] + share * (measure[after] - measure[before]))


def mean_loss(steps: Curve, loss: Curve, first: int | float, last: int | float) -> float | None:
    """The area under a curve of straight lines between `first` and `last`, divided by their distance.

    Returns:
        The area in units of loss; None for a curve that does not cover the interval, or an interval without length.
    """
    if not len(steps) or steps[0] > first or steps[-1] < last or last <= first:
        return None
    inside = steps[(steps > first) & (steps < last)]
    points = np.concatenate([[first], inside, [last]])
    return float(np.trapezoid(np.interp(points, steps, loss), points) / (last - first))


class Followed(NamedTuple):
    """How long a run was followed.

    Attributes:
        time: when it reached the target, or how far it got without.
        reached: whether it did.
    """

    time: float
    reached: bool


def median_time(runs: Sequence[Followed]) -> float | None:
    """The Kaplan-Meier median: the first time by which half of the runs, or more, are estimated to have reached.

    A run that broke off without reaching the target counts as not having reached it for as long as it was followed.

    Returns:
        None if the estimate stays below a half.
    """
    reached = [run.time for run in runs if run.reached]
    if not reached:
        return None
    from scipy.stats import CensoredData, ecdf

    censored = [run.time for run in runs if not run.reached]
    survival = ecdf(CensoredData(uncensored=reached, right=censored)).sf
    half = np.flatnonzero(survival.probabilities <= 0.5 + 1e-12)
    return float(survival.quantiles[half[0]]) if len(half) else None
