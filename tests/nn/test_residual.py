"""Post-norm (§3.1) and pre-norm written out."""

import pytest
import torch

from minitx.nn.residual import PostNorm, PreNorm


def normalise(x, norm):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight + norm.bias


def wrapped(kind, **options):
    torch.manual_seed(0)
    residual = kind(8, **options).double()
    torch.nn.init.normal_(residual.norm.weight)
    torch.nn.init.normal_(residual.norm.bias)
    return residual, 3.0 + torch.randn(2, 3, 8, dtype=torch.float64)


def test_post_norm_normalises_the_sum():
    residual, x = wrapped(PostNorm)
    torch.testing.assert_close(residual(x, torch.tanh), normalise(x + x.tanh(), residual.norm))


def test_pre_norm_normalises_what_enters_the_sublayer_and_keeps_the_residual_path_bare():
    residual, x = wrapped(PreNorm)
    torch.testing.assert_close(residual(x, torch.tanh), x + normalise(x, residual.norm).tanh())


@pytest.mark.parametrize("kind", [PostNorm, PreNorm])
def test_dropout_acts_on_the_sublayers_output_in_training(kind):
    residual, x = wrapped(kind, dropout=1.0)
    without = normalise(x, residual.norm) if kind is PostNorm else x
    torch.testing.assert_close(residual(x, torch.exp), without)
    assert not torch.allclose(residual.eval()(x, torch.exp), without)
