"""The loss of §5.4 against its formula written out, and the chunked form against the plain one."""

import math

import pytest
import torch

from minitx.nn import loss as losses
from minitx.nn.loss import plain_loss, projected_loss


def draw(rows=37, width=8, vocab=23, dtype=torch.float64):
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(rows, width, generator=generator, dtype=dtype).requires_grad_()
    weight = torch.randn(vocab, width, generator=generator, dtype=dtype).requires_grad_()
    return hidden, weight, torch.randint(0, vocab, (rows,), generator=generator)


@pytest.mark.parametrize("loss", [plain_loss, projected_loss])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
def test_the_sums_are_those_of_the_formula(loss, smoothing):
    hidden, weight, target = draw(rows=5, vocab=4)
    smoothed = cross_entropy = 0.0
    for row, true in zip((hidden @ weight.T).tolist(), target.tolist(), strict=True):
        log_z = math.log(sum(math.exp(z) for z in row))
        wanted = [smoothing / 4 + (1 - smoothing) * (j == true) for j in range(4)]
        smoothed += sum(q * (log_z - z) for q, z in zip(wanted, row, strict=True))
        cross_entropy += log_z - row[true]
    sums = loss(hidden, weight, target, smoothing)
    assert float(sums.smoothed) == pytest.approx(smoothed, rel=1e-12)
    assert float(sums.cross_entropy) == pytest.approx(cross_entropy, rel=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 3e-6)])
@pytest.mark.parametrize("chunk", [1, 7, 37, 1000])
def test_chunks_change_nothing_but_rounding(monkeypatch, dtype, tolerance, chunk):
    hidden, weight, target = draw(dtype=dtype)
    monkeypatch.setitem(losses.LOGIT_BYTES, "cpu", chunk * len(weight) * dtype.itemsize)
    plain, chunked = plain_loss(hidden, weight, target, 0.1), projected_loss(hidden, weight, target, 0.1)
    for one, other in zip(plain, chunked, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=0)
    reference = torch.autograd.grad(3 * plain.smoothed, [hidden, weight])
    found = torch.autograd.grad(3 * chunked.smoothed, [hidden, weight])
    for one, other in zip(reference, found, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance * float(one.abs().max()))


def test_cross_entropy_carries_no_gradient():
    assert not projected_loss(*draw(), 0.1).cross_entropy.requires_grad


def test_bf16_products_leave_parameters_in_single_precision():
    hidden, weight, target = draw(dtype=torch.float32)
    exact = projected_loss(hidden, weight, target, 0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        sums = projected_loss(hidden, weight, target, 0.1)
    sums.smoothed.backward()
    assert weight.grad.dtype == torch.float32
    assert sums.smoothed.dtype == torch.float32
    assert float(sums.smoothed) == pytest.approx(float(exact.smoothed), rel=0.02)
    assert float(sums.smoothed) != float(exact.smoothed)
