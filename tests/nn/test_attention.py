"""Eq. 1 and the equations of §3.2.2 against brute force and PyTorch's own attention, masks and half precision."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from minitx.nn.attention import KeysValues, MaskedSoftmax, MultiHeadAttention, attention
from minitx.nn.compatibility import Cosine, InverseDk, ScaledDotProduct, UnscaledDotProduct
from minitx.nn.mask import causal_mask

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
BATCH, HEADS, LENGTH, D_K, D_V = 2, 3, 6, 8, 5

quick = settings(max_examples=25, deadline=None, derandomize=True)


def vectors(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def attend(query, key, value, mask, function, dropout=None):
    return attention(query, key, value, mask, function, MaskedSoftmax(), dropout or nn.Identity())


def some_keys(queries=LENGTH, keys=LENGTH, batch=BATCH, heads=HEADS):
    """A mask without pattern, that leaves each query its first key."""
    mask = vectors(batch, heads, queries, keys, seed=9) > 0
    mask[..., 0] = True
    return mask


MASKS = {
    "none": None,
    "causal": causal_mask(LENGTH),
    "padding": torch.tensor([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]], dtype=torch.bool)[:, None, None],
    "each_its_own": some_keys(),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize(
    ("function", "scale"),
    [(ScaledDotProduct, 1 / math.sqrt(D_K)), (UnscaledDotProduct, 1.0), (InverseDk, 1 / D_K)],
    ids=["scaled", "unscaled", "inverse_d_k"],
)
def test_output_and_gradients_are_those_of_pytorch(function, scale, mask):
    inputs = [vectors(BATCH, HEADS, LENGTH, width, seed=i) for i, width in enumerate((D_K, D_K, D_V))]
    mine, theirs = [[x.clone().requires_grad_() for x in inputs] for _ in range(2)]
    output = attend(*mine, mask, function(d_k=D_K, num_heads=HEADS))
    expected = scaled_dot_product_attention(*theirs, attn_mask=mask, scale=scale)
    torch.testing.assert_close(output, expected, rtol=1e-12, atol=1e-12)
    upstream = vectors(*output.shape, seed=5)
    for found, wanted in zip(
        torch.autograd.grad(output, mine, upstream), torch.autograd.grad(expected, theirs, upstream), strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-11)


def test_output_is_the_weighted_sum_of_values_written_as_loops(variant):
    function = variant(d_k=D_K, num_heads=HEADS).double()
    query, key = vectors(BATCH, HEADS, 4, D_K), vectors(BATCH, HEADS, 5, D_K, seed=1)
    value, mask = vectors(BATCH, HEADS, 5, D_V, seed=2), some_keys(4, 5)
    scores, output = function(query, key), attend(query, key, value, mask, function)
    for b in range(BATCH):
        for h in range(HEADS):
            for i in range(4):
                allowed = [j for j in range(5) if mask[b, h, i, j]]
                powers = {j: math.exp(scores[b, h, i, j].item()) for j in allowed}
                for d in range(D_V):
                    expected = sum(powers[j] * value[b, h, j, d].item() for j in allowed) / sum(powers.values())
                    assert output[b, h, i, d].item() == pytest.approx(expected, rel=1e-10, abs=1e-12)


@quick
@given(
    scores=st.lists(st.floats(-50, 50), min_size=4, max_size=4), allowed=st.lists(st.booleans(), min_size=4, max_size=4)
)
def test_weights_are_a_softmax_over_the_allowed_keys(scores, allowed):
    weights = MaskedSoftmax()(
        torch.tensor(scores, dtype=torch.float64).view(1, 1, 1, 4), torch.tensor(allowed).view(1, 1, 1, 4)
    )
    powers = [math.exp(score) if may else 0.0 for score, may in zip(scores, allowed, strict=True)]
    expected = [power / sum(powers) if any(allowed) else 0.0 for power in powers]
    assert weights.flatten().tolist() == pytest.approx(expected, rel=1e-9, abs=1e-30)
    assert all(weight == 0.0 for weight, may in zip(weights.flatten().tolist(), allowed, strict=True) if not may)


@quick
@given(order=st.permutations(range(LENGTH)))
def test_the_order_of_keys_does_not_matter(order):
    query, key, value = vectors(1, 1, 3, D_K), vectors(1, 1, LENGTH, D_K, seed=1), vectors(1, 1, LENGTH, D_V, seed=2)
    mask, function = some_keys(3, LENGTH, 1, 1), ScaledDotProduct(d_k=D_K, num_heads=1)
    expected = attend(query, key, value, mask, function)
    found = attend(query, key[:, :, order], value[:, :, order], mask[..., order], function)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_masked_keys_and_values_do_not_reach_the_output(variant):
    function = variant(d_k=D_K, num_heads=HEADS).double()
    query, mask = vectors(BATCH, HEADS, LENGTH, D_K), MASKS["padding"]
    key, value = vectors(BATCH, HEADS, LENGTH, D_K, seed=1), vectors(BATCH, HEADS, LENGTH, D_V, seed=2)
    hidden = ~mask.transpose(-2, -1)
    changed_key, changed_value = key.masked_fill(hidden, 1e3), value.masked_fill(hidden, -1e3)
    expected = attend(query, key, value, mask, function)
    torch.testing.assert_close(attend(query, changed_key, changed_value, mask, function), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("d_k", [8, 512])
def test_n1_a_fully_masked_row_gives_zero_and_finite_gradients(variant, dtype, d_k):
    torch.manual_seed(0)
    function = variant(d_k=d_k, num_heads=HEADS).to(dtype)
    query, key = vectors(BATCH, HEADS, 4, d_k, dtype=dtype), vectors(BATCH, HEADS, 5, d_k, seed=1, dtype=dtype)
    value, mask = vectors(BATCH, HEADS, 5, D_V, seed=2, dtype=dtype), some_keys(4, 5)
    mask[0, :, 2] = False
    mask[1] = False
    sources = [x.requires_grad_() for x in (query, key, value)] + list(function.parameters())
    output = attend(query, key, value, mask, function)
    assert output.dtype == dtype
    assert output.isfinite().all()
    assert not output[0, :, 2].any()
    assert not output[1].any()
    assert output[0, :, 0].any()
    with torch.autograd.set_detect_anomaly(True):  # not a NaN on the way either
        gradients = torch.autograd.grad(output, sources, vectors(*output.shape, seed=3, dtype=dtype))
    for source, gradient in zip(sources, gradients, strict=True):
        assert gradient.dtype == source.dtype
        assert gradient.isfinite().all()
        assert gradient.any()
    assert not gradients[0][0, :, 2].any()
    assert not any(gradient[1].any() for gradient in gradients[:3])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("score", [-60_000.0, -100.0, 0.0, 60_000.0])
def test_n2_the_mask_constant_neither_overflows_nor_loses_to_a_score(score, dtype):
    scores = torch.full((1, 1, 1, 4), score, dtype=dtype)
    weights = MaskedSoftmax()(scores, torch.tensor([True, True, False, False]).view(1, 1, 1, 4))
    assert weights.dtype == dtype
    assert weights.flatten().tolist() == [0.5, 0.5, 0.0, 0.0]


def test_n2_half_precision_is_close_to_double_precision(variant):
    torch.manual_seed(0)
    function = variant(d_k=64, num_heads=HEADS)
    query, key = 0.5 * vectors(BATCH, HEADS, LENGTH, 64), 0.5 * vectors(BATCH, HEADS, LENGTH, 64, seed=1)
    value, mask = vectors(BATCH, HEADS, LENGTH, D_V, seed=2), some_keys()
    expected = attend(query, key, value, mask, function.double())
    found = attend(query.half(), key.half(), value.half(), mask, function.half())
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=0.03)


class Recorder(nn.Module):
    """A compatibility function that keeps what it is asked."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, query, key):
        self.seen.append((query, key))
        return query @ key.transpose(-2, -1)


def multi_head(function=None, dropout=0.0, d_model=12):
    torch.manual_seed(0)
    function = function or ScaledDotProduct(d_k=D_K, num_heads=HEADS)
    return MultiHeadAttention(d_model, HEADS, D_K, D_V, function, dropout).double()


def test_multi_head_attention_is_the_equations_head_by_head(variant):
    """§3.2.2, with d_model 12, d_k 8 and d_v 5, none of which follows from another."""
    site = multi_head(variant(d_k=D_K, num_heads=HEADS))
    queries, memory, mask = vectors(BATCH, 4, 12), vectors(BATCH, 7, 12, seed=1), some_keys(4, 7, heads=1)
    heads = []
    for i in range(HEADS):
        w_query = site.query_projection.weight[i * D_K : (i + 1) * D_K].T
        w_key = site.key_projection.weight[i * D_K : (i + 1) * D_K].T
        w_value = site.value_projection.weight[i * D_V : (i + 1) * D_V].T
        # Every head of this stack holds the same vectors; its own one counts.
        query, key = [x[:, None].expand(-1, HEADS, -1, -1) for x in (queries @ w_query, memory @ w_key)]
        scores = site.compatibility(query, key)[:, i].masked_fill(~mask[:, 0], -torch.inf)
        heads.append(scores.softmax(-1) @ (memory @ w_value))
    expected = torch.cat(heads, dim=-1) @ site.output_projection.weight.T
    torch.testing.assert_close(site(queries, memory, mask), expected, rtol=1e-11, atol=1e-11)


def test_multi_head_attention_has_no_biases():
    assert all(name.endswith("weight") for name, _ in multi_head().named_parameters())


def test_queries_come_from_the_first_argument_and_keys_from_the_second():
    site = multi_head(recorder := Recorder())
    queries, memory = vectors(BATCH, 4, 12), vectors(BATCH, 7, 12, seed=1)
    site(queries, memory, None)
    query, key = recorder.seen[0]
    assert query.shape == (BATCH, HEADS, 4, D_K)
    assert key.shape == (BATCH, HEADS, 7, D_K)
    torch.testing.assert_close(query[:, 1], site.query_projection(queries)[..., D_K : 2 * D_K])
    torch.testing.assert_close(key[:, 2], site.key_projection(memory)[..., 2 * D_K :])


def test_hooks_read_raw_scores_and_weights(variant):
    site, seen = multi_head(variant(d_k=D_K, num_heads=HEADS)), {}
    site.compatibility.register_forward_hook(lambda module, inputs, scores: seen.update(scores=scores))
    site.softmax.register_forward_hook(lambda module, inputs, weights: seen.update(inputs=inputs, weights=weights))
    x, mask = vectors(BATCH, LENGTH, 12), causal_mask(LENGTH)
    site(x, x, mask)
    assert seen["scores"].shape == seen["weights"].shape == (BATCH, HEADS, LENGTH, LENGTH)
    assert seen["inputs"][0] is seen["scores"]
    assert seen["inputs"][1] is mask
    assert seen["scores"].triu(1).any()  # unmasked
    assert not seen["weights"].triu(1).any()
    torch.testing.assert_close(seen["weights"].sum(-1), torch.ones(BATCH, HEADS, LENGTH, dtype=torch.float64))


def test_kept_keys_and_values_give_the_same_output():
    site, queries, memory = multi_head(), vectors(BATCH, 4, 12), vectors(BATCH, 7, 12, seed=1)
    kept = site.keys_values(memory[:, :3]).append(site.keys_values(memory[:, 3:]))
    torch.testing.assert_close(site.attend(queries, kept, None), site(queries, memory, None), rtol=1e-12, atol=1e-12)


@quick
@given(rows=st.lists(st.integers(0, 2), max_size=6))
def test_selected_rows_are_reordered_repeated_and_dropped(rows):
    kept = KeysValues(vectors(3, HEADS, 4, D_K), vectors(3, HEADS, 4, D_V, seed=1))
    selected = kept.select(torch.tensor(rows, dtype=torch.long))
    assert torch.equal(selected.key, torch.stack([kept.key[row] for row in rows]) if rows else kept.key[:0])
    assert torch.equal(selected.value, torch.stack([kept.value[row] for row in rows]) if rows else kept.value[:0])


def test_dropout_acts_on_the_weights_and_only_in_training():
    value = torch.eye(LENGTH, dtype=torch.float64).expand(1, 1, -1, -1)  # the output is then the weights
    query, key = vectors(1, 1, 1000, D_K), vectors(1, 1, LENGTH, D_K, seed=1)
    function, dropout = Cosine(d_k=D_K, num_heads=1).double(), nn.Dropout(0.25)
    torch.manual_seed(0)
    weights = attend(query, key, value, None, function)
    dropped = attend(query, key, value, None, function, dropout)
    kept = dropped != 0
    assert kept.double().mean().item() == pytest.approx(0.75, abs=0.03)
    torch.testing.assert_close(dropped[kept], weights[kept] / 0.75)
    assert torch.equal(attend(query, key, value, None, function, dropout.eval()), weights)


def test_the_probability_of_dropout_reaches_the_weights():
    site, x = multi_head(dropout=1.0), vectors(BATCH, LENGTH, 12)
    assert not site(x, x, None).any()
    assert site.eval()(x, x, None).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_keys_get_no_weight_however_low_the_others_scores_are(dtype):
    mask = torch.tensor([True, True, False, False])[None, None, None]
    scores = torch.tensor([[-torch.inf, -torch.inf, 0, 5], [torch.finfo(dtype).min] * 4, [-torch.inf, -9, 0, 5]])
    weights = MaskedSoftmax()(scores.to(dtype)[None, None], mask)
    assert (weights[..., 2:] == 0).all()
    assert weights[0, 0, 2].tolist() == [0, 1, 0, 0]
    assert weights.isfinite().all()
