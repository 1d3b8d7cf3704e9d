"""Loss and translation quality of a model on a split; the same code serves training, its test and `minitx evaluate`."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from minitx.data.batch import collate
from minitx.data.dataset import ParallelDataset
from minitx.data.lines import one_line
from minitx.data.sampler import TokenBatchSampler
from minitx.data.tokenizer import BOS_ID, EOS_ID, Tokenizer
from minitx.decoding import translate_ids
from minitx.nn.loss import projected_loss
from minitx.scoring import score_translations

Translations = dict[str, list[str]]


def evaluate_split(
    model: nn.Module,
    tokenizer: Tokenizer,
    dataset: ParallelDataset,
    *,
    batch_tokens: int = 4096,
    on_progress: Callable[[int], None] | None = None,
    **search: Any,
) -> tuple[dict[str, Any], Translations]:
    """Scores of a split, and its translations beside references and sources.

    Args:
        model: a Transformer in evaluation mode.
        tokenizer: the run's.
        dataset: the split.
        batch_tokens: padded tokens in a batch when the loss is computed.
        on_progress: told how many sentences are translated.
        search: `beam_size`, `length_penalty` and the other options of `minitx.decoding.translate_ids`.
    """
    loss = cross_entropy(model, dataset, batch_tokens)
    hypotheses = translate_dataset(model, tokenizer, dataset, on_progress=on_progress, **search)
    references = dataset.references()
    scores = {
        "sentences": len(dataset),
        "loss": loss,
        "perplexity": math.exp(min(loss, 700.0)),
        **score_translations(hypotheses, references),
        **{key: search[key] for key in ("beam_size", "length_penalty") if key in search},
    }
    return scores, {"hyp": hypotheses, "ref": references, "src": dataset.sources()}


def translate_dataset(
    model: nn.Module,
    tokenizer: Tokenizer,
    dataset: ParallelDataset,
    indices: Sequence[int] | None = None,
    **search: Any,
) -> list[str]:
    """Detokenised translations of a split, or of its pairs at `indices`, in their order."""
    examples = dataset.__getitems__(range(len(dataset)) if indices is None else indices)
    found = translate_ids(model, [example.source for example in examples], bos_id=BOS_ID, eos_id=EOS_ID, **search)
    return [one_line(tokenizer.decode(hypotheses[0].ids)) for hypotheses in found]


@torch.inference_mode()
def cross_entropy(model: nn.Module, dataset: ParallelDataset, batch_tokens: int) -> float:
    """-log p of the references per target token, end mark included, in nats; without label smoothing."""
    device = next(model.parameters()).device
    longest = int(max(dataset.source_lengths.max(), dataset.target_lengths.max()))
    sampler = TokenBatchSampler(
        dataset.source_lengths, dataset.target_lengths, max(batch_tokens, longest), shuffle=False
    )
    total, tokens = 0.0, 0
    # A generator of its own: the loader draws from it, and evaluating must not move the one that dropout draws from.
    loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=collate, generator=torch.Generator())
    for batch in loader:
        batch = batch.to(device)
        real = batch.target_output != model.pad_id
        source_mask = (batch.source != model.pad_id)[:, None, None, :]
        hidden = model.decode(batch.target_input, model.encode(batch.source), source_mask)
        sums = projected_loss(hidden[real], model.embedding.weight, batch.target_output[real], 0.0)
        total += float(sums.cross_entropy)
        tokens += batch.num_target_tokens
    return total / tokens
