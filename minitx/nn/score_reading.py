"""Reading the scores of a whole model while it computes, through hooks that leave the mathematics as it is."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from minitx.nn.attention import MultiHeadAttention
from minitx.nn.mask import padding_mask
from minitx.nn.score_statistics import largest_scores


@dataclass(frozen=True)
class AttentionSite:
    """One attention of a model.

    Attributes:
        name: encoder_self_attention, decoder_self_attention or cross_attention.
        layer: of its stack, from 0.
        attention: the module itself.
    """

    name: str
    layer: int
    attention: MultiHeadAttention


@dataclass(frozen=True)
class ReadScores:
    """What one attention computed in a pass.

    Attributes:
        site: which attention.
        scores, weights: before and after the softmax, [batch, heads, query, key].
        mask: True = may attend; broadcasts to the scores; None: every query may attend to every key.
        real: which queries are no padding, [batch, query].
    """

    site: AttentionSite
    scores: Tensor
    weights: Tensor
    mask: Tensor | None
    real: Tensor


@dataclass(frozen=True)
class LargestScore:
    """Where the largest absolute score of a pass stands: site, layer and head, both from 0, and its value."""

    site: str
    layer: int
    head: int
    value: float

    def __str__(self) -> str:
        return f"{self.value:.3g} at {self.site}, layer {self.layer}, head {self.head}"


def attention_sites(model: nn.Module) -> list[AttentionSite]:
    """Every attention of `model`, in the order in which a pass comes to them."""
    return [
        AttentionSite(*_site_and_layer(name), module)
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    ]


def read_scores(
    model: Any,
    source: Int[Tensor, "batch source"],
    target_input: Int[Tensor, "batch target"],
    read: Callable[[ReadScores], None],
) -> None:
    """Run a batch through `model` and hand what each attention computes to `read`, in order of computation.

    The pass is made without dropout and without gradients; the model's modes and PyTorch's random state are left as
    they were.

    Args:
        model: a `minitx.models.transformer.Transformer`, or a module with its `encode`, `decode` and `pad_id`.
        source: source ids.
        target_input: target ids as the decoder is given them.
        read: must not change the tensors that it is given.
    """
    real_source, real_target = source != model.pad_id, target_input != model.pad_id

    def hook(site: AttentionSite, module: nn.Module, inputs: tuple[Tensor, Tensor | None], weights: Tensor) -> None:
        scores, mask = inputs
        read(ReadScores(site, scores, weights, mask, real_source if _in_encoder(site) else real_target))

    hooks = [site.attention.softmax.register_forward_hook(partial(hook, site)) for site in attention_sites(model)]
    try:
        with undisturbed(model), torch.no_grad():
            model.decode(target_input, model.encode(source), padding_mask(source, model.pad_id))
    finally:
        for handle in hooks:
            handle.remove()


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """`model` in evaluation mode; modes and random state are as before at the end."""
    modes = {module: module.training for module in model.modules()}
    devices = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    with torch.random.fork_rng(devices=[*devices]):
        try:
            model.eval()
            yield
        finally:
            for module, training in modes.items():
                module.training = training


def find_largest_score(
    model: Any, source: Int[Tensor, "batch source"], target_input: Int[Tensor, "batch target"]
) -> LargestScore | None:
    """The largest absolute score when `model` reads a batch, padding left out; None for a model without attention.

    Where scores are not finite, the first attention in order of computation that makes one: it happened there or
    before, and everything after it follows from it.
    """
    found: LargestScore | None = None

    def read(these: ReadScores) -> None:
        nonlocal found
        if these.scores.numel() == 0 or (found is not None and not math.isfinite(found.value)):
            return
        by_head = largest_scores(these.scores, these.mask, these.real)
        head = int(by_head.argmax())  # NaN counts as the largest
        value = float(by_head[head])
        if found is None or not value <= found.value:
            found = LargestScore(these.site.name, these.site.layer, head, value)

    read_scores(model, source, target_input, read)
    return found


def _in_encoder(site: AttentionSite) -> bool:
    return site.name.startswith("encoder")


def _site_and_layer(name: str) -> tuple[str, int]:
    """`decoder.1.cross_attention` -> ("cross_attention", 1), wrappers' prefixes left out."""
    parts = [part for part in name.split(".") if part not in {"module", "_orig_mod"}]
    layers = [int(part) for part in parts if part.isdecimal()]
    words = "_".join(part for part in parts if not part.isdecimal())
    return words.replace("decoder_cross_attention", "cross_attention"), layers[-1] if layers else 0
