"""Sentences of unequal length as one rectangle of ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from minitx.data.dataset import Example
from minitx.data.tokenizer import BOS_ID, PAD_ID


# Not frozen: Lightning casts a batch field by field where the whole run is in another precision.
@dataclass
class Batch:
    """Sentence pairs, padded on the right with PAD_ID.

    Attributes:
        source: source ids, each sentence ended by EOS_ID.
        target_input: what the decoder is given: BOS_ID, then the target without its EOS_ID.
        target_output: what it is to predict: the target with its EOS_ID; ``target_input`` moved by one position.
        ids: where each pair stands in its dataset.
        num_source_tokens: source ids that are not padding.
        num_target_tokens: target ids that are not padding, the same for input and output.

    A batch may hold no pair at all (see `minitx.data.sampler`); its tensors then have shape [0, 1].
    """

    source: Int64[Tensor, "batch source"]
    target_input: Int64[Tensor, "batch target"]
    target_output: Int64[Tensor, "batch target"]
    ids: Int64[Tensor, " batch"]
    num_source_tokens: int
    num_target_tokens: int

    def __len__(self) -> int:
        return len(self.ids)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """The same batch on ``device``."""
        return replace(
            self,
            source=self.source.to(device, non_blocking=non_blocking),
            target_input=self.target_input.to(device, non_blocking=non_blocking),
            target_output=self.target_output.to(device, non_blocking=non_blocking),
            ids=self.ids.to(device, non_blocking=non_blocking),
        )

    def pin_memory(self) -> Batch:
        """The same batch in page-locked memory, from which a copy to a GPU need not wait."""
        return replace(
            self,
            source=self.source.pin_memory(),
            target_input=self.target_input.pin_memory(),
            target_output=self.target_output.pin_memory(),
            ids=self.ids.pin_memory(),
        )


def collate(examples: Sequence[Example]) -> Batch:
    """Put pairs into one `Batch`, in the order given; no pairs give an empty batch."""
    targets = [example.target for example in examples]
    return Batch(
        source=_pad([example.source for example in examples]),
        target_input=_pad([np.concatenate(([BOS_ID], target[:-1])) for target in targets]),
        target_output=_pad(targets),
        ids=torch.tensor([example.id for example in examples], dtype=torch.int64),
        num_source_tokens=sum(len(example.source) for example in examples),
        num_target_tokens=sum(len(target) for target in targets),
    )


def _pad(sequences: Sequence[Sequence[int] | np.ndarray]) -> Int64[Tensor, "batch length"]:
    length = max(map(len, sequences), default=1)
    padded = np.full((len(sequences), length), PAD_ID, dtype=np.int64)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(padded)
