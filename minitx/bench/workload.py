"""What `minitx bench attention` measures: a variant's forward and backward pass at given sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
from hydra.utils import instantiate
from torch import Tensor, nn

from minitx.bench.operations import Operations, Sizes, attention_operations, score_operations
from minitx.bench.timing import Clock
from minitx.config import compose, to_plain
from minitx.config.hydra_tree import config_tree
from minitx.nn.attention import MaskedSoftmax, attention

REFERENCE = "scaled"
"""What every other variant is compared with."""
PARTS = ("attention", "score")
PACKED, ONE_QUERY = "packed", "one query at a time"


@dataclass(frozen=True)
class Variant:
    """A compatibility function as the configuration has it.

    Attributes:
        name: of its option, or of its class where that was given.
        target: the dotted path of its class.
        factory: makes one for `d_k=…, num_heads=…`.
    """

    name: str
    target: str
    factory: Callable[..., nn.Module]


def option_names() -> list[str]:
    """Every option of `attention`, the reference first."""
    with config_tree() as tree:
        names = tree.options("attention")
    return sorted(names, key=lambda name: (name != REFERENCE, name))


def load_variants(words: Sequence[str]) -> list[Variant]:
    """The variants that `words` name, the reference in front of them if it is not among them.

    Args:
        words: names of options of `attention`, or dotted paths of classes.

    Raises:
        UserError: there is no such option or class, or it does not fit the slot.
    """
    words = list(dict.fromkeys(words))
    return [_variant(word) for word in (words if REFERENCE in words else [REFERENCE, *words])]


def _variant(word: str) -> Variant:
    dotted = "." in word
    node = to_plain(compose([f"attention._target_={word}" if dotted else f"attention={word}"]))["attention"]
    name = word.rpartition(".")[2] if dotted else word
    return Variant(name, node["_target_"], instantiate(node))


@dataclass(frozen=True)
class Setting:
    """What stays the same over a whole measurement.

    Attributes:
        part: "attention", all of Eq. 1 without mask and dropout; "score", the compatibility function alone.
    """

    part: str
    batch: int
    heads: int
    dtype: torch.dtype
    device: torch.device

    def sizes(self, length: int, d_k: int) -> Sizes:
        """As many keys as queries, and values as long as keys."""
        return Sizes(self.batch, self.heads, length, length, d_k, d_k)


@dataclass(frozen=True)
class Series:
    """A line of the figure: a variant, given all queries at once or one at a time."""

    variant: Variant
    form: str = PACKED

    @property
    def label(self) -> str:
        """What tables and figures call it."""
        return self.variant.name if self.form == PACKED else f"{self.variant.name}, query by query"

    def operations(self, setting: Setting, length: int, d_k: int) -> Operations | None:
        """The closed forms; None for a variant that is not minitx's own."""
        module, _, name = self.variant.target.rpartition(".")
        count = attention_operations if setting.part == "attention" else score_operations
        return count(name, setting.sizes(length, d_k)) if module.startswith("minitx.nn.") else None


class Inputs:
    """Queries, keys and values of unit variance, and the gradient that comes in: the same for every variant."""

    def __init__(self, setting: Setting, length: int, d_k: int) -> None:
        generator = torch.Generator(setting.device).manual_seed(length * 1000 + d_k)

        def normal(last: int) -> Tensor:
            shape = (setting.batch, setting.heads, length, last)
            return torch.randn(shape, generator=generator, device=setting.device).to(setting.dtype)

        self.query, self.key, self.value = (normal(d_k).requires_grad_() for _ in range(3))
        self.gradient = normal(d_k if setting.part == "attention" else length)


class Workload:
    """One series at one length and d_k, ready to run.

    Args:
        series: what runs.
        setting: the measurement's.
        inputs: as many queries as keys.
    """

    def __init__(self, series: Series, setting: Setting, inputs: Inputs) -> None:
        d_k = inputs.query.shape[-1]
        made = series.variant.factory(d_k=d_k, num_heads=setting.heads)
        self.compatibility: Any = made.to(setting.device, setting.dtype)
        self.inputs, self.part, self.form = inputs, setting.part, series.form
        self.softmax, self.dropout = MaskedSoftmax(), nn.Identity()
        sources = [inputs.query, inputs.key, *([inputs.value] if setting.part == "attention" else [])]
        self.sources = [*sources, *self.compatibility.parameters()]
        self._output: Tensor | None = None

    def forward(self) -> None:
        """The forward pass, kept for `backward`."""
        if self.form == PACKED:
            self._output = self._of(self.inputs.query)
        else:
            self._output = torch.cat([self._of(query) for query in self.inputs.query.split(1, dim=2)], dim=2)

    def backward(self) -> None:
        """Gradients of queries, keys, values and parameters, which are dropped again."""
        assert self._output is not None
        torch.autograd.grad(self._output, self.sources, self.inputs.gradient)
        self._output = None

    def once(self) -> None:
        """Both, one after the other."""
        self.forward()
        self.backward()

    def seconds(self, calls: int, clock: Clock) -> tuple[float, float]:
        """Seconds of a forward and of a backward pass, each the median of `calls` in a row."""
        for _ in range(calls):
            clock.mark()
            self.forward()
            clock.mark()
            self.backward()
            clock.mark()
        laps = clock.laps()
        return median(laps[0::3]), median(laps[1::3])

    def _of(self, query: Tensor) -> Tensor:
        inputs = self.inputs
        if self.part == "score":
            score: Tensor = self.compatibility(query, inputs.key)
            return score
        return attention(query, inputs.key, inputs.value, None, self.compatibility, self.softmax, self.dropout)
