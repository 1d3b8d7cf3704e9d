"""H1 and H2: what is misspelt or cannot be fails at once, and the message names the nearest that can."""

import re
import sys
from typing import Literal

import pytest

from minitx.config import compose
from minitx.config.rules import RULES, rule_for
from minitx.errors import UserError


def message_of(*overrides: str) -> str:
    """The error's text, which is a line of plain words whatever the mistake."""
    with pytest.raises(UserError) as caught:
        compose([*overrides])
    message = str(caught.value)
    assert "\n" not in message
    assert not re.search(
        "hydra|omegaconf|traceback|object_type|struct", re.sub("hydra[./]", "", message), re.IGNORECASE
    )
    return message


@pytest.mark.parametrize(
    ("override", "wrong", "nearest"),
    [
        ("attention.scrore=x", "attention.scrore", "attention._target_"),
        ("+attention.scrore=x", "attention.scrore", "attention._target_"),
        ("++attention.scrore=x", "attention.scrore", "attention._target_"),
        ("attention=scalled", "attention=scalled", "attention=scaled"),
        ("+modle.d_k=3", "modle.d_k", "model.d_k"),
        ("modle.d_k=3", "modle.d_k", "model.d_k"),
        ("model.dk=3", "model.dk", "model.d_k"),
        ("+model.dk=3", "model.dk", "model.d_k"),
        ("+model.num_head=3", "model.num_head", "model.num_heads"),
        ("atention=scaled", "atention", "attention=scaled"),
        ("+atention=scaled", "atention", "attention"),
        ("sed=3", "sed", "seed"),
        ("+sed=3", "sed", "seed"),
        ("attention@model.cros_attention=additive", "model.cros_attention", "attention@model.cross_attention=additive"),
        ("+attention@model.cros_attention=additive", "model.cros_attention", "model.cross_attention"),
        ("attention@model.cross_attention=aditive", "attention=aditive", "attention=additive"),
        ("training.max_step=3", "training.max_step", "training.max_steps"),
        ("+training.max_step=3", "training.max_step", "training.max_steps"),
        ("+data.vocabsize=3", "data.vocabsize", "data.vocab_size"),
        ("+trainer.device=3", "trainer.device", "trainer.devices"),
        ("+schedule.warmup=3", "schedule.warmup", "schedule.warmup_steps"),
        ("+optimizer.beta=3", "optimizer.beta", "optimizer.betas"),
        ("logger.wandb.proect=x", "logger.wandb.proect", "logger.wandb.project"),
        ("+logger.wanb.project=x", "logger.wanb.project", "logger.wandb.project"),
        ("model=tinny", "model=tinny", "model=tiny"),
        ("experiment=section_32", "experiment=section_32", "experiment=section_3_2"),
        ("~model.dropuot", "model.dropuot", "model.dropout"),
        ("hydra.sweeper.parms=3", "hydra.sweeper.parms", "hydra.sweeper.params"),
    ],
)
def test_h1_names_the_nearest_key_or_option(override: str, wrong: str, nearest: str) -> None:
    message = message_of(override)

    assert wrong in message
    assert f"did you mean {nearest}?" in message
    assert "+" not in message


def test_h1_finds_the_mistake_among_other_overrides() -> None:
    message = message_of("attention=additive", "model.d_k=16", "trainng.max_steps=5", "seed=2", "data.batch_tokens=512")

    assert message == "There is no key trainng.max_steps; did you mean training.max_steps?"


def test_h1_a_key_misspelt_in_a_file(outside: str) -> None:
    assert "no key training.max_stepss; did you mean training.max_steps?" in message_of(
        outside, "experiment=misspelt_key"
    )


@pytest.mark.parametrize(
    ("experiment", "part"),
    [
        ("misspelt_option", "did you mean attention=scaled? experiment=misspelt_option asks for it."),
        (
            "misspelt_group",
            "experiment=misspelt_group overrides atention, where there is nothing to choose; did you mean",
        ),
        (
            "option_as_value",
            "attention=additive: choose one of the options of attention. A file does that in its defaults",
        ),
    ],
)
def test_h1_an_option_misspelt_in_a_file(outside: str, experiment: str, part: str) -> None:
    assert part in message_of(outside, f"experiment={experiment}")


def test_h1_a_plus_where_none_is_needed() -> None:
    assert "write attention=additive" in message_of("+attention=additive")
    assert "write model.dropout=0.2" in message_of("+model.dropout=0.2")


def test_h1_a_key_that_the_signature_takes_may_be_added() -> None:
    assert compose(["+optimizer.amsgrad=true"]).optimizer.amsgrad is True
    assert "write +optimizer.amsgrad=true" in message_of("optimizer.amsgrad=true")
    assert "set schedule.peak_learning_rate" in message_of("+optimizer.lr=0.1")
    assert "set schedule.peak_learning_rate" in message_of("optimizer.lr=0.1")


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("foo", "KEY=VALUE or GROUP=OPTION"),
        ("seed=1,2", "add -m"),
        ("name=a=b", "quotes"),
        ("attention@model.cross_attention=null", "~attention@model.cross_attention"),
        ("data.path=???", "data.path has no value yet"),
        ("model.d_model=${model.dmodel}", "model.dmodel"),
        ("hydra.searchpath=[file:///no/such/directory]", "/no/such/directory"),
        ("~model", "model._target_ is not given"),
        ("attention=[scaled,additive]", "choose one option"),
        ("attention.additive=true", "did you mean attention=additive?"),
        ("callbacks.timer=3", "+callbacks.timer._target_="),
        ("hydra/launcher=jobllib", "did you mean hydra/launcher=joblib?"),
        ("+model=3", "model"),
    ],
)
def test_h1_other_slips(override: str, part: str) -> None:
    assert part in message_of(override)


def test_h1_fails_before_training_code_is_imported() -> None:
    before = set(sys.modules)
    message_of("attention=scalled")
    message_of("+attention.scrore=x")
    assert not {"lightning", "datasets", "minitx.train"} & (set(sys.modules) - before)


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        (["model.num_heads=3", "model.d_model=64"], ["model.num_heads=3 does not divide", "model.d_model=64"]),
        (["model.d_k=-3"], ["model.d_k=-3", "at least 1"]),
        (["model.d_model=63", "model.num_heads=1"], ["model.d_model=63", "even"]),
        (["model.d_model=abc"], ["model.d_model=abc", "whole number"]),
        (["model.dropout=1"], ["model.dropout=1", "below 1"]),
        (["data.batch_tokens=0"], ["data.batch_tokens=0", "at least 1"]),
        (["callbacks.attention_probe.every=0"], ["callbacks.attention_probe.every=0", "at least 1, or null"]),
        (["training.max_steps=null"], ["training.max_steps", "training.max_epochs", "at least one"]),
        (["schedule=constant", "schedule.peak_learning_rate=null"], ["schedule.peak_learning_rate=null", "a number"]),
        (["schedule=cosine", "schedule.final_learning_rate=1"], ["schedule.final_learning_rate=1", "above"]),
        (["tags=x"], ["tags=x", "list"]),
        (["model.cross_attention=3"], ["model.cross_attention=3", "attention@model.cross_attention=OPTION"]),
    ],
)
def test_h2_names_the_constraint_and_the_value(overrides: list[str], parts: list[str]) -> None:
    message = message_of(*overrides)

    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("key", "wrong", "wanted"),
    [
        ("model.d_k", 0, "at least 1"),
        ("model.d_v", 0, "at least 1"),
        ("model.d_model", 64.5, "whole number"),
        ("model.d_model", None, "whole number"),
        ("model.num_layers", True, "whole number"),
        ("model.num_heads", 0, "at least 1"),
        ("model.norm", "mid", "pre or post"),
        ("model.initialisation", "zero", "variance, small_query or xavier"),
        ("model.dropout", -0.1, "at least 0"),
        ("model.dropout", float("nan"), "number"),
        ("training.max_steps", 0, "at least 1"),
        ("training.label_smoothing", 1, "below 1"),
        ("training.label_smoothing", "0.1", "number"),
        ("training.accumulate_batches", 0, "at least 1"),
        ("training.beam_size", 0, "at least 1"),
        ("training.clip_norm", 0, "above 0, or null"),
        ("training.on_non_finite", "ignore", "stop or record"),
        ("schedule.warmup_steps", -1, "at least 0"),
        ("schedule.peak_learning_rate", 0, "above 0"),
        ("schedule.peak_learning_rate", float("inf"), "above 0"),
        ("trainer.precision", "fp16", "16-mixed"),
        ("trainer.devices", 0, "auto"),
        ("trainer.devices", [], "auto"),
        ("seed", -1, "at least 0"),
        ("data.num_workers", -1, "at least 0"),
    ],
)
def test_h2_rules_of_single_values(key: str, wrong: object, wanted: str) -> None:
    with pytest.raises(UserError) as caught:
        RULES[key].check(key, wrong)

    assert re.match(rf"{key}=\S+: it must be .*{wanted}", str(caught.value))


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("model.d_k", 1),
        ("model.d_k", None),
        ("model.dropout", 0),
        ("training.label_smoothing", 0.999),
        ("schedule.warmup_steps", 0),
        ("training.clip_norm", None),
        ("trainer.devices", "auto"),
        ("trainer.devices", -1),
        ("trainer.devices", [0, 2]),
        ("seed", 0),
    ],
)
def test_h2_the_edges_of_what_is_allowed(key: str, right: object) -> None:
    RULES[key].check(key, right)


def test_rules_from_annotations() -> None:
    assert rule_for(int | None).wanted == "a whole number, or null"
    assert rule_for(Literal["a", "b"]).wanted == "a or b"
    assert rule_for(int | str).wanted == "a whole number, or text"
    assert rule_for(bool).wanted == "true or false"
    assert rule_for(list[int]) is None
    assert rule_for(object | None) is None


def test_h2_what_the_constraints_allow() -> None:
    config = compose(["model.num_heads=3", "model.d_model=64", "model.d_k=16", "model.d_v=16", "model.dropout=0"])

    assert isinstance(config.model.dropout, float)
