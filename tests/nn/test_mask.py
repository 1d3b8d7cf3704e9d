"""True = may attend."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitx.nn.mask import causal_mask, padding_mask

quick = settings(max_examples=25, deadline=None, derandomize=True)


@quick
@given(
    rows=st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=4), pad_id=st.integers(0, 4)
)
def test_padding_is_what_nobody_attends_to(rows, pad_id):
    mask = padding_mask(torch.tensor(rows), pad_id)
    assert mask.dtype == torch.bool
    assert mask.shape == (len(rows), 1, 1, 5)
    assert mask[:, 0, 0].tolist() == [[token != pad_id for token in row] for row in rows]


@quick
@given(length=st.integers(1, 12))
def test_a_position_attends_to_itself_and_to_earlier_ones(length):
    mask = causal_mask(length)
    assert mask.dtype == torch.bool
    assert mask.shape == (1, 1, length, length)
    assert mask[0, 0].tolist() == [[key <= query for key in range(length)] for query in range(length)]


def test_the_causal_mask_lies_on_the_given_device():
    assert causal_mask(2, torch.device("meta")).device.type == "meta"


def test_masks_combine_with_and():
    both = padding_mask(torch.tensor([[5, 6, 0]]), 0) & causal_mask(3)
    assert both[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
