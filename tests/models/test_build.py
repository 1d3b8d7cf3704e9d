"""The parts that a model is made of, its size in closed form, and what its numbers must satisfy."""

import pytest
import torch
from torch import nn

from minitx.errors import UserError
from minitx.models.build import build_transformer
from minitx.models.transformer import parameter_counts
from minitx.nn.compatibility import Additive, Bilinear, Cosine, InverseDk, ScaledDotProduct, UnscaledDotProduct
from minitx.nn.dropout import Dropout
from minitx.nn.residual import PostNorm, PreNorm

TINY = {"d_model": 128, "d_ff": 256, "num_heads": 4, "num_layers": 4, "norm": "pre", "vocab_size": 10_000}


def closed_form(*, vocab_size, d_model, d_ff, num_heads, num_layers, norm, d_k=None, d_v=None, num_decoder_layers=None):
    """Parameters by part, from the shapes in §3."""
    d_k, d_v = d_k or d_model // num_heads, d_v or d_model // num_heads
    attention = 2 * d_model * num_heads * d_k + 2 * d_model * num_heads * d_v  # W^Q, W^K; W^V, W^O
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    layer_norm = 2 * d_model
    counts = {
        "embedding": vocab_size * d_model,
        "encoder": num_layers * (attention + feed_forward + 2 * layer_norm),
        "decoder": (num_decoder_layers or num_layers) * (2 * attention + feed_forward + 3 * layer_norm),
    }
    if norm == "pre":
        counts |= {"encoder_norm": layer_norm, "decoder_norm": layer_norm}
    return counts | {"total": sum(counts.values())}


@pytest.mark.parametrize(
    "sizes",
    [
        TINY,
        TINY | {"norm": "post"},
        TINY | {"d_k": 512, "num_heads": 1},
        TINY | {"d_k": 24, "d_v": 40, "num_heads": 3, "num_layers": 2, "num_decoder_layers": 1},
    ],
    ids=["tiny", "post", "one_wide_head", "each_its_own"],
)
def test_parameter_counts_are_the_closed_form(build, sizes):
    assert parameter_counts(build(**sizes)) == closed_form(**sizes)


def test_tiny_has_two_point_six_million_parameters(build):
    assert parameter_counts(build(**TINY))["total"] == 2_599_424


def test_what_each_variant_adds(build, variant):
    """12 sites: one in each of 4 encoder layers, two in each of 4 decoder layers; h = 4 and d_k = 32."""
    per_site = {Additive: 4 * 32, Bilinear: 4 * 32**2, Cosine: 4}.get(variant, 0)
    counts, plain = parameter_counts(build(variant, **TINY)), closed_form(**TINY)
    assert counts["encoder"] - plain["encoder"] == 4 * per_site
    assert counts["decoder"] - plain["decoder"] == 8 * per_site
    assert counts["total"] - plain["total"] == 12 * per_site


def test_the_three_sites_can_be_set_apart(build):
    model = build(encoder_self_attention=UnscaledDotProduct, decoder_self_attention=Cosine, cross_attention=InverseDk)
    assert all(type(layer.self_attention.compatibility) is UnscaledDotProduct for layer in model.encoder)
    assert all(type(layer.self_attention.compatibility) is Cosine for layer in model.decoder)
    assert all(type(layer.cross_attention.compatibility) is InverseDk for layer in model.decoder)


def test_each_site_is_asked_for_by_name_and_gets_its_own(build):
    asked = []

    def factory(**numbers):
        asked.append(numbers)
        return Additive(**numbers)

    model = build(factory, num_layers=2, num_decoder_layers=3, d_k=5)
    assert asked == [{"d_k": 5, "num_heads": 2}] * (2 + 2 * 3)
    sites = [module for module in model.modules() if isinstance(module, Additive)]
    assert len({id(site.v) for site in sites}) == len(asked)


@pytest.mark.parametrize(("norm", "residual", "end"), [("pre", PreNorm, nn.LayerNorm), ("post", PostNorm, nn.Identity)])
def test_a_pre_norm_stack_ends_in_a_norm_and_a_post_norm_stack_does_not(build, norm, residual, end):
    model = build(norm=norm)
    assert {type(r) for layer in [*model.encoder, *model.decoder] for r in layer.residuals} == {residual}
    assert type(model.encoder_norm) is type(model.decoder_norm) is end


def test_the_paper_is_the_default(build):
    assert type(build().encoder[0].residuals[0]) is PostNorm


def test_dropout_is_where_section_5_4_has_it_and_elsewhere_by_argument(build):
    """On the output of each sub-layer and on the embeddings."""

    def rates(model, *places):
        found = {name: part.p for name, part in model.named_modules() if isinstance(part, Dropout)}
        kinds = {"attention": "attention.dropout", "activation": "feed_forward.dropout"}
        return [{rate for name, rate in found.items() if name.endswith(kinds[place])} for place in places], {
            rate for name, rate in found.items() if not name.endswith(tuple(kinds.values()))
        }

    assert rates(build(dropout=0.25), "attention", "activation") == ([{0.0}, {0.0}], {0.25})
    model = build(dropout=0.25, attention_dropout=0.125, activation_dropout=0.375)
    assert rates(model, "attention", "activation") == ([{0.125}, {0.375}], {0.25})
    assert sum(isinstance(part, Dropout) for part in model.modules()) == 1 + 2 * (2 + 2) + 2 * (3 + 3)


def test_d_k_and_d_v_are_numbers_of_their_own(build):
    site = build(num_heads=3, d_k=5, d_v=7).decoder[0].cross_attention
    assert site.query_projection.weight.shape == site.key_projection.weight.shape == (15, 16)
    assert site.value_projection.weight.shape == (21, 16)
    assert site.output_projection.weight.shape == (16, 21)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"num_heads": 3}, r"model.d_model=16 is not a multiple of model.num_heads=3: .*give model.d_k and model.d_v"),
        ({"num_heads": 3, "d_k": 8}, r"is not a multiple of model.num_heads=3"),
        ({"d_k": -8}, r"model.d_k=-8: it must be a whole number, 1 or more"),
        ({"d_k": 0}, r"model.d_k=0: "),
        ({"d_v": 0}, r"model.d_v=0: "),
        ({"num_heads": 0}, r"model.num_heads=0: "),
        ({"d_model": 0}, r"model.d_model=0: "),
        ({"d_ff": -1}, r"model.d_ff=-1: "),
        ({"num_layers": 0}, r"model.num_layers=0: "),
        ({"num_decoder_layers": 0}, r"model.num_decoder_layers=0: "),
        ({"max_length": 0}, r"model.max_length=0: "),
        ({"d_model": 15, "num_heads": 3}, r"model.d_model=15: it must be even"),
        ({"dropout": 1.0}, r"model.dropout=1.0: it must be 0 or more and less than 1"),
        ({"dropout": -0.1}, r"model.dropout=-0.1: "),
        ({"norm": "rms"}, r"model.norm=rms: choose pre or post"),
        ({"initialisation": "xaver"}, r"model.initialisation=xaver: choose variance, small_query or xavier"),
    ],
    ids=str,
)
def test_numbers_that_do_not_go_together_are_named(build, changes, sentence):
    with pytest.raises(UserError, match=sentence):
        build(**changes)


def test_a_model_moves_between_processes_as_its_state(build):
    one, other = build(Additive, seed=1), build(Additive, seed=2)
    other.load_state_dict(one.state_dict())
    source, target = torch.tensor([[5, 6, 2]]), torch.tensor([[1, 7]])
    assert torch.equal(one(source, target), other(source, target))


def test_arguments_are_given_by_name():
    with pytest.raises(TypeError):
        build_transformer(100, 0, 1)


def test_a_head_may_be_wider_than_the_model(build):
    model = build(ScaledDotProduct, num_heads=1, d_k=64)
    assert model(torch.tensor([[5, 6, 2]]), torch.tensor([[1, 7]])).shape == (1, 2, 13)
