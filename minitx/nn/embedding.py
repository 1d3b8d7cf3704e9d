"""Tokens and positions to vectors (§3.4, §3.5)."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from minitx.nn.dropout import Dropout


def sinusoidal_positions(length: int, d_model: int) -> Float[Tensor, "length d_model"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(same), §3.5. `d_model` must be even."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    wavelength = 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position / wavelength
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


class Embedding(nn.Module):
    """Token embeddings times √d_model plus sinusoidal positions, then dropout (§3.4, §3.5, §5.4).

    One weight matrix serves source, target and, transposed, the pre-softmax linear map (§3.4): `logits`.
    """

    def __init__(self, vocab_size: int, d_model: int, max_length: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))
        self.scale = math.sqrt(d_model)
        self.dropout = Dropout(dropout)
        self.register_buffer("positions", sinusoidal_positions(max_length, d_model), persistent=False)
        self.positions: Tensor

    @property
    def max_length(self) -> int:
        """The number of positions there are."""
        return self.positions.shape[0]

    def forward(self, ids: Int[Tensor, "batch length"], first: int = 0) -> Float[Tensor, "batch length d_model"]:
        """Embed `ids`, which stand at the positions from `first` on.

        Raises:
            ValueError: if they reach beyond `max_length`.
        """
        last = first + ids.shape[1]
        if last > self.max_length:
            raise ValueError(f"a sequence of {last} tokens is longer than the model's max_length, {self.max_length}")
        tokens = nn.functional.embedding(ids, self.weight) * self.scale
        embedded: Tensor = self.dropout(tokens + self.positions[first:last])
        return embedded

    def logits(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """Score every word of the vocabulary: `hidden` times the transposed embedding matrix."""
        return nn.functional.linear(hidden, self.weight)
