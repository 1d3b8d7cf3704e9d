"""The Triton kernels against sums worked out in double precision, on a GPU or else in Triton's interpreter.

Without a GPU this needs `pip install triton` and runs best by itself: whether Triton interprets is settled for a whole
process when it is first imported, which other tests may bring about.
"""

import importlib
import importlib.util
import os
import sys

import pytest
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
only_on_a_gpu = pytest.mark.skipif(DEVICE == "cpu", reason="the interpreter has no memory of a device's own")

if DEVICE == "cpu" and importlib.util.find_spec("triton"):
    if "triton" in sys.modules and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("Triton was imported to compile; run this file by itself", allow_module_level=True)
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton")
kernels = importlib.import_module("minitx.nn.additive.triton_kernels")

LENGTHS = [(1, 1), (2, 33), (33, 17), (17, 2), (64, 64)]


def vectors(*shape, seed, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE, dtype)


def reference(query, key, v, grad_score):
    """Score and gradients of query, key and v by their formulas: all pairs at once, in double precision."""
    query, key, v, grad_score = (tensor.double() for tensor in (query, key, v, grad_score))
    argument = query[:, :, :, None] + key[:, :, None]  # batch, heads, query, key, d_k
    score = torch.einsum("hd,bhijd->bhij", v, argument.tanh())
    # 1 / cosh² rather than 1 − tanh², of which nothing is left past 19, in double precision too.
    slope = torch.einsum("bhij,hd,bhijd->bhijd", grad_score, v, argument.cosh() ** -2)
    grad_v = torch.einsum("bhij,bhijd->hd", grad_score, argument.tanh())
    return score, slope.sum(dim=3), slope.sum(dim=2), grad_v


def check(query, key, v, grad_score):
    """Every number is within 10⁻⁵ of the largest one of its tensor."""
    results = kernels.score(query, key, v), *kernels.gradients(query, key, v, grad_score)
    for result, expected in zip(results, reference(query, key, v, grad_score), strict=True):
        assert result.dtype == torch.float32
        assert result.shape == expected.shape
        assert (result - expected).abs().max() <= 1e-5 * expected.abs().max()


@pytest.mark.parametrize(("n", "m"), LENGTHS)
@pytest.mark.parametrize("d_k", [1, 3, 16, 64, 130])
def test_score_and_gradients_are_the_formulas(n, m, d_k):
    batch = 1 if d_k > 16 else 3  # the interpreter is slow
    query, key = vectors(batch, 2, n, d_k, seed=1), vectors(batch, 2, m, d_k, seed=2)
    check(query, key, vectors(2, d_k, seed=3), vectors(batch, 2, n, m, seed=4))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(dtype):
    query, key = vectors(2, 3, 17, 16, seed=1, dtype=dtype), vectors(2, 3, 33, 16, seed=2, dtype=dtype)
    check(query, key, vectors(3, 16, seed=3, dtype=dtype), vectors(2, 3, 17, 33, seed=4, dtype=dtype))
    check(query, key, vectors(3, 16, seed=3), vectors(2, 3, 17, 33, seed=4))


def test_views_as_multi_head_attention_makes_them():
    query = vectors(2, 17, 3 * 16, seed=1).view(2, 17, 3, 16).transpose(1, 2)
    key = vectors(2, 33, 3 * 16, seed=2).view(2, 33, 3, 16).transpose(1, 2)
    v, grad_score = vectors(16, 3, seed=3).t(), vectors(2, 3, 33, 17, seed=4).transpose(2, 3)
    check(query, key, v, grad_score)
    # A gradient that is the same for all, as the sum of all scores has it, takes no memory: its strides are 0.
    check(query, key, v, torch.ones((), device=DEVICE).expand(2, 3, 17, 33))


def test_large_vectors_that_cancel():
    """q and k of ±100 in every coordinate; each query has a key that is nearly its opposite."""
    query = 100 * vectors(2, 2, 33, 16, seed=1).sign()
    key = -query + torch.logspace(-6, 1, 16, device=DEVICE) * vectors(2, 2, 33, 16, seed=2)
    check(query, key.clamp(-100, 100), vectors(2, 16, seed=3), vectors(2, 2, 33, 33, seed=4))


@pytest.mark.parametrize(
    ("q", "k"),
    [(1e-6, 2e-6), (1e-3, 1e-3), (100.0, -100 + 2**-16), (-100.0, 100 - 2**-16), (0.125, 0.1249), (0.125, 0.126)],
)
def test_scores_next_to_zero_are_as_exact_as_others(q, k):
    """tanh(x) ≈ x, of which 1 − 2 / (1 + e^{2x}) leaves nothing; at ¼ one formula takes over from another."""
    query, key = torch.full((1, 1, 2, 3), q, device=DEVICE), torch.full((1, 1, 2, 3), k, device=DEVICE)
    check(query, key, vectors(1, 3, seed=3), vectors(1, 1, 2, 2, seed=4))


@pytest.mark.parametrize(("q", "k"), [(4.0, 5.0), (-4.0, -5.0), (-30.0, 10.0), (10.0, 10.0)])
def test_gradients_of_saturated_scores_are_as_exact_as_others(q, k):
    """At x = 20 the slope is 2 · 10⁻¹⁷, and the fp32 difference 1 − tanh²(x) is 0."""
    query, key = torch.full((1, 1, 2, 3), q, device=DEVICE), torch.full((1, 1, 2, 3), k, device=DEVICE)
    check(query, key, vectors(1, 3, seed=3), vectors(1, 1, 2, 2, seed=4))


def test_infinities_saturate_and_nan_stays():
    infinity, nan = float("inf"), float("nan")
    query = torch.tensor([[[[infinity], [-infinity], [3e38], [nan]]]], device=DEVICE)
    key, v = torch.tensor([[[[0.0], [3e38]]]], device=DEVICE), torch.ones(1, 1, device=DEVICE)
    score = kernels.score(query, key, v)[0, 0]
    assert score[:3].tolist() == [[1, 1], [-1, -1], [1, 1]]
    assert score[3].isnan().all()
    grad_query = kernels.gradients(query[:, :, :3], key, v, torch.ones(1, 1, 3, 2, device=DEVICE))[0]
    assert grad_query.flatten().tolist() == [0, 0, 0]


def test_equal_input_gives_equal_bits():
    query, key, v = vectors(2, 2, 33, 16, seed=1), vectors(2, 2, 64, 16, seed=2), vectors(2, 16, seed=3)
    grad_score = vectors(2, 2, 33, 64, seed=4)
    first, second = (kernels.gradients(query, key, v, grad_score) for _ in range(2))
    assert all(map(torch.equal, first, second))


@only_on_a_gpu
def test_memory_holds_nothing_for_each_pair_and_coordinate():
    n, d_k = 512, 64
    query, key, v = vectors(1, 2, n, d_k, seed=1), vectors(1, 2, n, d_k, seed=2), vectors(2, d_k, seed=3)
    grad_score = vectors(1, 2, n, n, seed=4)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    kernels.score(query, key, v)
    kernels.gradients(query, key, v, grad_score)
    scores = 2 * n * n * 4  # bytes
    assert torch.cuda.max_memory_allocated() - before < 3 * scores  # the textbook form holds d_k times as much


@only_on_a_gpu
def test_more_scores_than_32_bits_can_count():
    n, m = 46_400, 46_400  # n · m > 2³¹: 8.6 GB of scores
    if torch.cuda.mem_get_info()[0] < 10 * 2**30:
        pytest.skip("needs 10 GiB of free device memory")
    query, key, v = vectors(1, 1, n, 1, seed=1), vectors(1, 1, m, 1, seed=2), vectors(1, 1, seed=3)
    score = kernels.score(query, key, v)
    check_rows = slice(n - 40, n)
    expected = reference(query[:, :, check_rows], key, v, score[:, :, check_rows])[0]
    assert (score[:, :, check_rows] - expected).abs().max() <= 1e-5 * expected.abs().max()
