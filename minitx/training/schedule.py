"""Learning rates in closed form: a number for step k = 1, 2, …, the k-th update of the weights.

Nothing is carried from step to step, so accumulation and resuming cannot shift a schedule.
"""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from minitx.errors import UserError


@runtime_checkable
class Schedule(Protocol):
    """What fills the slot."""

    def __call__(self, step: int) -> float:
        """The learning rate of update `step`, counted from 1."""


@dataclass(frozen=True)
class InverseSqrt:
    """Linear warm-up, then proportional to 1/√step: Eq. 3.

    Attributes:
        peak_learning_rate: the largest rate, reached at `warmup_steps`; None: the paper's 1/√(d_model · warmup_steps).
        warmup_steps: updates until then.
        d_model: the model's width, for the paper's peak.
    """

    peak_learning_rate: float | None
    warmup_steps: int
    d_model: int

    def __post_init__(self) -> None:
        _check(self.peak_learning_rate, self.warmup_steps)

    def __call__(self, step: int) -> float:
        warmup = max(1, self.warmup_steps)
        peak = self.peak_learning_rate or 1.0 / math.sqrt(self.d_model * warmup)
        return peak * min(step / warmup, math.sqrt(warmup / step))


@dataclass(frozen=True)
class Cosine:
    """Linear warm-up to the peak, then half a cosine down to `final_learning_rate` at `max_steps`."""

    peak_learning_rate: float
    warmup_steps: int
    max_steps: int | None
    final_learning_rate: float = 0.0

    def __post_init__(self) -> None:
        if self.max_steps is None:
            raise UserError("schedule=cosine must know where it ends: give training.max_steps.")
        _check(self.peak_learning_rate, self.warmup_steps)

    def __call__(self, step: int) -> float:
        if step <= self.warmup_steps:
            return self.peak_learning_rate * step / self.warmup_steps
        done = min(1.0, (step - self.warmup_steps) / max(1, self.max_steps - self.warmup_steps))
        height = (1.0 + math.cos(math.pi * done)) / 2.0
        return self.final_learning_rate + (self.peak_learning_rate - self.final_learning_rate) * height


@dataclass(frozen=True)
class Constant:
    """Linear warm-up, then one learning rate."""

    peak_learning_rate: float
    warmup_steps: int = 0

    def __post_init__(self) -> None:
        _check(self.peak_learning_rate, self.warmup_steps)

    def __call__(self, step: int) -> float:
        return self.peak_learning_rate * min(1.0, step / max(1, self.warmup_steps))


def _check(peak: float | None, warmup_steps: int) -> None:
    if peak is not None and peak <= 0:
        raise UserError(f"schedule.peak_learning_rate={peak}: it must be a positive number.")
    if warmup_steps < 0:
        raise UserError(f"schedule.warmup_steps={warmup_steps}: it must be 0 or more.")
