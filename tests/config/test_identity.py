"""What a run is called, which configurations are one experiment, and what is written down."""

import functools
import json

import pytest

from minitx.config import compose, config_hash, identity, readable_name, to_plain
from minitx.errors import UserError


def name_of(*overrides: str) -> str:
    return readable_name(compose([*overrides]))


@functools.cache
def hash_of(*overrides: str) -> str:
    return config_hash(compose([*overrides]))


def test_the_name_says_what_is_compared() -> None:
    assert name_of() == "toy-toy-scaled-seed-1"
    assert name_of("attention=additive", "model=tiny", "seed=3") == "toy-tiny-additive-seed-3"
    assert name_of("model.d_k=512") == "toy-toy-scaled-d_k-512-seed-1"
    assert name_of("attention@model.cross_attention=cosine") == "toy-toy-scaled-cross-cosine-seed-1"
    assert name_of("attention._target_=minitx.nn.compatibility.Cosine") == "toy-toy-Cosine-seed-1"
    assert name_of("logger=none", "data.num_workers=2", "group=g") == "toy-toy-scaled-seed-1"


def test_the_name_is_short_and_safe_in_a_path_and_an_override() -> None:
    long = name_of(
        *[f"training.{key}=1" for key in ("max_steps", "validate_every", "log_every", "beam_size")], "seed=77"
    )

    assert len(long) <= 80
    assert name_of("name='../a b/ü=c,d'") == "a-b-c-d"
    assert name_of("name=///") == "run"
    assert len(name_of(f"name={'x' * 300}")) == 80


def test_a_given_name_stands() -> None:
    assert name_of("name=first_try", "seed=3") == "first_try"


@pytest.mark.parametrize(
    "override",
    [
        "seed=2",
        "model.d_k=16",
        "attention=additive",
        "attention@model.cross_attention=additive",
        "data.batch_tokens=999",
        "data.path=elsewhere",
        "training.max_steps=7",
        "trainer.precision=bf16-mixed",
        "+optimizer.amsgrad=true",
    ],
)
def test_the_hash_changes_with_what_changes_the_result(override: str) -> None:
    assert hash_of(override) != hash_of()


@pytest.mark.parametrize(
    "override",
    [
        "name=x",
        "group=x",
        "tags=[x]",
        "logger=none",
        "run_directory=x",
        "resume=auto",
        "data.num_workers=2",
        "data.cache_directory=x",
        "model.dropout=0.10",
        "attention=scaled",
    ],
)
def test_the_hash_stays_with_what_does_not(override: str) -> None:
    assert hash_of(override) == hash_of()


def test_the_hash_is_of_what_fills_the_slots_not_of_how_that_was_said() -> None:
    sites = ("encoder_self_attention", "decoder_self_attention", "cross_attention")

    assert hash_of("attention=cosine") == hash_of(*[f"attention@model.{site}=cosine" for site in sites])
    assert hash_of("attention=cosine") == hash_of("attention._target_=minitx.nn.compatibility.Cosine")
    assert hash_of("training.label_smoothing=0") == hash_of("training.label_smoothing=0.0")


def test_the_hash_of_the_saved_configuration_is_that_of_the_composed_one() -> None:
    config = compose(["model.d_k=16"])
    saved = json.loads(json.dumps(to_plain(config)))

    assert config_hash(saved) == config_hash(config)
    assert identity(saved) == identity(config)
    assert readable_name(saved) == readable_name(config)


def test_plain_is_resolved_plain_data() -> None:
    plain = to_plain(compose(["model.d_model=64"]))

    assert plain["schedule"]["d_model"] == 64
    assert plain["options"]["attention"] == "scaled"


def test_environment_variables_are_not_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TEAM", "do not write me")

    config = compose(["logger.wandb.entity=${oc.env:SECRET_TEAM}", "+logger.wandb.notes=${logger.wandb.entity}"])

    assert config.logger.wandb.entity == "do not write me"
    assert "do not write me" not in json.dumps(to_plain(config))
    assert to_plain(config)["logger"]["wandb"]["entity"] == "${oc.env:SECRET_TEAM}"
    assert config.logger.wandb.notes == "do not write me"


@pytest.mark.parametrize("value", ["${oc.env:WIDTH}", "'${oc.decode:${oc.env:WIDTH}}'"])
def test_a_result_may_not_depend_on_an_environment_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("WIDTH", "32")

    with pytest.raises(UserError, match=r"d_k=.*environment variable"):
        compose([f"model.d_k={value}"])


def test_a_path_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORPORA", "/corpora")

    assert to_plain(compose(["data.path=${oc.env:CORPORA}/mine"]))["data"]["path"] == "/corpora/mine"
