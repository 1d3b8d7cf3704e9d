"""The same figures inside a real model before its first step: what of §3.2.1's assumption its attention meets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from minitx.data.batch import Batch
from minitx.models.initialisation import stable_seed
from minitx.nn.score_reading import AttentionSite, ReadScores, attention_sites, read_scores
from minitx.scores.measurement import Attended, attend, figures


def at_start(model: Any, batch: Batch, seed: int) -> dict[str, dict[str, float]]:
    """The figures of each kind of attention site, over all its layers and heads, on a batch.

    Args:
        model: a `minitx.models.transformer.Transformer`; read without dropout.
        batch: sentence pairs; padding does not count.
        seed: of the gradients of the weights, which are drawn standard normal.
    """
    generator = torch.Generator().manual_seed(stable_seed(seed, "scores/upstream"))
    inputs: dict[AttentionSite, tuple[Tensor, Tensor]] = {}
    parts: dict[str, list[Attended]] = {}
    rows: dict[str, tuple[Tensor | None, Tensor]] = {}

    def read(these: ReadScores) -> None:
        query, key = inputs.pop(these.site)
        upstream = torch.randn(these.scores.shape, generator=generator)
        name = these.site.name
        parts.setdefault(name, []).append(
            attend(these.site.attention.compatibility.forward, query, key, these.mask, upstream)
        )
        rows[name] = these.mask, these.real

    handles = []
    for site in attention_sites(model):

        def keep(module: Any, given: tuple[Tensor, Tensor], scores: Tensor, site: AttentionSite = site) -> None:
            inputs[site] = given

        handles.append(site.attention.compatibility.register_forward_hook(keep))
    try:
        read_scores(model, batch.source, batch.target_input, read)
    finally:
        for handle in handles:
            handle.remove()
    return {name: figures(_heads_together(found), *rows[name]) for name, found in parts.items()}


def _heads_together(layers: list[Attended]) -> Attended:
    return Attended(
        torch.cat([layer.scores for layer in layers], dim=1),
        torch.cat([layer.weights for layer in layers], dim=1),
        torch.cat([layer.gradient for layer in layers], dim=1),
    )
