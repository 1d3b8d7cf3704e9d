"""Linear maps with rounded factors: the same map, to the precision of the factors."""

import pytest
import torch
from torch import nn

from minitx.nn.low_precision import LowPrecisionLinear, lower_products


def pair(bias=True):
    torch.manual_seed(0)
    exact = nn.Linear(24, 40, bias=bias)
    low = nn.Linear(24, 40, bias=bias)
    low.load_state_dict(exact.state_dict())
    lower_products(low, torch.bfloat16)
    return exact, low


def rounded(tensor):
    return tensor.bfloat16().double()


@pytest.mark.parametrize("bias", [True, False])
def test_factors_are_rounded_and_sums_are_not(bias):
    _, low = pair(bias)
    x = torch.randn(3, 5, 24, requires_grad=True)
    y = low(x)
    exact = rounded(x) @ rounded(low.weight).T + (low.bias.double() if bias else 0.0)
    torch.testing.assert_close(y.double(), exact, rtol=2**-8, atol=2**-8)
    slope = torch.randn_like(y)
    y.backward(slope)
    assert x.grad.dtype == low.weight.grad.dtype == torch.float32
    torch.testing.assert_close(x.grad.double(), rounded(slope) @ rounded(low.weight), rtol=2**-8, atol=2**-8)
    expected = rounded(slope).flatten(0, 1).T @ rounded(x).flatten(0, 1)
    torch.testing.assert_close(low.weight.grad.double(), expected, rtol=2**-8, atol=2**-7)
    if bias:
        torch.testing.assert_close(low.bias.grad, slope.sum(dim=(0, 1)))


def test_numbers_that_need_no_rounding_give_the_exact_product():
    exact, low = pair(bias=False)
    with torch.no_grad():
        for layer in (exact, low):
            layer.weight.copy_(torch.randint(-4, 5, layer.weight.shape, generator=torch.Generator().manual_seed(1)))
    x = torch.randint(-1, 2, (7, 24), generator=torch.Generator().manual_seed(2)).float()
    assert torch.equal(low(x), exact(x))  # whole numbers below 256


def test_evaluation_is_in_full_precision():
    exact, low = pair()
    x = torch.randn(6, 24)
    assert torch.equal(low.eval()(x), exact(x))


def test_every_linear_map_changes_and_nothing_else():
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Sequential(nn.Linear(4, 2, bias=False)))
    names, state = [name for name, _ in model.named_parameters()], model.state_dict()
    lower_products(model, torch.bfloat16)
    assert [type(module) for module in model.modules()].count(LowPrecisionLinear) == 2
    assert type(model[1]) is nn.LayerNorm
    assert [name for name, _ in model.named_parameters()] == names
    assert all(torch.equal(model.state_dict()[name], value) for name, value in state.items())
