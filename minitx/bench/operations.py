"""What theory says a compatibility function costs (§3.2.1): closed forms for each variant of `minitx.nn.compatibility`.

With n queries and m keys in each of the B·H heads of a batch, forward pass alone:

* multiply-adds: multiplications, additions, or one of each together;
* transcendentals: values of exp, tanh or a square root;
* numbers kept: what the forward pass leaves behind for the backward pass, inputs, parameters and scores apart.

Operations are those of the formula as §3.2.1 has it, numbers kept those of the code. (`minitx.nn.additive` computes
n·m·d_k values of tanh from (n + m)·d_k exponentials and a reciprocal for each value.)

The backward pass of a product takes two of its size; of tanh and exp, none: their derivatives come from their values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """B, H, n, m, d_k, d_v."""

    batch: int
    heads: int
    queries: int
    keys: int
    d_k: int
    d_v: int


@dataclass(frozen=True)
class Operations:
    """Counts of a forward pass."""

    multiply_adds: int
    transcendentals: int
    numbers_kept: int

    def __add__(self, other: Operations) -> Operations:
        return Operations(
            self.multiply_adds + other.multiply_adds,
            self.transcendentals + other.transcendentals,
            self.numbers_kept + other.numbers_kept,
        )


def score_operations(class_name: str, sizes: Sizes) -> Operations | None:
    """Counts of the scores of a class of `minitx.nn.compatibility`; None for one that no closed form is known of."""
    form = _SCORES.get(class_name)
    if form is None:
        return None
    one_head = form(sizes.queries, sizes.keys, sizes.d_k)
    return Operations(*(sizes.batch * sizes.heads * count for count in one_head))


def attention_operations(class_name: str, sizes: Sizes) -> Operations | None:
    """Counts of Eq. 1: scores, softmax (subtract the largest, sum, divide), weights · V."""
    scores = score_operations(class_name, sizes)
    pairs = sizes.batch * sizes.heads * sizes.queries * sizes.keys
    rest = Operations(pairs * (3 + sizes.d_v), pairs, pairs)
    return None if scores is None else scores + rest


Count = tuple[int, int, int]


def _unscaled(n: int, m: int, d_k: int) -> Count:
    return n * m * d_k, 0, 0


def _divided(n: int, m: int, d_k: int) -> Count:
    """The query is divided by √d_k or d_k, and the quotient kept."""
    return n * d_k + n * m * d_k, 0, n * d_k


def _bilinear(n: int, m: int, d_k: int) -> Count:
    """q/√d_k and its product with M are kept, and a copy of M for each sentence of the batch."""
    return n * d_k + n * d_k**2 + n * m * d_k, 0, 2 * n * d_k + d_k**2


def _cosine(n: int, m: int, d_k: int) -> Count:
    """Lengths (squares, a square root, a floor) and directions of queries and keys; the cosines are kept for g."""
    return 2 * (n + m) * d_k + n * m * d_k + n * m, n + m, (n + m) * (d_k + 2) + n * m


def _additive(n: int, m: int, d_k: int) -> Count:
    """A sum, a tanh and a product with v for each component of each pair; nothing is kept, all is computed again."""
    return 2 * n * m * d_k, n * m * d_k, 0


def _additive_reference(n: int, m: int, d_k: int) -> Count:
    """The same, and every tanh is kept, with a copy of v for each query."""
    return 2 * n * m * d_k, n * m * d_k, n * m * d_k + n * d_k


_SCORES: dict[str, Callable[[int, int, int], Count]] = {
    "ScaledDotProduct": _divided,
    "UnscaledDotProduct": _unscaled,
    "InverseDk": _divided,
    "Bilinear": _bilinear,
    "Cosine": _cosine,
    "Additive": _additive,
    "AdditiveReference": _additive_reference,
}
