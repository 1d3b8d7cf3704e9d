"""The additive score in plain PyTorch, a few queries at a time: for every device and precision.

What a chunk of queries needs is computed, used and thrown away, in the forward pass and again in the backward pass.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

HELD = 2**22
"""Numbers tanh(q + k) that are in memory at once, about: 16 MB in single precision."""


def score(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    v: Float[Tensor, "heads d_k"],
) -> Float[Tensor, "batch heads query key"]:
    """s_ij = Σ_d v_d tanh(q_id + k_jd)."""
    scores = query.new_empty(*query.shape[:3], key.shape[2])
    for rows in _chunks(query, key):
        hidden = torch.add(query[:, :, rows].unsqueeze(-2), key.unsqueeze(-3)).tanh_()
        scores[:, :, rows] = (hidden @ v[:, None, :, None]).squeeze(-1)
    return scores


def gradients(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    v: Float[Tensor, "heads d_k"],
    grad_score: Float[Tensor, "batch heads query key"],
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of query, key and v, from that of the score.

    tanh' = 1 / cosh², which keeps its digits where tanh is so near 1 that 1 - tanh² has lost them.
    """
    grad_query, grad_key, grad_v = torch.empty_like(query), torch.zeros_like(key), torch.zeros_like(v)
    for rows in _chunks(query, key):
        x = torch.add(query[:, :, rows].unsqueeze(-2), key.unsqueeze(-3))
        slope = grad_score[:, :, rows, :, None]
        grad_v += (slope * x.tanh()).sum(dim=(0, 2, 3))
        to_both = x.cosh_().pow_(-2).mul_(slope)
        grad_query[:, :, rows] = to_both.sum(dim=3)
        grad_key += to_both.sum(dim=2)
    return grad_query.mul_(v[:, None]), grad_key.mul_(v[:, None]), grad_v


def _chunks(query: Tensor, key: Tensor) -> Iterator[slice]:
    batch, heads, queries, d_k = query.shape
    rows = max(1, HELD // max(1, batch * heads * key.shape[2] * d_k))
    return (slice(first, first + rows) for first in range(0, queries, rows))
