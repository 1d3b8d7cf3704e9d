"""Queries and keys drawn as §3.2.1 assumes: independent components of mean 0 and variance 1 (footnote 4)."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from minitx.models.initialisation import forked_random_state, stable_seed
from minitx.scores.measurement import Attended, Factory, attend, figures

NUMBERS = 2**22
"""How many numbers of keys are held at once: 16 MiB, whatever d_k is."""


def draw(factories: Mapping[str, Factory], d_k: int, keys: int, draws: int, seed: int) -> dict[str, dict[str, float]]:
    """The figures of each variant over `draws` rows, each a query and `keys` keys of its own.

    Every variant sees the same queries, keys and gradients of the weights, these standard normal too. A variant with
    parameters gets fresh ones for each draw, or for a few draws together where they are many.

    Args:
        factories: each variant's, by name: called with `d_k=…, num_heads=…`.
    """
    generator = torch.Generator().manual_seed(stable_seed(seed, f"scores/{d_k}"))
    at_once = max(1, NUMBERS // (keys * d_k))
    with forked_random_state(seed, "scores"):
        fresh = {name: at_once * _parameters(factory, d_k) <= NUMBERS for name, factory in factories.items()}
    found: dict[str, list[Attended]] = {name: [] for name in factories}
    for first in range(0, draws, at_once):
        rows = min(at_once, draws - first)
        query, key, upstream = (
            torch.randn(shape, generator=generator) for shape in ((rows, 1, d_k), (rows, keys, d_k), (rows, 1, keys))
        )
        for name, factory in factories.items():
            # A draw as a head of its own has parameters of its own.
            batch, heads = (1, rows) if fresh[name] else (rows, 1)
            with forked_random_state(seed, f"scores/{d_k}/{first}"):
                compatibility = factory(d_k=d_k, num_heads=heads).requires_grad_(False)
            q, k, g = (tensor.unflatten(0, (batch, heads)) for tensor in (query, key, upstream))
            found[name].append(_as_rows(attend(compatibility, q, k, None, g)))
    return {name: figures(_together(parts)) for name, parts in found.items()}


def _parameters(factory: Factory, d_k: int) -> int:
    return sum(parameter.numel() for parameter in factory(d_k=d_k, num_heads=1).parameters())


def _as_rows(attended: Attended) -> Attended:
    """Draws along the batch, of one head and one query each: statistics are taken over all of them together."""

    def rows(figure: Tensor) -> Tensor:
        return figure.flatten(0, 1).unsqueeze(1)

    return Attended(rows(attended.scores), rows(attended.weights), rows(attended.gradient))


def _together(parts: list[Attended]) -> Attended:
    return Attended(
        torch.cat([part.scores for part in parts]),
        torch.cat([part.weights for part in parts]),
        torch.cat([part.gradient for part in parts]),
    )
