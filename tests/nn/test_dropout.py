"""Dropout keeps its rate, its mean and its seed, and hands gradients the same mask."""

import pytest
import torch

from minitx.nn.dropout import Dropout


@pytest.mark.parametrize(("p", "bytes_of_256"), [(0.1, 26), (0.3, 77), (0.5, 128), (0.001, 1), (0.999, 255)])
def test_rate_and_scale(p, bytes_of_256):
    torch.manual_seed(0)
    n = 1_000_000
    y = Dropout(p)(torch.ones(n))
    rate = bytes_of_256 / 256
    assert abs(float((y == 0).double().mean()) - rate) < 5 * (rate * (1 - rate) / n) ** 0.5
    assert y.unique().tolist() == pytest.approx([0.0, 1 / (1 - rate)])


def test_elements_are_dropped_independently():
    torch.manual_seed(1)
    dropped = (Dropout(0.25)(torch.ones(250_000, 8)) == 0).double()
    # Every place of the eight that share a draw has the same rate, and no two of them are correlated.
    assert (dropped.mean(dim=0) - 0.25).abs().max() < 0.005
    assert (torch.corrcoef(dropped.T) - torch.eye(8)).abs().max() < 0.01


def test_the_gradient_has_the_output_s_mask():
    x = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    torch.testing.assert_close(y, x * x.grad)
    assert set(x.grad.unique().tolist()) == {0.0, 2.0}


def test_the_seed_decides_and_the_state_moves_on():
    layer, x = Dropout(0.5), torch.ones(100)
    torch.manual_seed(5)
    first, second = layer(x), layer(x)
    torch.manual_seed(5)
    assert torch.equal(layer(x), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("layer", [Dropout(0.0), Dropout(0.9).eval()])
def test_nothing_is_dropped_without_p_or_in_evaluation(layer):
    x = torch.randn(5)
    state = torch.get_rng_state()
    assert layer(x) is x
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays(dtype):
    assert Dropout(0.3)(torch.ones(9, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_impossible_rates_are_refused(p):
    with pytest.raises(ValueError, match="dropout"):
        Dropout(p)
