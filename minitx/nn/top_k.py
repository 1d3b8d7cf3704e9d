"""The largest of many numbers a row, found in two stages."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


class TopK(NamedTuple):
    """The k largest numbers of each row, largest first, and their places."""

    values: Float[Tensor, "rows k"]
    indices: Int[Tensor, "rows k"]


def top_k(x: Float[Tensor, "rows n"], k: int) -> TopK:
    """As `torch.topk(x, k)`, several times faster where n is a vocabulary.

    The row is cut into about √n blocks. A number among the k largest lies in one of the k blocks with the largest
    maxima, or in what is left over behind the last whole block; only those are looked at number by number. Which of
    several equal numbers at the k-th place is taken is not specified, as with `torch.topk`.
    """
    rows, n = x.shape
    block = math.isqrt(n)
    blocks = n // block if block else 0
    if k >= blocks:
        return TopK(*x.topk(k, dim=1))
    whole = x[:, : blocks * block].reshape(rows, blocks, block)
    chosen = whole.amax(dim=2).topk(k, dim=1).indices  # rows, k
    places = (chosen[:, :, None] * block + torch.arange(block, device=x.device)).flatten(1)
    rest = torch.arange(blocks * block, n, device=x.device).expand(rows, -1)
    places = torch.cat([places, rest], dim=1)
    values, among = x.gather(1, places).topk(k, dim=1)
    return TopK(values, places.gather(1, among))
