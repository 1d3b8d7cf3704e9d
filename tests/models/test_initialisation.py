"""Same seed, same shared weights; and the variances that §3.2.1 reasons with."""

import hashlib
import math

import pytest
import torch
from torch import nn

from minitx.models.initialisation import forked_random_state, initialise_parameters, stable_seed
from minitx.nn.compatibility import Additive, Cosine, ScaledDotProduct, UnscaledDotProduct


def state(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def equal_where_shared(one, other):
    shared = one.keys() & other.keys()
    assert all(torch.equal(one[name], other[name]) for name in shared)
    return shared


def test_variants_at_one_seed_start_alike_wherever_they_share_a_parameter(build, variant):
    plain, found = state(build(ScaledDotProduct)), state(build(variant))
    assert equal_where_shared(plain, found) == plain.keys()
    assert all(".compatibility." in name for name in found.keys() - plain.keys())


def test_one_site_set_apart_leaves_the_others_alone(build):
    equal_where_shared(state(build(Additive)), state(build(Additive, cross_attention=Cosine)))


def test_another_seed_gives_other_numbers(build):
    one, other = state(build(Additive, seed=1)), state(build(Additive, seed=2))
    for name in one:
        if not name.endswith("bias") and ".norm." not in name:
            assert not torch.equal(one[name], other[name]), name


def test_no_two_parameters_are_drawn_alike(build):
    drawn = [p for n, p in state(build(Additive)).items() if not n.endswith("bias") and ".norm." not in n]
    first = [parameter.flatten()[0].item() for parameter in drawn]
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("changes", [{"num_layers": 4}, {"num_decoder_layers": 5}, {"norm": "pre"}, {"max_length": 99}])
def test_a_deeper_model_starts_as_the_shallower_one_in_the_layers_they_share(build, changes):
    plain = state(build(Additive))
    assert equal_where_shared(plain, state(build(Additive, **changes))) == plain.keys()


def test_the_stable_seed_is_known():
    """The first 63 bits of SHA-256, so neither Python's salted hash nor the order of the draws has a say."""
    assert stable_seed(1, "embedding.weight") == 0xFF5DB262E516118E >> 1
    for seed, name in [(0, "a"), (3, "encoder.0.self_attention"), (2**40, "é")]:
        digest = hashlib.sha256(f"{seed}/{name}".encode()).hexdigest()
        assert stable_seed(seed, name) == int(digest[:16], 16) // 2
    assert stable_seed(1, "1/a") != stable_seed(11, "/a")


def test_a_parameter_follows_from_its_seed_and_name_alone(build):
    generator = torch.Generator().manual_seed(0xFF5DB262E516118E >> 1)
    expected = torch.empty(13, 16).normal_(0.0, 0.25, generator=generator)
    assert torch.equal(build().embedding.weight.detach(), expected)


@pytest.mark.parametrize("prefixes", [["module"], ["_orig_mod"], ["module", "_orig_mod"]])
def test_the_prefixes_of_wrappers_do_not_count(build, prefixes):
    expected, model = state(build(Additive)), build(Additive, seed=9)
    wrapped = model
    for prefix in prefixes:
        wrapped = nn.ModuleDict({prefix: wrapped})
    # As a compiled layer inside a plain model has it.
    model.encoder[0].feed_forward = nn.Sequential()
    model.encoder[0].feed_forward.add_module("_orig_mod", build(seed=8).encoder[0].feed_forward)
    initialise_parameters(wrapped, seed=1)
    found = {name.replace("_orig_mod.", "").replace("module.", ""): p for name, p in state(wrapped).items()}
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found if ".compatibility." not in name)


def test_a_tied_parameter_goes_by_its_first_name():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
            self.second.weight = self.first.weight

    class Alone(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3)

    tied, alone = Tied(), Alone()
    initialise_parameters(tied, seed=1)
    initialise_parameters(alone, seed=1)
    assert torch.equal(tied.second.weight, alone.first.weight)


class Bahdanau(nn.Module):
    """Somebody's variant that holds linear maps, and starts them in its own way."""

    def __init__(self, *, d_k, num_heads):
        super().__init__()
        self.query_projection, self.output = nn.Linear(d_k, d_k), nn.Linear(d_k, 1)
        nn.init.eye_(self.query_projection.weight)
        nn.init.constant_(self.query_projection.bias, 0.5)

    def forward(self, query, key):
        hidden = torch.tanh(self.query_projection(query).unsqueeze(-2) + key.unsqueeze(-3))
        return self.output(hidden).squeeze(-1)


def test_compatibility_functions_keep_what_their_constructors_drew(build):
    model, again, other = build(Bahdanau), build(Bahdanau), build(Bahdanau, seed=2)
    site = model.encoder[0].self_attention.compatibility
    assert torch.equal(site.query_projection.weight, torch.eye(8))
    assert (site.query_projection.bias == 0.5).all()
    assert torch.equal(site.output.weight, again.encoder[0].self_attention.compatibility.output.weight)
    assert not torch.equal(site.output.weight, other.encoder[0].self_attention.compatibility.output.weight)
    with forked_random_state(1, "encoder.0.self_attention"):
        assert torch.equal(site.output.weight, Bahdanau(d_k=8, num_heads=2).output.weight)


def test_the_sites_of_a_model_start_differently(build):
    model = build(Additive)
    sites = [module.v for module in model.modules() if isinstance(module, Additive)]
    assert len({v.flatten()[0].item() for v in sites}) == len(sites) == 6


def test_building_leaves_the_random_state_as_it_was(build, variant):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    built = state(build(variant))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert equal_where_shared(built, state(build(variant))) == built.keys()


def test_building_does_not_seed_accelerators(build, monkeypatch):
    """Their state is not forked, so a seed set there would stay and rule every later draw, dropout's included."""
    seeded = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    monkeypatch.setattr(torch, "manual_seed", seeded.append)
    build(Additive)
    assert not seeded


def test_draws_after_a_fork_go_on_as_if_there_had_been_none():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with forked_random_state(1, "site"):
        inside = torch.rand(3)
    assert torch.equal(torch.rand(3), expected)
    with forked_random_state(1, "site"):
        assert torch.equal(torch.rand(3), inside)


@pytest.mark.parametrize("d_k", [16, 64, 256, 1024])
@pytest.mark.parametrize("kind", [ScaledDotProduct, UnscaledDotProduct])
def test_unit_variance_input_gives_the_moments_of_section_3_2_1_at_every_d_k(build, kind, d_k):
    """Queries and keys of variance 1; scores of variance 1 (scaled) or d_k (unscaled, footnote 4)."""
    model, seen = build(kind, d_model=256, num_heads=2, num_layers=1, d_k=d_k), {}
    sites = {"encoder": model.encoder[0].self_attention, "cross": model.decoder[0].cross_attention}
    generator = torch.Generator().manual_seed(0)
    for site in sites.values():
        site.compatibility.register_forward_hook(
            lambda module, inputs, scores: seen.update(query=inputs[0], key=inputs[1], scores=scores)
        )
        queries, memory = torch.randn(2, 8, 64, 256, generator=generator)
        site(queries, memory, None)
        assert seen["query"].var().item() == pytest.approx(1.0, rel=0.06)
        assert seen["key"].var().item() == pytest.approx(1.0, rel=0.06)
        expected = d_k if kind is UnscaledDotProduct else 1.0
        assert seen["scores"].var().item() == pytest.approx(expected, rel=0.1)
        assert abs(seen["scores"].mean().item()) < 0.05 * math.sqrt(expected)


def test_the_embedding_gives_unit_variance(build):
    model = build(vocab_size=2000, d_model=64)
    assert (model.embedding.weight * 8.0).var().item() == pytest.approx(1.0, rel=0.02)


def test_every_other_matrix_is_xavier_uniform(build):
    model = build(d_model=64, d_ff=128, d_v=48)
    matrices = [module for module in model.modules() if isinstance(module, nn.Linear)]
    assert len(matrices) == 2 * (4 + 2) + 2 * (8 + 2)
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and not name.endswith(("query_projection", "key_projection")):
            fan_out, fan_in = module.weight.shape
            bound = math.sqrt(6 / (fan_in + fan_out))
            assert 0.98 * bound < module.weight.abs().max().item() <= bound, name
            assert module.weight.var().item() == pytest.approx(bound**2 / 3, rel=0.1), name


def test_xavier_is_an_option_for_queries_and_keys(build):
    """Over all heads at once it shrinks them: variance 0.4 at d_model 128 and one head of 512."""
    model = build(d_model=128, num_heads=1, d_k=512, initialisation="xavier")
    site, bound = model.encoder[0].self_attention, math.sqrt(6 / (128 + 512))
    for projection in (site.query_projection, site.key_projection):
        assert 0.99 * bound < projection.weight.abs().max().item() <= bound
        vectors = torch.randn(4, 64, 128, generator=torch.Generator().manual_seed(0))
        assert projection(vectors).var().item() == pytest.approx(0.4, rel=0.05)
    others = state(build(d_model=128, num_heads=1, d_k=512)), state(model)
    for name in others[0]:
        is_query_or_key = name.endswith(("query_projection.weight", "key_projection.weight"))
        assert torch.equal(others[0][name], others[1][name]) != is_query_or_key


def test_a_small_query_makes_unscaled_attention_begin_as_scaled(build):
    """The same function at step 0 with other weights: in exact numbers, since √16 is a power of two."""
    source = torch.tensor([[3, 4, 5, 2], [6, 2, 0, 0]])
    scaled = build(ScaledDotProduct, d_k=16)
    small = build(UnscaledDotProduct, d_k=16, initialisation="small_query")
    assert torch.equal(scaled(source, source), small(source, source))
    assert not torch.allclose(scaled(source, source), build(UnscaledDotProduct, d_k=16)(source, source), atol=1e-3)
    others = state(scaled), state(small)
    for name in others[0]:
        factor = 4.0 if name.endswith("query_projection.weight") else 1.0
        assert torch.equal(others[0][name], factor * others[1][name]), name


def test_biases_are_zero_and_gains_one_also_when_drawn_again(build):
    model = build(norm="pre")
    for parameter in model.parameters():
        nn.init.constant_(parameter, 7.0)
    initialise_parameters(model, seed=1)
    expected = state(build(norm="pre"))
    assert equal_where_shared(expected, state(model)) == expected.keys()
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        elif "norm" in name:
            assert (parameter == 1).all()
