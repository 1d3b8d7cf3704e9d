"""Encoder and decoder layers and their stacks (§3.1)."""

from collections.abc import Iterable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from minitx.nn.attention import KeysValues, MultiHeadAttention


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each with a residual connection of its own.

    Args:
        self_attention: the encoder's self-attention.
        feed_forward: the position-wise network.
        residuals: two residual connections (`PostNorm` or `PreNorm`), in the order of the sub-layers.
    """

    def __init__(self, self_attention: MultiHeadAttention, feed_forward: nn.Module, residuals: Iterable[nn.Module]):
        super().__init__()
        self.self_attention = self_attention
        self.feed_forward = feed_forward
        self.residuals = nn.ModuleList(residuals)

    def forward(
        self, x: Float[Tensor, "batch source d_model"], source_mask: Bool[Tensor, "batch 1 1 source"]
    ) -> Float[Tensor, "batch source d_model"]:
        """One layer of the encoder."""
        x = self.residuals[0](x, lambda y: self.self_attention(y, y, source_mask))
        output: Tensor = self.residuals[1](x, self.feed_forward)
        return output


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's output ("cross"), then a feed-forward network.

    Args:
        self_attention: the decoder's self-attention.
        cross_attention: queries from the decoder, keys and values from the encoder's output (§3.2.3).
        feed_forward: the position-wise network.
        residuals: three residual connections (`PostNorm` or `PreNorm`), in the order of the sub-layers.
    """

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        residuals: Iterable[nn.Module],
    ):
        super().__init__()
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.residuals = nn.ModuleList(residuals)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        target_mask: Bool[Tensor, "#batch 1 target target"],
        source_mask: Bool[Tensor, "batch 1 1 source"],
    ) -> Float[Tensor, "batch target d_model"]:
        """One layer of the decoder, all positions at once."""
        x = self.residuals[0](x, lambda y: self.self_attention(y, y, target_mask))
        x = self.residuals[1](x, lambda y: self.cross_attention(y, memory, source_mask))
        output: Tensor = self.residuals[2](x, self.feed_forward)
        return output

    def step(
        self,
        x: Float[Tensor, "rows 1 d_model"],
        past: KeysValues | None,
        memory: KeysValues,
        source_mask: Bool[Tensor, "sources 1 1 source"],
    ) -> tuple[Float[Tensor, "rows 1 d_model"], KeysValues]:
        """The same layer at one new position; also gives the self-attention's keys and values so far.

        No causal mask: the positions seen so far are exactly those that a new one may attend to. The rows of one
        source, as many for each, are queries of one cross-attention, so that its keys and values are there once.
        """
        seen: list[KeysValues] = []

        def attend_to_past(y: Tensor) -> Tensor:
            new = self.self_attention.keys_values(y)
            seen.append(new if past is None else past.append(new))
            return self.self_attention.attend(y, seen[0], None)

        def attend_to_memory(y: Tensor) -> Tensor:
            by_source = y.view(len(memory.key), -1, y.shape[-1])  # sources, rows of each, d_model
            return self.cross_attention.attend(by_source, memory, source_mask).view(y.shape)

        x = self.residuals[0](x, attend_to_past)
        x = self.residuals[1](x, attend_to_memory)
        return self.residuals[2](x, self.feed_forward), seen[0]
