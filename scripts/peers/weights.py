"""minitx's weights under the names of other systems. NumPy only, so that it runs in every environment.

Every peer here can compute minitx's model exactly: pre-norm layers with a LayerNorm at the end of each stack, one
embedding matrix for source, target and logits, sinusoidal positions (copied as a table, since toolkits lay sines and
cosines out differently). minitx's attention projections have no biases; where a peer's have, they are zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

Weights = dict[str, np.ndarray]

PROJECTIONS = ("query", "key", "value", "output")
FAIRSEQ_PROJECTIONS = dict(zip(PROJECTIONS, ("q_proj", "k_proj", "v_proj", "out_proj"), strict=True))
JOEYNMT_PROJECTIONS = dict(zip(PROJECTIONS, ("q_layer", "k_layer", "v_layer", "output_layer"), strict=True))


def read_weights(work: str | Path) -> Weights:
    """minitx's weights by minitx's names, and `positions`, the table of sinusoids, [length, d_model]."""
    with np.load(Path(work, "weights.npz")) as file:
        return {name: file[name] for name in file.files}


def reordered(embedding: np.ndarray, specials: Sequence[int]) -> np.ndarray:
    """The embedding matrix with its first rows in the order of `specials`, which are minitx's ids."""
    return np.concatenate([embedding[list(specials)], embedding[len(specials) :]])


def position_table(positions: np.ndarray, padding_row: int) -> np.ndarray:
    """Position 0 in the row after `padding_row`, as fairseq and its descendants count; zeros before it."""
    return np.concatenate([np.zeros_like(positions[: padding_row + 1]), positions])


def fairseq_names(weights: Weights) -> Weights:
    """Layers by fairseq's names, which transformers' M2M100 has kept; embeddings are the caller's affair."""
    renamed: Weights = {}
    for stack, layer, part in _layer_weights(weights):
        sites = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}
        norms = ["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"]
        if stack == "encoder":
            del norms[1]
        for name, value in part.items():
            renamed |= _renamed(
                name, value, f"{stack}.layers.{layer}.", sites, FAIRSEQ_PROJECTIONS, norms, ("fc1", "fc2")
            )
    return renamed | _stack_ends(weights)


def joeynmt_names(weights: Weights) -> Weights:
    """Layers by Joey NMT's names."""
    renamed: Weights = {}
    for stack, layer, part in _layer_weights(weights):
        own = "src_src_att" if stack == "encoder" else "trg_trg_att"
        sites = {"self_attention": own, "cross_attention": "src_trg_att"}
        norms = ["layer_norm", "feed_forward.layer_norm"]
        if stack == "decoder":
            norms = ["x_layer_norm", "dec_layer_norm", "feed_forward.layer_norm"]
        linears = ("feed_forward.pwff_layer.0", "feed_forward.pwff_layer.3")
        for name, value in part.items():
            renamed |= _renamed(name, value, f"{stack}.layers.{layer}.", sites, JOEYNMT_PROJECTIONS, norms, linears)
    return renamed | _stack_ends(weights)


def _layer_weights(weights: Weights) -> Iterator[tuple[str, int, Weights]]:
    for stack in ("encoder", "decoder"):
        numbers = sorted({int(name.split(".")[1]) for name in weights if name.startswith(f"{stack}.")})
        for layer in numbers:
            prefix = f"{stack}.{layer}."
            yield stack, layer, {n.removeprefix(prefix): w for n, w in weights.items() if n.startswith(prefix)}


def _renamed(
    name: str,
    value: np.ndarray,
    prefix: str,
    sites: dict[str, str],
    projections: dict[str, str],
    norms: Sequence[str],
    linears: tuple[str, str],
) -> Weights:
    """One weight of a layer by another system's name; an attention projection brings a bias of zero along."""
    part, which, *_, kind = name.split(".")
    if part == "residuals":
        return {f"{prefix}{norms[int(which)]}.{kind}": value}
    if part == "feed_forward":
        return {f"{prefix}{linears[('inner', 'outer').index(which)]}.{kind}": value}
    projection = f"{prefix}{sites[part]}.{projections[which.removesuffix('_projection')]}"
    return {f"{projection}.weight": value, f"{projection}.bias": np.zeros_like(value[:, 0])}


def _stack_ends(weights: Weights) -> Weights:
    return {
        f"{stack}.layer_norm.{kind}": weights[f"{stack}_norm.{kind}"]
        for stack in ("encoder", "decoder")
        for kind in ("weight", "bias")
    }
