"""Eq. 2."""

import pytest
import torch

from minitx.nn.feed_forward import FeedForward


def test_max_of_zero_between_two_linear_maps():
    torch.manual_seed(0)
    network, x = FeedForward(4, 6).double(), torch.randn(2, 3, 4, dtype=torch.float64)
    w_1, b_1 = network.inner.weight.tolist(), network.inner.bias.tolist()
    w_2, b_2 = network.outer.weight.tolist(), network.outer.bias.tolist()
    output = network(x)
    for b in range(2):
        for i in range(3):
            vector = x[b, i].tolist()
            hidden = [
                max(0.0, sum(w * v for w, v in zip(row, vector, strict=True)) + c)
                for row, c in zip(w_1, b_1, strict=True)
            ]
            assert 0 < hidden.count(0.0) < 6  # the cut at zero is at work
            expected = [
                sum(w * v for w, v in zip(row, hidden, strict=True)) + c for row, c in zip(w_2, b_2, strict=True)
            ]
            assert output[b, i].tolist() == pytest.approx(expected, rel=1e-12)


def test_every_position_is_treated_alike():
    network, x = FeedForward(4, 6), torch.randn(1, 5, 4)
    torch.testing.assert_close(network(x)[:, 3:4], network(x[:, 3:4]))


def test_dropout_acts_on_the_hidden_layer_in_training():
    network, x = FeedForward(4, 6, dropout=1.0), torch.randn(1, 5, 4)
    torch.testing.assert_close(network(x), network.outer.bias.expand(1, 5, 4))
    assert not torch.allclose(network.eval()(x), network.outer.bias.expand(1, 5, 4))
