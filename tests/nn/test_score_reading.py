"""Scores read while a whole model computes: what is read, where it comes from, and that nothing else changes."""

import math

import pytest
import torch

from minitx.models.build import build_transformer
from minitx.nn.compatibility import ScaledDotProduct, UnscaledDotProduct
from minitx.nn.score_reading import LargestScore, attention_sites, find_largest_score, read_scores

SOURCE = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])
TARGET = torch.tensor([[1, 9, 10], [1, 0, 0]])
IN_ORDER = [
    ("encoder_self_attention", 0),
    ("encoder_self_attention", 1),
    ("decoder_self_attention", 0),
    ("cross_attention", 0),
    ("decoder_self_attention", 1),
    ("cross_attention", 1),
]


@pytest.fixture
def model():
    sites = dict.fromkeys(("encoder_self_attention", "decoder_self_attention"), ScaledDotProduct)
    return build_transformer(vocab_size=20, pad_id=0, seed=3, d_model=8, d_ff=16, num_heads=2, num_layers=2,
                             dropout=0.5, cross_attention=UnscaledDotProduct, **sites)  # fmt: skip


def read_all(model):
    found = []
    read_scores(model, SOURCE, TARGET, found.append)
    return found


def test_every_attention_is_read_in_the_order_of_computation(model):
    found = read_all(model)
    assert [(these.site.name, these.site.layer) for these in found] == IN_ORDER
    assert [(site.name, site.layer) for site in attention_sites(torch.nn.Sequential(model))] == IN_ORDER
    for these in found:
        assert torch.equal(these.weights, these.site.attention.softmax(these.scores, these.mask))
        encoder = these.site.name == "encoder_self_attention"
        assert torch.equal(these.real, (SOURCE if encoder else TARGET) != 0)


def test_the_scores_are_those_of_the_model(model):
    seen = []
    for site in attention_sites(model):
        site.attention.compatibility.register_forward_hook(lambda module, inputs, scores: seen.append(scores))
    found = read_all(model)
    seen.clear()
    model.eval()(SOURCE, TARGET)
    assert all(torch.equal(these.scores, scores) for these, scores in zip(found, seen, strict=True))


def test_reading_leaves_modes_random_state_and_gradients_alone(model):
    model.train()
    model.decoder[0].eval()
    modes = [module.training for module in model.modules()]
    state = torch.get_rng_state()
    first, second = read_all(model), read_all(model)
    assert [module.training for module in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert all(parameter.grad is None for parameter in model.parameters())
    for one, other in zip(first, second, strict=True):  # without dropout, which is 0.5
        assert torch.equal(one.scores, other.scores)
        assert not one.scores.requires_grad
    assert not any(module._forward_hooks for module in model.modules())


def test_hooks_go_when_reading_fails(model):
    def fail(these):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        read_scores(model, SOURCE, TARGET, fail)
    assert not any(module._forward_hooks for module in model.modules())
    assert model.training


def test_the_largest_score_is_found_at_its_site_layer_and_head(model):
    found = find_largest_score(model, SOURCE, TARGET)
    best = None
    for these in read_all(model):
        for b, head, i, j in torch.cartesian_prod(*map(torch.arange, these.scores.shape)).tolist():
            allowed = these.mask.expand_as(these.scores)[b, head, i, j] and these.real[b, i]
            value = abs(float(these.scores[b, head, i, j]))
            if allowed and (best is None or value > best.value):
                best = LargestScore(these.site.name, these.site.layer, head, value)
    assert found == best


@pytest.mark.parametrize(("name", "layer"), IN_ORDER)
@pytest.mark.parametrize("factor", [1e6, 1e30, math.inf, math.nan])
def test_the_attention_whose_weights_are_out_of_hand_is_named(model, name, layer, factor):
    [site] = [site for site in attention_sites(model) if (site.name, site.layer) == (name, layer)]
    with torch.no_grad():  # head 1 of 2, d_k 4
        site.attention.query_projection.weight[4:] *= factor
        site.attention.key_projection.weight[4:] *= factor
    found = find_largest_score(model, SOURCE, TARGET)
    assert (found.site, found.layer, found.head) == (name, layer, 1)
    assert (math.isfinite(found.value)) == (factor == 1e6)


def test_a_model_without_attention_has_no_score(model):
    class Nothing(torch.nn.Module):
        pad_id = 0

        def encode(self, source):
            return source

        def decode(self, target_input, memory, mask):
            return memory

    assert find_largest_score(Nothing(), SOURCE, TARGET) is None
