"""What a compatibility function makes of queries and keys, down to the gradient that comes back to the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from minitx.nn.attention import MaskedSoftmax
from minitx.nn.score_statistics import counted_rows, score_statistics

Factory = Callable[..., nn.Module]

MEANS = ("entropy", "saturated", "jacobian_trace", "jacobian_bound")


@dataclass(frozen=True)
class Attended:
    """Scores of queries against keys and what follows from them.

    Attributes:
        scores, weights: before and after the softmax, [batch, heads, query, key].
        gradient: mean square of the components of the gradient at each query, [batch, heads, query].
    """

    scores: Tensor
    weights: Tensor
    gradient: Tensor


def attend(
    compatibility: Callable[[Tensor, Tensor], Tensor], query: Tensor, key: Tensor, mask: Tensor | None, upstream: Tensor
) -> Attended:
    """One forward pass from queries and keys to weights, and the gradient of the queries back from them.

    Args:
        compatibility: makes the scores.
        query, key: [batch, heads, query, d_k] and [batch, heads, key, d_k].
        mask: True = may attend; None: everything.
        upstream: the gradient of the weights, of the shape of the scores.
    """
    with torch.enable_grad():
        query = query.detach().requires_grad_()
        scores = compatibility(query, key.detach())
        weights = MaskedSoftmax()(scores, mask)
        [gradient] = torch.autograd.grad(weights, query, upstream)
    return Attended(scores.detach(), weights.detach(), gradient.square().mean(dim=-1))


def figures(attended: Attended, mask: Tensor | None = None, real: Tensor | None = None) -> dict[str, float]:
    """The statistics of `minitx.nn.score_statistics`, means over heads, with variances in place of deviations.

    Beside them `query_gradient`, the root mean square of the gradient's components at the queries, and
    `query_gradient_median`, that of the row in the middle: few rows with much gradient can hide many without any.

    Args:
        attended: what was measured.
        mask, real: which pairs count, as in `score_statistics`.
    """
    found = score_statistics(attended.scores, attended.weights, mask, real)
    rows = attended.gradient[counted_rows(attended.scores, mask, real)]
    return {
        "variance": float(found["std"].square().mean()),
        "row_variance": float(found["row_std"].square().mean()),
        "max": float(found["max"].max()),
        **{name: float(found[name].mean()) for name in MEANS},
        "query_gradient": float(rows.mean().sqrt()),
        "query_gradient_median": float(rows.sqrt().median()),
        "rows": len(rows),
    }
