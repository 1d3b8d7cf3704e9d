"""The largest numbers of a row, against PyTorch's own search."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitx.nn.top_k import top_k


@settings(max_examples=200, deadline=None)
@given(
    rows=st.integers(0, 4),
    n=st.integers(1, 300),
    share=st.floats(0.0, 1.0),
    different=st.integers(1, 400),
    seed=st.integers(0, 1000),
)
def test_values_are_those_of_a_whole_search_and_stand_where_it_says(rows, n, share, different, seed):
    generator = torch.Generator().manual_seed(seed)
    # Few different numbers make ties; -inf stands for words that may not follow.
    x = torch.randint(different, (rows, n), generator=generator).float()
    x[x == 0] = -torch.inf
    k = max(1, round(share * n))
    values, indices = top_k(x, k)
    assert torch.equal(values, x.topk(k, dim=1).values)
    assert torch.equal(values, x.gather(1, indices))
    assert all(len(set(row)) == k for row in indices.tolist())


def test_a_vocabulary():
    x = torch.randn(6, 10_007, generator=torch.Generator().manual_seed(1))
    for found, expected in zip(top_k(x, 5), x.topk(5, dim=1), strict=True):
        assert torch.equal(found, expected)
