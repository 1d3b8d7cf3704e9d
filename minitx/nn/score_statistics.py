"""What scores and weights look like: the chain that §3.2.1 suspects, link by link.

"We suspect that for large values of d_k, the dot products grow large in magnitude, pushing the softmax function into
regions where it has extremely small gradients" (§3.2.1). How large the scores are, how far the softmax is saturated,
and what is left of its gradient: that is the Jacobian of weights p by scores, diag(p) - ppᵀ.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

SATURATED = 0.99
"""A row whose largest weight is above this counts as saturated."""

STATISTICS = ("std", "row_std", "max", "entropy", "saturated", "jacobian_trace", "jacobian_bound")


def counted_rows(
    scores: Float[Tensor, "batch heads query key"],
    mask: Bool[Tensor, "#batch #heads #query #key"] | None,
    real: Bool[Tensor, "batch query"] | None = None,
) -> Bool[Tensor, "batch heads query"]:
    """The rows that statistics are taken over: real queries with at least two keys that they may attend to.

    Padding has no meaning, and with a single key the weight is 1 whatever the score.

    Args:
        scores: for their shape.
        mask: True = may attend; None: every query may attend to every key.
        real: which queries are no padding; None: all.
    """
    enough = _attendable(scores, mask).sum(dim=-1) >= 2
    return enough if real is None else enough & real[:, None, :]


def score_statistics(
    scores: Float[Tensor, "batch heads query key"],
    weights: Float[Tensor, "batch heads query key"],
    mask: Bool[Tensor, "#batch #heads #query #key"] | None,
    real: Bool[Tensor, "batch query"] | None = None,
) -> dict[str, Float[Tensor, " heads"]]:
    """The statistics of each head over its `counted_rows`, by the names in `STATISTICS`; NaN where no row counts.

    * `std`: standard deviation of the scores of all attendable pairs together.
    * `row_std`: the same within a row, root mean square over rows. What a row's scores have in common is no concern of
      the softmax; it is in `std` and not in here.
    * `max`: largest absolute score of an attendable pair.
    * `entropy`: of the weights, divided by the logarithm of the number of attendable keys; 1: even, 0: all on one key.
    * `saturated`: share of rows whose largest weight is above 0.99.
    * `jacobian_trace`: trace of diag(p) - ppᵀ, which is 1 - Σp².
    * `jacobian_bound`: 2 · max p(1 - p), which no eigenvalue of diag(p) - ppᵀ exceeds, since none exceeds the largest
      sum of absolute values in a row. The largest eigenvalue is at least half of it, the largest element of the
      diagonal, so that the bound stands for it.

    The last four are means over rows. Half precision is taken in single precision.

    Args:
        scores: as a compatibility function makes them, not yet masked.
        weights: their softmax; zero where `mask` forbids.
        mask: True = may attend; None: every query may attend to every key.
        real: which queries are no padding; None: all.
    """
    wide = torch.promote_types(scores.dtype, torch.float32)
    scores, weights = scores.to(wide), weights.to(wide)
    rows = counted_rows(scores, mask, real)
    attendable = _attendable(scores, mask)
    keys = attendable.sum(dim=-1).clamp_min(2)

    def mean(figure: Float[Tensor, "batch heads query"]) -> Float[Tensor, " heads"]:
        return figure.where(rows, 0.0).sum(dim=(0, 2)) / rows.sum(dim=(0, 2))

    return _score_sizes(scores, attendable & rows[..., None]) | {
        "entropy": mean(torch.special.entr(weights).sum(dim=-1) / keys.to(wide).log()),
        "saturated": mean((weights.amax(dim=-1) > SATURATED).to(wide)),
        "jacobian_trace": mean(1 - weights.square().sum(dim=-1)),
        "jacobian_bound": mean(2 * (weights * (1 - weights)).amax(dim=-1)),
    }


def largest_scores(
    scores: Float[Tensor, "batch heads query key"],
    mask: Bool[Tensor, "#batch #heads #query #key"] | None,
    real: Bool[Tensor, "batch query"] | None = None,
) -> Float[Tensor, " heads"]:
    """The largest absolute score of each head over attendable pairs of real queries; NaN if one of them is NaN."""
    pairs = _attendable(scores, mask)
    pairs = pairs if real is None else pairs & real[:, None, :, None]
    return scores.abs().where(pairs, 0.0).amax(dim=(0, 2, 3))


def _score_sizes(
    scores: Float[Tensor, "batch heads query key"], pairs: Bool[Tensor, "batch heads query key"]
) -> dict[str, Float[Tensor, " heads"]]:
    """`std`, `row_std` and `max` over `pairs`, whose rows hold two each or none."""

    def sums(figure: Tensor, dims: tuple[int, ...]) -> Tensor:
        return figure.where(pairs, 0.0).sum(dim=dims, keepdim=True)

    every, row = (0, 2, 3), (3,)
    number, keys = pairs.sum(dim=every, keepdim=True), pairs.sum(dim=row, keepdim=True)
    variance = sums((scores - sums(scores, every) / number).square(), every) / number
    # Divided by one less than the number of keys, which makes it unbiased: rows are short.
    row_variance = sums((scores - sums(scores, row) / keys).square(), row) / (keys - 1)
    counted = keys >= 2
    row_variance = row_variance.where(counted, 0.0).sum(dim=every) / counted.sum(dim=every)
    largest = scores.abs().where(pairs, 0.0).amax(dim=every)
    return {
        "std": variance.sqrt().flatten(),
        "row_std": row_variance.sqrt(),
        "max": largest.where(number.flatten() > 0, torch.nan),
    }


def _attendable(
    scores: Float[Tensor, "batch heads query key"], mask: Bool[Tensor, "#batch #heads #query #key"] | None
) -> Bool[Tensor, "batch heads query key"]:
    return torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
