"""§3.4 and §3.5 in numbers."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitx.nn.embedding import Embedding, sinusoidal_positions

quick = settings(max_examples=25, deadline=None, derandomize=True)


@quick
@given(length=st.integers(1, 40), half=st.integers(1, 16))
def test_positions_are_the_formula(length, half):
    d_model = 2 * half
    table = sinusoidal_positions(length, d_model)
    assert table.shape == (length, d_model)
    assert table.dtype == torch.float32
    for position in {0, length // 2, length - 1}:
        for i in range(half):
            angle = position / 10000 ** (2 * i / d_model)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_far_positions_keep_their_precision():
    """Angles are worked out in double precision: in single precision one of 100,000 is off by up to 0.004."""
    assert sinusoidal_positions(100_000, 4)[99_999, 0].item() == pytest.approx(math.sin(99_999), abs=1e-7)


def embedding(**options):
    torch.manual_seed(0)
    return Embedding(vocab_size=11, d_model=16, max_length=9, **options)


def test_tokens_times_the_root_of_d_model_plus_positions():
    module, ids = embedding(), torch.tensor([[3, 4, 4], [10, 0, 3]])
    output = module(ids)
    for row in range(2):
        for position in range(3):
            expected = module.weight[ids[row, position]] * 4.0 + sinusoidal_positions(9, 16)[position]
            torch.testing.assert_close(output[row, position], expected)


def test_ids_may_start_at_a_later_position():
    module, ids = embedding(), torch.tensor([[1, 2, 3, 4, 5]])
    torch.testing.assert_close(module(ids[:, 2:], first=2), module(ids)[:, 2:])


def test_logits_are_products_with_the_same_matrix():
    module, hidden = embedding(), torch.randn(2, 3, 16)
    torch.testing.assert_close(module.logits(hidden), torch.einsum("bnd,vd->bnv", hidden, module.weight))
    torch.testing.assert_close(module.logits(hidden[:, 0]), module.logits(hidden)[:, 0])


def test_token_vectors_start_with_unit_variance_after_scaling():
    module = Embedding(vocab_size=2000, d_model=64, max_length=4)
    assert (module.weight.detach() * module.scale).var().item() == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(("length", "first", "last"), [(10, 0, 10), (1, 9, 10), (4, 7, 11)])
def test_a_sequence_beyond_max_length_is_refused(length, first, last):
    with pytest.raises(ValueError, match=rf"a sequence of {last} tokens is longer than the model's max_length, 9"):
        embedding()(torch.ones(1, length, dtype=torch.long), first=first)


def test_the_longest_sequence_is_accepted():
    module = embedding()
    assert module.max_length == 9
    assert module(torch.ones(1, 9, dtype=torch.long)).shape == (1, 9, 16)
    assert module(torch.ones(1, 1, dtype=torch.long), first=8).shape == (1, 1, 16)


def test_positions_are_neither_trained_nor_saved():
    module = embedding()
    assert list(module.state_dict()) == ["weight"]
    assert [name for name, _ in module.named_parameters()] == ["weight"]


def test_dropout_acts_on_the_sum_in_training():
    module, ids = embedding(dropout=1.0), torch.tensor([[1, 2]])
    assert not module(ids).any()
    assert module.eval()(ids).any()
