"""The gradient that comes back to a query, and which rows it is taken over."""

import math

import pytest
import torch

from minitx.nn.compatibility import ScaledDotProduct, UnscaledDotProduct
from minitx.scores.measurement import attend, figures


def test_the_gradient_is_the_jacobian_times_the_keys():
    torch.manual_seed(0)
    query, key = torch.randn(1, 1, 3, 8), torch.randn(1, 1, 5, 8)
    upstream = torch.randn(1, 1, 3, 5)
    found = attend(ScaledDotProduct(d_k=8, num_heads=1), query, key, None, upstream)
    for row in range(3):
        scores = key[0, 0] @ query[0, 0, row] / math.sqrt(8)
        p = scores.softmax(dim=0)
        jacobian = torch.diag(p) - torch.outer(p, p)
        gradient = jacobian @ upstream[0, 0, row] @ key[0, 0] / math.sqrt(8)
        torch.testing.assert_close(found.scores[0, 0, row], scores)
        torch.testing.assert_close(found.weights[0, 0, row], p)
        torch.testing.assert_close(found.gradient[0, 0, row], gradient.square().mean())


def test_a_saturated_row_passes_no_gradient_on():
    query = torch.tensor([[100.0, 0.0], [0.0, 0.0]])[None, None]
    key = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])[None, None]
    found = attend(UnscaledDotProduct(d_k=2, num_heads=1), query, key, None, torch.tensor([[1.0, 0.0]] * 2)[None, None])
    # Even weights: diag(p) - ppT is [[1, -1], [-1, 1]] / 4, so the gradient is (1/4) k_1 - (1/4) k_2 = (1/2, 0).
    assert found.gradient.tolist() == [[[0.0, 0.125]]]
    summary = figures(found)
    assert summary["query_gradient"] == pytest.approx(0.25)
    assert (summary["saturated"], summary["jacobian_trace"], summary["rows"]) == (0.5, 0.25, 2)
    # Scores are 100, -100, 0, 0.
    assert (summary["variance"], summary["row_variance"], summary["max"]) == (5000.0, 10_000.0, 100.0)


def test_padding_and_rows_of_a_single_key_do_not_count():
    torch.manual_seed(1)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()[None, None]
    real = torch.tensor([[True, True, True, False]])
    query, key, upstream = torch.randn(1, 2, 4, 8), torch.randn(1, 2, 4, 8), torch.randn(1, 2, 4, 4)
    found = attend(ScaledDotProduct(d_k=8, num_heads=2), query, key, mask, upstream)
    summary = figures(found, mask, real)
    assert summary["rows"] == 4  # positions 1 and 2 of two heads
    counted = found.gradient[0, :, 1:3].flatten()
    assert summary["query_gradient"] == pytest.approx(float(counted.mean().sqrt()))
    assert summary["query_gradient_median"] == pytest.approx(float(counted.sqrt().sort().values[1]))
