"""Pairs as rectangles of ids."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from minitx.data.batch import Batch, collate
from minitx.data.dataset import Example
from minitx.data.tokenizer import BOS_ID, EOS_ID, PAD_ID

sentence = st.lists(st.integers(4, 99), max_size=8).map(lambda ids: [*ids, EOS_ID])


def test_values() -> None:
    batch = collate([Example(7, [5, 6, EOS_ID], [8, EOS_ID]), Example(3, [9, EOS_ID], [10, 11, 12, EOS_ID])])
    assert batch.source.tolist() == [[5, 6, EOS_ID], [9, EOS_ID, PAD_ID]]
    assert batch.target_input.tolist() == [[BOS_ID, 8, PAD_ID, PAD_ID], [BOS_ID, 10, 11, 12]]
    assert batch.target_output.tolist() == [[8, EOS_ID, PAD_ID, PAD_ID], [10, 11, 12, EOS_ID]]
    assert batch.ids.tolist() == [7, 3]
    assert (len(batch), batch.num_source_tokens, batch.num_target_tokens) == (2, 5, 6)


@given(st.lists(st.tuples(sentence, sentence), max_size=6))
def test_nothing_lost_nothing_added(pairs: list[tuple[list[int], list[int]]]) -> None:
    batch = collate(
        [Example(i, np.array(s, dtype=np.int32), np.array(t, dtype=np.int32)) for i, (s, t) in enumerate(pairs)]
    )
    for row, (source, target) in enumerate(pairs):
        assert [i for i in batch.source[row].tolist() if i != PAD_ID] == source
        assert [i for i in batch.target_input[row].tolist() if i != PAD_ID] == [BOS_ID, *target[:-1]]
        assert [i for i in batch.target_output[row].tolist() if i != PAD_ID] == target
    assert batch.num_source_tokens == int((batch.source != PAD_ID).sum())
    assert batch.num_target_tokens == int((batch.target_output != PAD_ID).sum())
    tensors = batch.source, batch.target_input, batch.target_output, batch.ids
    assert {tensor.dtype for tensor in tensors} == {torch.int64}


def test_an_empty_batch_has_shapes() -> None:
    batch = collate([])
    assert [tuple(tensor.shape) for tensor in (batch.source, batch.target_input, batch.target_output)] == [(0, 1)] * 3
    assert (len(batch), batch.num_source_tokens, batch.num_target_tokens) == (0, 0, 0)
    assert batch.ids.shape == (0,)


def test_to_moves_every_tensor() -> None:
    batch = collate([Example(0, [5, EOS_ID], [6, EOS_ID])]).to("meta")
    assert isinstance(batch, Batch)
    tensors = batch.source, batch.target_input, batch.target_output, batch.ids
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert batch.num_target_tokens == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="page-locked memory needs a GPU's driver")
def test_pin_memory() -> None:
    batch = collate([Example(0, [5, EOS_ID], [6, EOS_ID])]).pin_memory()
    assert all(tensor.is_pinned() for tensor in (batch.source, batch.target_input, batch.target_output, batch.ids))
