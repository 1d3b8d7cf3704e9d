"""Every form of the additive score, and its gradients, against the textbook form in double precision."""

import math
import resource

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minitx.nn.additive import chunked, native
from minitx.nn.additive.score import additive_score, form
from minitx.nn.compatibility import Additive, AdditiveReference

FORMS = [native, chunked]
needs_kernel = pytest.mark.skipif(not native.available(), reason="no C++ compiler")
each_form = pytest.mark.parametrize(
    "form", [pytest.param(native, marks=needs_kernel), chunked], ids=lambda form: form.__name__.split(".")[-1]
)


def textbook(query, key, v, slope):
    """The score and the gradients of query, key and v in double precision; tanh' as 1 / cosh², exact in the tails."""
    query, key, v, slope = (tensor.double() for tensor in (query, key, v, slope))
    x = query.unsqueeze(-2) + key.unsqueeze(-3)
    hidden, weights = x.tanh(), v[:, None, None, :]
    to_both = slope.unsqueeze(-1) * weights / x.cosh() ** 2
    to_v = (slope.unsqueeze(-1) * hidden).sum(dim=(0, 2, 3))
    return (hidden * weights).sum(-1), to_both.sum(3), to_both.sum(2), to_v


def assert_near(form, query, key, v, slope):
    found = form.score(query, key, v), *form.gradients(query, key, v, slope)
    for one, other in zip(found, textbook(query, key, v, slope), strict=True):
        # Beyond |x| = 20 the kernel cuts the derivative off at 4 · 2⁻⁶⁰.
        atol = 1e-5 * float(other.abs().max()) + 1e-15
        torch.testing.assert_close(one.double(), other, rtol=0, atol=atol)


def draw(batch, heads, queries, keys, d_k, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = (batch, heads, queries, d_k), (batch, heads, keys, d_k), (heads, d_k), (batch, heads, queries, keys)
    return [torch.randn(shape, generator=generator) for shape in shapes]


@each_form
@settings(max_examples=40, deadline=None)
@given(
    sizes=st.tuples(*[st.integers(1, high) for high in (3, 3, 40, 40, 70)]),
    magnitude=st.sampled_from([1e-6, 1e-2, 1.0, 10.0, 100.0]),
)
def test_any_shape_and_magnitude(form, sizes, magnitude):
    query, key, v, slope = draw(*sizes)
    assert_near(form, magnitude * query, magnitude * key, v, slope)


@each_form
def test_queries_that_nearly_cancel_keys_at_the_edge_of_the_range(form):
    query, key, v, slope = draw(2, 2, 9, 9, 64)
    signs = torch.where(v > 0, 100.0, -100.0)[None, :, None]
    assert_near(form, (signs + 0 * query).contiguous(), key - signs, v, slope)


@each_form
def test_gradients_keep_their_digits_where_every_tanh_is_saturated(form):
    query, key, v, slope = draw(1, 2, 5, 7, 20)
    # 1 - tanh² would be 0 in single precision from x = 9 on.
    assert_near(form, query.abs() / 4 + 5, key.abs() / 4 + 5, v, slope)


@each_form
def test_zero_vectors_score_zero(form):
    zero = torch.zeros(1, 1, 3, 5)
    assert torch.equal(form.score(zero, zero, torch.ones(1, 5)), torch.zeros(1, 1, 3, 3))


@each_form
def test_infinite_and_missing_numbers_are_not_hidden(form):
    query = torch.tensor([[[[torch.inf], [-torch.inf], [torch.nan], [1.0]]]])
    score = form.score(query, torch.tensor([[[[0.5]]]]), torch.ones(1, 1)).flatten()
    torch.testing.assert_close(score, torch.tensor([1.0, -1.0, torch.nan, math.tanh(1.5)]), equal_nan=True)


@each_form
@pytest.mark.parametrize(("batch", "queries", "keys"), [(0, 2, 3), (2, 0, 3), (2, 3, 0)])
def test_nothing_to_score(form, batch, queries, keys):
    query, key, v, slope = draw(batch, 2, queries, keys, 4)
    assert form.score(query, key, v).shape == (batch, 2, queries, keys)
    assert [g.shape for g in form.gradients(query, key, v, slope)] == [query.shape, key.shape, v.shape]


@each_form
def test_heads_need_not_lie_densely(form):
    query, key, v, slope = draw(2, 3, 6, 5, 8)
    split = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (query, key)]  # as multi-head attention splits
    strided = [torch.stack([x, x], dim=-1)[..., 0] for x in (query, key)]
    for views in (split, strided):
        assert not any(view.is_contiguous() for view in views)
        assert_near(form, *views, v, slope)


@needs_kernel
@pytest.mark.parametrize("sizes", [(2, 3, 20, 30, 24), (1, 1, 200, 100, 24)])
def test_the_number_of_threads_changes_nothing(sizes):
    query, key, v, slope = draw(*sizes)

    def everything(threads):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            return native.score(query, key, v), *native.gradients(query, key, v, slope)
        finally:
            torch.set_num_threads(before)

    for one, other in zip(everything(1), everything(3), strict=True):
        assert torch.equal(one, other)


@needs_kernel
def test_memory_grows_with_pairs_and_not_with_pairs_times_d_k():
    query, key, v, slope = draw(1, 1, 1024, 1024, 512)
    native.gradients(query, key, v, slope)  # libraries, threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    native.score(query, key, v)
    native.gradients(query, key, v, slope)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 * 1024  # KiB; the textbook form holds 2 GiB


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_half_precision_is_computed_in_single_precision(dtype):
    query, key, v, slope = (tensor.to(dtype).requires_grad_() for tensor in draw(2, 2, 5, 6, 16))
    score = additive_score(query, key, v)
    assert score.dtype == dtype
    score.backward(slope)
    for found, exact in zip(
        (score, query.grad, key.grad, v.grad), textbook(query, key, v, slope.detach()), strict=True
    ):
        assert found.dtype == dtype
        # Rounded once, at the end.
        torch.testing.assert_close(found.double(), exact, rtol=torch.finfo(dtype).eps, atol=1e-6)


def test_gradients_agree_with_finite_differences():
    inputs = [tensor.double().requires_grad_() for tensor in draw(2, 2, 3, 4, 5)[:3]]
    torch.autograd.gradcheck(additive_score, inputs)


def test_a_second_derivative_is_refused():
    query, key, v, _ = (tensor.requires_grad_() for tensor in draw(1, 1, 2, 2, 2))
    (first,) = torch.autograd.grad(additive_score(query, key, v).square().sum(), query, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_the_slot_and_its_reference_are_one_function():
    torch.manual_seed(0)
    fast = Additive(d_k=16, num_heads=2)
    torch.manual_seed(0)
    reference = AdditiveReference(d_k=16, num_heads=2)
    assert torch.equal(fast.v, reference.v)
    query, key, _, _ = draw(2, 2, 7, 9, 16)
    torch.testing.assert_close(fast(query, key), reference(query, key), rtol=1e-5, atol=1e-6)


def test_double_precision_takes_the_plain_form():
    assert form(torch.zeros(1, dtype=torch.float64)) is chunked
