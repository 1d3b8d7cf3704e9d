"""The compatibility function of a query with a key: the gap that §3.2 of "Attention Is All You Need" leaves open.

"The output is computed as a weighted sum of the values, where the weight assigned to each value is computed by a
compatibility function of the query with the corresponding key" (§3.2). Everything else about attention - mask,
softmax, dropout, values - is in `minitx.nn.attention`, so that a variant can change nothing but the score.

Each variant shows its whole formula and inherits nothing from another. Your own needs no edit here: any class with
this constructor and this `forward` fills the slot (`minitx train attention._target_=my_pkg.MyScore`), and
`minitx.testing.check_compatibility_function` is the contract that its tests can call.

Letters: q and k are one head's query and key, d_k their length, h the number of heads.
"""

import math
from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from minitx.nn.additive.score import additive_score


class CompatibilityFunction(nn.Module, ABC):
    """How well each query matches each key (§3.2). Unmasked and unnormalised; larger is better.

    Every attention site builds its own: `factory(d_k=…, num_heads=…)`. Parameters are initialised by the constructor;
    the model calls it under a random state that depends on (seed, site) alone.
    """

    @abstractmethod
    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        """Score every query against every key, head by head."""


class ScaledDotProduct(CompatibilityFunction):
    """q·k / √d_k, Eq. 1: of variance 1 when q and k have independent components of mean 0 and variance 1."""

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.d_k = d_k

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        # The query is divided rather than the score: the same number, and half precision does not overflow on the way.
        return (query / math.sqrt(self.d_k)) @ key.transpose(-2, -1)


class UnscaledDotProduct(CompatibilityFunction):
    """q·k, "dot-product attention" of §3.2.1: of variance d_k under the same assumption (footnote 4)."""

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        return query @ key.transpose(-2, -1)


class InverseDk(CompatibilityFunction):
    """q·k / d_k: of variance 1/d_k. Too much of the cure, to tell whether √d_k is special."""

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.d_k = d_k

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        return (query / self.d_k) @ key.transpose(-2, -1)


class Bilinear(CompatibilityFunction):
    """qᵀ M k / √d_k with a matrix M of its own per head: Luong et al. (2015), "general".

    M starts at the identity, so the first step is that of scaled dot-product attention. Adds h·d_k² parameters.
    """

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.d_k = d_k
        self.matrix = nn.Parameter(torch.eye(d_k).repeat(num_heads, 1, 1))

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        return (query / math.sqrt(self.d_k)) @ self.matrix @ key.transpose(-2, -1)


class Cosine(CompatibilityFunction):
    """g · q̂·k̂ with q̂ = q / max(|q|, 10⁻³) and one learned g per head.

    g starts at √d_k: the cosine of two random directions has variance 1/d_k, so scores start with variance 1, like
    those of scaled dot-product attention. The floor under the length leaves a zero vector a finite gradient (at most
    1,000 times the one that comes in), in half precision too. Adds h parameters.
    """

    shortest = 1e-3

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.full((num_heads, 1, 1), math.sqrt(d_k)))

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        cosine = self._direction(query) @ self._direction(key).transpose(-2, -1)
        return self.gain.to(cosine.dtype) * cosine

    def _direction(self, vector: Float[Tensor, "batch heads length d_k"]) -> Float[Tensor, "batch heads length d_k"]:
        # Squares are summed in at least single precision: in fp16 they overflow from |q_i| = 256 on.
        wide = vector.to(torch.promote_types(vector.dtype, torch.float32))
        length: Tensor = torch.linalg.vector_norm(wide, dim=-1, keepdim=True).clamp_min(self.shortest)
        return (wide / length).to(vector.dtype)


class Additive(CompatibilityFunction):
    """vᵀ tanh(q + k), "additive attention" of §3.2.1 (Bahdanau et al. 2015): a network with one hidden layer.

    Bahdanau's vᵀ tanh(W s + U h) has two matrices of its own. Here the head projections W^Q and W^K (Eq. of §3.2.2)
    already are these two matrices, so that only v is new, h·d_k numbers, and parameter counts stay comparable.
    v is drawn from N(0, 1/d_k), so that |v| is near 1 at every d_k.

    `AdditiveReference` is the same function written out; `minitx.nn.additive` computes it without ever holding its
    query · key · d_k numbers, an order of magnitude faster.
    """

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.randn(num_heads, d_k) / math.sqrt(d_k))

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        return additive_score(query, key, self.v)


class AdditiveReference(CompatibilityFunction):
    """vᵀ tanh(q + k) in the textbook form, which holds batch · heads · query · key · d_k numbers in memory.

    The parameter is that of `Additive`, drawn in the same way, so the two differ by rounding alone.
    """

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.randn(num_heads, d_k) / math.sqrt(d_k))

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
    ) -> Float[Tensor, "batch heads query key"]:
        hidden = torch.tanh(query.unsqueeze(-2) + key.unsqueeze(-3))  # batch, heads, query, key, d_k
        return (hidden @ self.v.to(hidden.dtype)[:, None, :, None]).squeeze(-1)
