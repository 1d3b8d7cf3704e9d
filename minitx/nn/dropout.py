"""Dropout (§5.4) whose masks are cheap on a CPU."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Dropout(nn.Module):
    """Sets each element to zero with probability p while training, and divides the others by 1 - p.

    On a CPU a mask takes a random byte an element, eight of them from one draw of PyTorch's generator, where
    `nn.Dropout` draws for each element: masks were a good part of a training step. A byte is compared with p · 256
    rounded to a whole number, so p is met to 1/512 (0.1 becomes 26/256) and the scale is that of the p in effect.
    Elsewhere than on a CPU this is `nn.Dropout`. The random state is PyTorch's own: seeded and saved like any other.
    """

    def __init__(self, p: float = 0.0) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"dropout {p} is not a probability")
        self.p = p
        self.dropped_bytes = 0 if p == 0.0 else min(255, max(1, round(p * 256)))

    def extra_repr(self) -> str:
        return f"p={self.p}"

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Drop elements of `x`, or pass it on as it is in evaluation mode."""
        if not self.training or self.p == 0.0:
            return x
        if x.device.type != "cpu" or self.p == 1.0:
            return nn.functional.dropout(x, self.p)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.dropped_bytes
        return x * kept.to(x.dtype).mul_(256 / (256 - self.dropped_bytes))
