"""What a run will cost, from its configuration alone: no data are read and no weights are drawn."""

import json
from dataclasses import dataclass
from typing import Any

import torch
from hydra.utils import instantiate
from omegaconf import DictConfig

from minitx.config.identity import to_plain
from minitx.data.tokenizer import PAD_ID, Tokenizer
from minitx.models.transformer import parameter_counts


@dataclass(frozen=True)
class Estimate:
    """A run's size and cost.

    Attributes:
        parameters: of the model. The vocabulary is taken to be as large as was asked for.
        flops: operations of the whole training, about; None where epochs or seconds alone limit it, which only the
            data or the clock can turn into steps.
    """

    parameters: int
    flops: float | None


class Estimator:
    """Estimates, with each model built once however many seeds it has."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, int]] = {}

    def __call__(self, config: DictConfig) -> Estimate:
        """The size and cost of the run that a configuration describes."""
        vocab_size = _vocab_size(config)
        key = json.dumps([to_plain(config)["model"], vocab_size], sort_keys=True, default=str)
        if key not in self._counts:
            self._counts[key] = parameter_counts(_model(config, vocab_size))
        counts = self._counts[key]
        return Estimate(counts["total"], _flops(config, counts))


def _flops(config: DictConfig, counts: dict[str, int]) -> float | None:
    """Six operations for each parameter and token, two forward and four backward (Kaplan et al. 2020, §2.1).

    A source token meets the encoder's parameters, a target token the decoder's and, as logits, the embedding's. Scores
    and weighted sums of attention are left out, which are little at sentence length, and a batch is taken to be full.
    """
    settings = config.training
    source = 6.0 * sum(number for part, number in counts.items() if part.startswith("encoder"))
    target = 6.0 * sum(number for part, number in counts.items() if part.startswith(("decoder", "embedding")))
    batch = (source + target) * config.data.batch_tokens * settings.accumulate_batches
    limits = [
        settings.max_flops,
        None if settings.max_steps is None else settings.max_steps * batch,
        None if settings.max_tokens is None else settings.max_tokens * (source + target) / 2.0,
    ]
    return min((float(limit) for limit in limits if limit is not None), default=None)


def _vocab_size(config: DictConfig) -> int:
    """The size of the tokenizer's vocabulary where a tokenizer is given, else the size to learn."""
    file = config.data.get("tokenizer")
    size: int = config.data.vocab_size if file is None else Tokenizer.load(file).vocab_size
    return size


def _model(config: DictConfig, vocab_size: int) -> torch.nn.Module:
    arguments: dict[str, Any] = {"vocab_size": vocab_size, "pad_id": PAD_ID, "seed": config.seed}
    try:
        with torch.device("meta"):  # shapes without numbers
            model: torch.nn.Module = instantiate(config.model, **arguments)
    except Exception:  # a variant whose constructor looks at numbers
        model = instantiate(config.model, **arguments)
    return model
