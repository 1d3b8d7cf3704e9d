"""Attention (§3.2.1) and multi-head attention (§3.2.2), with the compatibility function as a slot.

Read it with the paper beside you: `attention` is Eq. 1 with the score left open, `MultiHeadAttention` the equations of
§3.2.2, `minitx.nn.compatibility` what fills the slot.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from minitx.nn.dropout import Dropout


def attention(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: Bool[Tensor, "#batch #heads #query #key"] | None,
    compatibility: Callable[[Tensor, Tensor], Tensor],
    normalise: Callable[[Tensor, Tensor | None], Tensor],
    dropout: Callable[[Tensor], Tensor],
) -> Float[Tensor, "batch heads query d_v"]:
    """softmax(scores) V, Eq. 1, where `compatibility` makes the scores and `normalise` is the masked softmax."""
    scores = compatibility(query, key)
    weights = normalise(scores, mask)
    return dropout(weights) @ value


class MaskedSoftmax(nn.Module):
    """Scores to weights: a softmax over the keys that a query may attend to.

    A query that may attend to no key gets weights of zero, hence a zero output, and passes finite gradients on. (A
    module without state, so that a hook can read scores, mask and weights without touching the mathematics.)
    """

    def forward(
        self,
        scores: Float[Tensor, "batch heads query key"],
        mask: Bool[Tensor, "#batch #heads #query #key"] | None,
    ) -> Float[Tensor, "batch heads query key"]:
        if mask is None:
            return scores.softmax(dim=-1)
        # The least finite number, not -inf: a row of -inf has no softmax, and its NaN would enter the backward pass.
        weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
        # Where no allowed score is above that number, in half precision also one that has become -inf, the softmax has
        # given the others weight.
        return weights.masked_fill(~mask, 0.0)


@dataclass
class KeysValues:
    """Projected keys [batch, heads, key, d_k] and values [batch, heads, key, d_v] of one attention site."""

    key: Tensor
    value: Tensor

    def append(self, later: "KeysValues") -> "KeysValues":
        """These positions followed by `later` ones."""
        return KeysValues(torch.cat([self.key, later.key], dim=2), torch.cat([self.value, later.value], dim=2))

    def select(self, rows: Tensor) -> "KeysValues":
        """The batch rows at `rows`, an index tensor: reorders, drops and repeats."""
        return KeysValues(self.key.index_select(0, rows), self.value.index_select(0, rows))


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, …, head_h) W^O, head_i = attention(Q W_i^Q, K W_i^K, V W_i^V) (§3.2.2).

    The h matrices W_i^Q are the rows of one linear map, likewise W_i^K and W_i^V; no biases, as in the paper.

    Args:
        d_model: width of the input and of the output.
        num_heads: h.
        d_k: length of one head's query and key; a number of its own, not bound to d_model / h.
        d_v: length of one head's value.
        compatibility: this site's own compatibility function, built for these `d_k` and `num_heads`.
        dropout: probability with which a weight is dropped.
    """

    def __init__(
        self, d_model: int, num_heads: int, d_k: int, d_v: int, compatibility: nn.Module, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.d_k = d_k
        self.query_projection = nn.Linear(d_model, num_heads * d_k, bias=False)
        self.key_projection = nn.Linear(d_model, num_heads * d_k, bias=False)
        self.value_projection = nn.Linear(d_model, num_heads * d_v, bias=False)
        self.output_projection = nn.Linear(num_heads * d_v, d_model, bias=False)
        self.compatibility = compatibility
        self.softmax = MaskedSoftmax()
        self.dropout = Dropout(dropout)

    def forward(
        self,
        queries: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: Bool[Tensor, "#batch #heads #query #key"] | None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Every position of `queries` attends to the positions of `memory` that `mask` allows."""
        return self.attend(queries, self.keys_values(memory), mask)

    def keys_values(self, memory: Float[Tensor, "batch key d_model"]) -> KeysValues:
        """K W^K and V W^V, split into heads. They do not depend on the query: decoding keeps them."""
        return KeysValues(self._split(self.key_projection(memory)), self._split(self.value_projection(memory)))

    def attend(
        self,
        queries: Float[Tensor, "batch query d_model"],
        keys_values: KeysValues,
        mask: Bool[Tensor, "#batch #heads #query #key"] | None,
    ) -> Float[Tensor, "batch query d_model"]:
        """`forward` with keys and values that are projected already."""
        query = self._split(self.query_projection(queries))
        heads = attention(
            query, keys_values.key, keys_values.value, mask, self.compatibility, self.softmax, self.dropout
        )
        joined = heads.transpose(1, 2).flatten(2)  # batch, query, heads · d_v
        output: Tensor = self.output_projection(joined)
        return output

    def _split(self, joined: Float[Tensor, "batch length joined"]) -> Float[Tensor, "batch heads length d"]:
        batch, length, _ = joined.shape
        return joined.view(batch, length, self.num_heads, -1).transpose(1, 2)
