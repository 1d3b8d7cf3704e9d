"""Who may attend to whom. One convention, decided here: True = may attend.

A mask broadcasts to scores of shape [batch, heads, query, key]; masks combine with `&`.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def padding_mask(ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch 1 1 key"]:
    """Every query may attend to the keys that are not padding."""
    return (ids != pad_id)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 query key"]:
    """Position i may attend to the positions up to i: the decoder stays auto-regressive (§3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]
