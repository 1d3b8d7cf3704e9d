"""Layers against the paper's equations in plain tensors, and against PyTorch's own layers with the same weights."""

import math

import pytest
import torch
from torch import nn

from minitx.models.layers import DecoderLayer, EncoderLayer
from minitx.nn.attention import MultiHeadAttention
from minitx.nn.compatibility import ScaledDotProduct
from minitx.nn.feed_forward import FeedForward
from minitx.nn.mask import causal_mask
from minitx.nn.residual import PostNorm, PreNorm

D_MODEL, HEADS, D_FF = 12, 3, 20
SOURCE_MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=torch.bool)[:, None, None]
TARGET_MASK = causal_mask(4)


def vectors(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def site(d_k=4, d_v=4):
    return MultiHeadAttention(D_MODEL, HEADS, d_k, d_v, ScaledDotProduct(d_k=d_k, num_heads=HEADS))


def layer(kind, residual, **head_sizes):
    """A layer whose every parameter, gains and biases of the norms too, is drawn at random."""
    attentions = [site(**head_sizes) for _ in range(2 if kind is DecoderLayer else 1)]
    residuals = [residual(D_MODEL) for _ in range(len(attentions) + 1)]
    built = kind(*attentions, FeedForward(D_MODEL, D_FF), residuals).double()
    for seed, parameter in enumerate(built.parameters(), start=100):
        parameter.data = 0.3 * vectors(*parameter.shape, seed=seed)
    return built


# §3 in plain tensors: nothing below this line is minitx's but the weights.


def softmax(scores):
    powers = (scores - scores.max(-1, keepdim=True).values).exp()
    return powers / powers.sum(-1, keepdim=True)


def layer_norm(x, norm):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * norm.weight + norm.bias


def multi_head(module, x, memory, mask, d_k, d_v):
    """Concat(head_1, …, head_h) W^O, head_i = softmax(Q W_i^Q (K W_i^K)ᵀ / √d_k) V W_i^V."""
    w_q, w_k = module.query_projection.weight.T, module.key_projection.weight.T
    w_v, heads = module.value_projection.weight.T, []
    for i in range(HEADS):
        of_keys, of_values = slice(i * d_k, (i + 1) * d_k), slice(i * d_v, (i + 1) * d_v)
        scores = (x @ w_q[:, of_keys]) @ (memory @ w_k[:, of_keys]).mT / math.sqrt(d_k)
        heads.append(softmax(scores.masked_fill(~mask[:, 0], -math.inf)) @ (memory @ w_v[:, of_values]))
    return torch.cat(heads, -1) @ module.output_projection.weight.T


def feed_forward(module, x):
    return (x @ module.inner.weight.T + module.inner.bias).clamp(min=0) @ module.outer.weight.T + module.outer.bias


def wrap(residual, x, sublayer):
    if isinstance(residual, PostNorm):
        return layer_norm(x + sublayer(x), residual.norm)
    return x + sublayer(layer_norm(x, residual.norm))


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
@pytest.mark.parametrize(("d_k", "d_v"), [(4, 4), (7, 3)])
def test_encoder_layer_is_the_papers_equations(residual, d_k, d_v):
    encoder, x = layer(EncoderLayer, residual, d_k=d_k, d_v=d_v), vectors(2, 5, D_MODEL)
    first, second = encoder.residuals
    expected = wrap(first, x, lambda y: multi_head(encoder.self_attention, y, y, SOURCE_MASK, d_k, d_v))
    expected = wrap(second, expected, lambda y: feed_forward(encoder.feed_forward, y))
    torch.testing.assert_close(encoder(x, SOURCE_MASK), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
@pytest.mark.parametrize(("d_k", "d_v"), [(4, 4), (7, 3)])
def test_decoder_layer_is_the_papers_equations(residual, d_k, d_v):
    decoder, x, memory = layer(DecoderLayer, residual, d_k=d_k, d_v=d_v), vectors(2, 4, D_MODEL), vectors(2, 5, D_MODEL)
    first, second, third = decoder.residuals
    expected = wrap(first, x, lambda y: multi_head(decoder.self_attention, y, y, TARGET_MASK, d_k, d_v))
    expected = wrap(second, expected, lambda y: multi_head(decoder.cross_attention, y, memory, SOURCE_MASK, d_k, d_v))
    expected = wrap(third, expected, lambda y: feed_forward(decoder.feed_forward, y))
    found = decoder(x, memory, TARGET_MASK, SOURCE_MASK)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
def test_encoder_layer_is_pytorchs(residual, copy_layer):
    mine, x = layer(EncoderLayer, residual), vectors(2, 5, D_MODEL)
    theirs = nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=residual is PreNorm
    ).double()
    copy_layer(theirs, mine)
    expected = theirs(x, src_key_padding_mask=~SOURCE_MASK[:, 0, 0])
    torch.testing.assert_close(mine(x, SOURCE_MASK), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
def test_decoder_layer_is_pytorchs(residual, copy_layer):
    mine, x, memory = layer(DecoderLayer, residual), vectors(2, 4, D_MODEL), vectors(2, 5, D_MODEL, seed=1)
    theirs = nn.TransformerDecoderLayer(
        D_MODEL, HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=residual is PreNorm
    ).double()
    copy_layer(theirs, mine)
    expected = theirs(x, memory, tgt_mask=~TARGET_MASK[0, 0], memory_key_padding_mask=~SOURCE_MASK[:, 0, 0])
    found = mine(x, memory, TARGET_MASK, SOURCE_MASK)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
def test_steps_give_what_all_positions_at_once_give(residual):
    decoder, x, memory = layer(DecoderLayer, residual), vectors(2, 4, D_MODEL), vectors(2, 5, D_MODEL, seed=1)
    projected, past, outputs = decoder.cross_attention.keys_values(memory), None, []
    for i in range(4):
        output, past = decoder.step(x[:, i : i + 1], past, projected, SOURCE_MASK)
        outputs.append(output)
        assert past.key.shape == past.value.shape == (2, HEADS, i + 1, 4)
    expected = decoder(x, memory, TARGET_MASK, SOURCE_MASK)
    torch.testing.assert_close(torch.cat(outputs, 1), expected, rtol=1e-10, atol=1e-10)
