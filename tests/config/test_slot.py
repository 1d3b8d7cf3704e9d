"""The slot: which class is built at each attention site, from the command line, a value and an experiment."""

from pathlib import Path

import hydra
import pytest

from minitx.config import compose
from minitx.errors import UserError
from minitx.nn import compatibility

SITES = ("encoder_self_attention", "decoder_self_attention", "cross_attention")
CLASSES = {
    "scaled": compatibility.ScaledDotProduct,
    "unscaled": compatibility.UnscaledDotProduct,
    "additive": compatibility.Additive,
    "additive_reference": compatibility.AdditiveReference,
    "bilinear": compatibility.Bilinear,
    "cosine": compatibility.Cosine,
    "inverse_d_k": compatibility.InverseDk,
}
SMALL = ["model.num_layers=1", "model.d_model=8", "model.d_ff=8", "model.num_heads=2"]


def built(overrides: list[str]) -> list[type]:
    """The classes at the three sites of the model that these overrides describe."""
    config = compose([*SMALL, *overrides])
    model = hydra.utils.instantiate(config.model, vocab_size=11, pad_id=0, seed=config.seed)
    return [
        type(model.encoder[0].self_attention.compatibility),
        type(model.decoder[0].self_attention.compatibility),
        type(model.decoder[0].cross_attention.compatibility),
    ]


@pytest.mark.parametrize("name", CLASSES)
def test_an_option_reaches_every_site(name: str) -> None:
    assert built([f"attention={name}"]) == [CLASSES[name]] * 3


def test_every_shipped_option_is_in_this_file(configs: Path) -> None:
    assert {file.stem for file in (configs / "attention").glob("*.yaml")} == set(CLASSES)


@pytest.mark.parametrize("apart", range(3))
@pytest.mark.parametrize("everywhere", ["scaled", "bilinear"])
def test_an_option_for_one_site_leaves_the_others(everywhere: str, apart: int) -> None:
    expected = [CLASSES[everywhere]] * 3
    expected[apart] = CLASSES["additive"]

    assert built([f"attention={everywhere}", f"attention@model.{SITES[apart]}=additive"]) == expected


def test_all_sites_apart() -> None:
    names = ("cosine", "unscaled", "inverse_d_k")

    overrides = [f"attention@model.{site}={name}" for site, name in zip(SITES, names, strict=True)]

    assert built(overrides) == [CLASSES[name] for name in names]


@pytest.mark.parametrize("order", [1, -1])
def test_a_target_as_a_value_reaches_every_site_not_set_apart(order: int) -> None:
    overrides = ["attention._target_=minitx.nn.compatibility.Cosine", "attention@model.cross_attention=additive"]

    assert built(overrides[::order]) == [CLASSES["cosine"], CLASSES["cosine"], CLASSES["additive"]]


@pytest.mark.parametrize("apart", range(3))
def test_a_target_as_a_value_for_one_site_needs_no_plus(apart: int) -> None:
    expected = [CLASSES["bilinear"]] * 3
    expected[apart] = CLASSES["cosine"]

    site = f"model.{SITES[apart]}._target_=minitx.nn.compatibility.Cosine"

    assert built(["attention=bilinear", site]) == expected


def test_a_target_as_a_value_replaces_a_site_s_option() -> None:
    overrides = [
        "attention@model.cross_attention=additive",
        "model.cross_attention._target_=minitx.nn.compatibility.Cosine",
    ]

    assert built(overrides) == [CLASSES["scaled"], CLASSES["scaled"], CLASSES["cosine"]]


def test_an_experiment_sets_a_site_apart_and_the_command_line_wins(outside: str) -> None:
    from outside_scores.scores import Distance

    assert built([outside, "experiment=far"])[2] is Distance
    assert built([outside, "experiment=far", "attention=additive"]) == [*[CLASSES["additive"]] * 2, Distance]
    assert built([outside, "experiment=far", "attention@model.cross_attention=cosine"])[2] is CLASSES["cosine"]
    assert built([outside, "experiment=far", "~attention@model.cross_attention"]) == [CLASSES["scaled"]] * 3


def test_outside_variant_by_target(outside: str) -> None:
    from outside_scores.scores import Distance

    assert built(["attention._target_=outside_scores.scores.Distance"]) == [Distance] * 3


@pytest.mark.parametrize("form", ["file", "pkg"])
def test_outside_variant_by_search_path(outside: str, form: str) -> None:
    from outside_scores.scores import Distance

    search_path = outside if form == "file" else "hydra.searchpath=[pkg://outside_scores.configs]"

    assert built([search_path, "attention=distance"]) == [Distance] * 3
    config = compose([search_path, "attention=distance", "attention.temperature=3"])
    assert [config.model[site].temperature for site in SITES] == [3, 3, 3]


def test_no_key_of_a_replaced_option_survives(outside: str) -> None:
    anything = "_target_=outside_scores.scores.Anything"

    for overrides in (["attention=distance", f"attention.{anything}"], ["attention=scaled", f"attention.{anything}"]):
        config = compose([outside, *overrides])
        assert set(config.attention) == set(config.model.cross_attention) == {"_target_", "_partial_"}
    config = compose([outside, "attention@model.cross_attention=distance", f"model.cross_attention.{anything}"])
    assert "temperature" not in config.model.cross_attention
    config = compose([outside, "experiment=far", "attention@model.cross_attention=scaled"])
    assert "temperature" not in config.model.cross_attention


def test_a_key_given_beside_the_new_target_stays(outside: str) -> None:
    target = "attention._target_=outside_scores.scores.Anything"

    config = compose([outside, "attention=distance", target, "attention.temperature=2.0"])

    assert config.model.cross_attention.temperature == 2.0


def test_an_added_key_reaches_every_site_where_the_target_takes_it(outside: str) -> None:
    target = "attention._target_=outside_scores.scores.Distance"

    config = compose([target, "+attention.temperature=5"])

    assert [config.model[site].temperature for site in SITES] == [5, 5, 5]
    with pytest.raises(UserError, match=r"attention\.temprature; did you mean attention\.temperature\?"):
        compose([target, "+attention.temprature=5"])
    with pytest.raises(UserError, match=r"takes it: write \+attention\.temperature=5\."):
        compose([target, "attention.temperature=5"])


def test_an_added_key_of_one_site_counts_there_alone(outside: str) -> None:
    target = "attention._target_=outside_scores.scores.Distance"

    config = compose([target, "+attention.temperature=5", "+model.cross_attention.temperature=7"])

    assert [config.model[site].temperature for site in SITES] == [5, 5, 7]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["attention._target_=outside_scores.scores.Demanding"], r"needs scale: give \+attention\.scale="),
        (["attention._target_=outside_scores.scores.Deaf"], "takes no d_k: it is called with d_k=…, num_heads=…"),
        (["attention._target_=outside_scores.scores.Distans"], "did you mean Distance"),
        (["attention._target_=outside_scores.scoers.Distance"], "outside_scores has no scoers"),
        (["attention._target_=outside_scores.unfinished.X"], "importing .* failed: No module named 'a_package_that"),
        (["attention._target_=no_such_package.X"], "there is no module no_such_package"),
        (["attention._target_=Distance"], "give the dotted path"),
        (["attention._target_=null"], "attention._target_ is not given"),
        (["+attention.d_k=3"], r"attention\.d_k is not for you to give: set model\.d_k"),
        (["+model.cross_attention.num_heads=3"], r"set model\.num_heads"),
        (["attention._target_=outside_scores.scores.Distance", "+attention.temperature=x"], "must be a number"),
    ],
)
def test_an_outside_target_that_does_not_fit(outside: str, overrides: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        compose(overrides)


def test_no_key_of_a_replaced_optimizer_survives() -> None:
    config = compose(["optimizer._target_=torch.optim.SGD", "+optimizer.momentum=0.9"])

    assert set(config.optimizer) == {"_target_", "_partial_", "momentum"}
