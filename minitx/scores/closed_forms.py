"""What the variance of a score is when queries and keys have independent standard normal components."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Variances(NamedTuple):
    """Variance of a score over all pairs, and within the row of one query."""

    whole: float
    row: float


def expected_variances(target: str, d_k: int) -> Variances | None:
    """The closed form of one of minitx's own compatibility functions as it starts out; None for any other.

    Footnote 4: q·k = Σ q_i k_i has mean 0 and variance d_k. Given the query its variance is |q|², d_k in the mean.

    Args:
        target: the dotted path of its class.
    """
    module, _, name = target.rpartition(".")
    closed_form = CLOSED_FORMS.get(name) if module == "minitx.nn.compatibility" else None
    return closed_form(d_k) if closed_form else None


def _equal(variance: float) -> Variances:
    return Variances(variance, variance)


@functools.cache
def _additive(d_k: int) -> Variances:
    """Of vᵀ tanh(q + k): E|v|² = 1 times the variance of tanh(q_i + k_i), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    tanh = np.tanh(nodes[:, None] + nodes[None, :])  # q_i, k_i
    whole = weights @ tanh**2 @ weights
    of_query = weights @ (tanh @ weights) ** 2  # what all scores of a row have in common
    return Variances(float(whole), float(whole - of_query))


CLOSED_FORMS: dict[str, Callable[[int], Variances]] = {
    "ScaledDotProduct": lambda d_k: _equal(1.0),
    "UnscaledDotProduct": lambda d_k: _equal(float(d_k)),
    "InverseDk": lambda d_k: _equal(1 / d_k),
    "Bilinear": lambda d_k: _equal(1.0),
    "Cosine": lambda d_k: _equal(1.0),
    "Additive": _additive,
    "AdditiveReference": _additive,
}
