"""Scores against formulas worked out number by number, and the moments that §3.2.1 is about."""

import math

import pytest
import torch
from scipy import integrate, stats
from torch import nn

from minitx.nn.compatibility import (
    Additive,
    AdditiveReference,
    Bilinear,
    CompatibilityFunction,
    Cosine,
    InverseDk,
    ScaledDotProduct,
    UnscaledDotProduct,
)

# Each formula for one query and one key, lists of numbers, and the parameters of one head: the paper's text in Python.


def dot(q, k):
    return sum(q_i * k_i for q_i, k_i in zip(q, k, strict=True))


def bilinear(q, k, function, head):
    matrix = function.matrix[head].tolist()
    total = 0.0
    for i in range(len(q)):
        for j in range(len(k)):
            total += q[i] * matrix[i][j] * k[j]
    return total / math.sqrt(len(q))


def cosine(q, k, function, head):
    lengths = max(math.sqrt(dot(q, q)), 1e-3) * max(math.sqrt(dot(k, k)), 1e-3)
    return function.gain[head].item() * dot(q, k) / lengths


def additive(q, k, function, head):
    v = function.v[head].tolist()
    return sum(v_i * math.tanh(q_i + k_i) for v_i, q_i, k_i in zip(v, q, k, strict=True))


FORMULAS = {
    ScaledDotProduct: lambda q, k, function, head: dot(q, k) / math.sqrt(len(q)),
    UnscaledDotProduct: lambda q, k, function, head: dot(q, k),
    InverseDk: lambda q, k, function, head: dot(q, k) / len(q),
    Bilinear: bilinear,
    Cosine: cosine,
    Additive: additive,
    AdditiveReference: additive,
}


def vectors(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def with_drawn_parameters(variant, d_k, num_heads):
    """The variant with parameters that no symmetry of its initial values can hide behind."""
    function = variant(d_k=d_k, num_heads=num_heads).double()
    for seed, parameter in enumerate(function.parameters(), start=10):
        parameter.data = vectors(*parameter.shape, seed=seed)
    return function


@pytest.mark.parametrize("d_k", [1, 2, 5, 16])
def test_scores_are_the_formula_for_every_query_and_key(variant, d_k):
    function = with_drawn_parameters(variant, d_k, num_heads=3)
    query, key = vectors(2, 3, 4, d_k, seed=1), vectors(2, 3, 5, d_k, seed=2)
    query[0, 0, 0], key[0, 0, 0] = 0.0, 0.0
    scores = function(query, key)
    for b in range(2):
        for head in range(3):
            for i in range(4):
                for j in range(5):
                    q, k = query[b, head, i].tolist(), key[b, head, j].tolist()
                    expected = FORMULAS[variant](q, k, function, head)
                    assert scores[b, head, i, j].item() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_compatibility_function_must_say_how_it_scores():
    class Unfinished(CompatibilityFunction):
        pass

    with pytest.raises(TypeError, match="forward"):
        Unfinished()


def test_every_variant_is_a_compatibility_function_and_inherits_from_no_other(variant):
    assert variant.__bases__ == (CompatibilityFunction,)


def test_parameters_that_a_variant_adds(variant):
    d_k, h = 7, 3
    expected = {Bilinear: h * d_k**2, Cosine: h, Additive: h * d_k, AdditiveReference: h * d_k}.get(variant, 0)
    function = variant(d_k=d_k, num_heads=h)
    assert sum(parameter.numel() for parameter in function.parameters()) == expected
    assert not list(function.buffers())


@pytest.mark.parametrize("d_k", [16, 64, 256, 1024])
def test_moments_of_the_scores_of_independent_vectors(variant, d_k):
    """Footnote 4: q·k has mean 0 and variance d_k for components of mean 0 and variance 1; the rest follows."""
    torch.manual_seed(0)
    function = variant(d_k=d_k, num_heads=2)
    scores = function(vectors(4, 2, 64, d_k, seed=3, dtype=torch.float32), vectors(4, 2, 64, d_k, seed=4).float())
    expected = {UnscaledDotProduct: d_k, InverseDk: 1 / d_k}.get(variant, 1.0)
    if variant in (Additive, AdditiveReference):
        tanh_squared, _ = integrate.quad(lambda z: math.tanh(z) ** 2 * stats.norm.pdf(z, scale=2**0.5), -12, 12)
        expected = tanh_squared * function.v.square().sum(-1).mean().item()
    # 512 queries and 512 keys stand behind these 32,768 scores.
    assert scores.var().item() == pytest.approx(expected, rel=0.1)
    assert abs(scores.mean().item()) < 0.1 * math.sqrt(expected)


def test_bilinear_starts_as_scaled_dot_product():
    query, key = vectors(2, 4, 5, 32, seed=5, dtype=torch.float32), vectors(2, 4, 6, 32, seed=6, dtype=torch.float32)
    bilinear_scores = Bilinear(d_k=32, num_heads=4)(query, key)
    torch.testing.assert_close(bilinear_scores, ScaledDotProduct(d_k=32, num_heads=4)(query, key), rtol=0, atol=1e-6)


def test_bilinear_has_a_matrix_of_its_own_for_each_head():
    function = Bilinear(d_k=3, num_heads=2)
    with torch.no_grad():
        function.matrix[1].zero_()
    scores = function(vectors(1, 2, 4, 3, dtype=torch.float32), vectors(1, 2, 4, 3, seed=1, dtype=torch.float32))
    assert scores[:, 0].abs().min() > 0
    assert not scores[:, 1].any()


def test_additive_draws_v_with_variance_one_over_d_k():
    torch.manual_seed(0)
    v = Additive(d_k=256, num_heads=512).v.detach()
    scaled = (v * math.sqrt(256)).flatten()
    assert abs(scaled.mean().item()) < 4 / math.sqrt(scaled.numel())
    assert abs(scaled.var().item() - 1) < 4 * math.sqrt(2 / scaled.numel())
    assert stats.kstest(scaled.numpy(), "norm").pvalue > 0.01
    assert v.norm(dim=-1).mean().item() == pytest.approx(1.0, abs=0.01)


class TestCosine:
    def test_starts_with_a_gain_of_the_root_of_d_k(self):
        assert Cosine(d_k=49, num_heads=3).gain.flatten().tolist() == pytest.approx([7.0, 7.0, 7.0])

    def test_does_not_depend_on_lengths(self):
        function, query, key = Cosine(d_k=8, num_heads=2).double(), vectors(1, 2, 3, 8), vectors(1, 2, 4, 8, seed=1)
        torch.testing.assert_close(function(query, key), function(100 * query, 0.01 * key))

    def test_of_a_vector_with_itself_is_the_gain(self):
        query = vectors(1, 1, 4, 8)
        assert Cosine(d_k=8, num_heads=1).double()(query, query)[0, 0].diagonal().tolist() == pytest.approx(
            [8**0.5] * 4
        )

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
    @pytest.mark.parametrize("d_k", [8, 64, 1024])
    def test_zero_vectors_score_zero_and_have_finite_gradients(self, d_k, dtype):
        function = Cosine(d_k=d_k, num_heads=2).to(dtype)
        query, key = vectors(2, 2, 3, d_k, dtype=dtype), vectors(2, 2, 4, d_k, seed=1, dtype=dtype)
        query[:, :, 0], key[:, :, 0] = 0.0, 0.0
        query.requires_grad_()
        key.requires_grad_()
        scores = function(query, key)
        assert not scores[:, :, 0].any()
        assert not scores[:, :, :, 0].any()
        scores.softmax(-1)[..., 1].sum().backward()
        for gradient in (query.grad, key.grad, function.gain.grad):
            assert gradient.isfinite().all()
            assert gradient.any()

    def test_long_vectors_do_not_overflow_half_precision(self):
        query = torch.full((1, 1, 1, 64), 10_000.0, dtype=torch.float16)  # |q| = 80,000 is beyond fp16
        assert Cosine(d_k=64, num_heads=1).half()(query, query).item() == pytest.approx(8.0, rel=1e-2)


def test_scaling_before_the_product_spares_half_precision_an_overflow():
    """q·k = 102,400 is beyond fp16; q·k / √d_k = 3,200 is not."""
    query = torch.full((1, 1, 1, 1024), 10.0, dtype=torch.float16)
    scores = ScaledDotProduct(d_k=1024, num_heads=1)(query, query)
    assert scores.item() == pytest.approx(3200.0, rel=1e-2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_mixed_precision_runs_with_parameters_in_single_precision(variant, dtype):
    function: nn.Module = variant(d_k=16, num_heads=2)
    query, key = vectors(2, 2, 3, 16, dtype=dtype).requires_grad_(), vectors(2, 2, 4, 16, seed=1, dtype=dtype)
    with torch.autocast("cpu", dtype=dtype):
        scores = function(query, key)
    expected = function(query.detach().float(), key.float())
    torch.testing.assert_close(scores.float(), expected, rtol=0.05, atol=0.05)
    scores.sum().backward()
    assert query.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in function.parameters())
