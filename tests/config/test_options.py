"""Every option and every experiment composes, passes the check and, where that is cheap, is built."""

from collections.abc import Iterator

import hydra
import pytest
import yaml
from omegaconf import OmegaConf

from minitx.config import compose
from minitx.config.check import GROUPS
from minitx.config.hydra_tree import config_tree
from minitx.config.rules import RULES
from minitx.config.targets import find_target, signature_of
from minitx.resources import configs_directory

# What an option leaves open for its user.
NEEDED = {
    "data=text_files": ["data.path=x", "data.source_language=en", "data.target_language=de"],
    "data=tsv": ["data.path=x", "data.source_language=en", "data.target_language=de"],
    "data=jsonl": ["data.path=x", "data.source_language=en", "data.target_language=de"],
    "data=hub": ["data.name=a/b", "data.source_language=en", "data.target_language=de"],
}


def options() -> Iterator[str]:
    for file in sorted(configs_directory().glob("*/*.yaml")):
        yield f"{file.parent.name}={file.stem}"


@pytest.mark.parametrize("option", options())
def test_composes(option: str) -> None:
    config = compose([option, *NEEDED.get(option, [])])

    group, _, name = option.partition("=")
    assert config.options[group] == name


@pytest.mark.parametrize("option", [option for option in options() if option.startswith(("model=", "trainer=smoke"))])
def test_models_are_built(option: str) -> None:
    config = compose([option, "model.num_layers=1"])

    model = hydra.utils.instantiate(config.model, vocab_size=20, pad_id=0, seed=1)

    assert model.embedding.weight.shape == (20, config.model.d_model)


def test_the_toy_model_has_about_a_million_parameters() -> None:
    config = compose()

    model = hydra.utils.instantiate(config.model, vocab_size=config.data.vocab_size, pad_id=0, seed=1)

    assert sum(parameter.numel() for parameter in model.parameters()) < 1.2e6


@pytest.mark.parametrize("option", [option for option in options() if option.startswith("schedule=")])
def test_schedules_reach_their_peak_at_the_end_of_the_warm_up(option: str) -> None:
    config = compose([option, "schedule.peak_learning_rate=0.01", "schedule.warmup_steps=10"])

    schedule = hydra.utils.instantiate(config.schedule)

    assert schedule(10) == pytest.approx(0.01)
    assert schedule(5) == pytest.approx(0.005)


def test_the_default_schedule_is_the_paper_s() -> None:
    config = compose(["model.d_model=512", "schedule.warmup_steps=4000"])

    schedule = hydra.utils.instantiate(config.schedule)

    assert schedule(4000) == pytest.approx(512**-0.5 * 4000**-0.5)  # Eq. 3


@pytest.mark.parametrize("option", [option for option in options() if option.startswith("optimizer=")])
def test_optimizers_are_built_with_the_paper_s_betas(option: str) -> None:
    import torch

    config = compose([option])

    optimizer = hydra.utils.instantiate(config.optimizer)([torch.nn.Parameter(torch.zeros(1))], lr=1.0)

    assert (*optimizer.defaults["betas"], optimizer.defaults["eps"]) == (0.9, 0.98, 1e-9)  # §5.3


@pytest.mark.parametrize("override", ["callbacks.attention_probe=null", "logger.wandb=null", "logger.tensorboard=null"])
def test_null_takes_a_callback_or_a_dashboard_away(override: str) -> None:
    assert OmegaConf.select(compose([override]), override.partition("=")[0]) is None


def test_the_attention_probe_may_be_switched_off() -> None:
    assert compose().callbacks.attention_probe.every == 100
    assert compose(["callbacks.attention_probe.every=null"]).callbacks.attention_probe.every is None
    assert compose(["callbacks=none"]).callbacks == {}


def test_the_paper_s_base_model() -> None:
    model = compose(["model=base"]).model

    names = ("num_layers", "d_model", "d_ff", "num_heads", "dropout", "norm")
    assert [model[name] for name in names] == [6, 512, 2048, 8, 0.1, "post"]  # Table 3


def test_every_key_with_a_rule_exists() -> None:
    """A rule for a key that has been renamed would never be applied."""
    config = compose()
    with config_tree() as tree:
        nodes = [tree.compose([option]) for option in ("schedule=inverse_sqrt", "schedule=cosine", "schedule=constant")]
    for key in RULES:
        assert any(_has(node, key) for node in [config, *nodes]), key


def _has(config: object, key: str) -> bool:
    parent, _, name = key.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    return name in node


@pytest.mark.parametrize("group", GROUPS)
def test_shipped_targets_take_the_keys_of_their_files(group: str) -> None:
    """`compose` checks this too; here without the ways round it (**kwargs)."""
    for file in (configs_directory() / group).glob("*.yaml"):
        node = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        if "_target_" in node:
            taken = signature_of(find_target(group, node["_target_"])).parameters
            assert {name for name in node if name[0] != "_" and name != "defaults"} <= set(taken), file


def test_experiments_compare_in_single_precision() -> None:
    for experiment in (configs_directory() / "experiment").glob("*.yaml"):
        assert compose([f"experiment={experiment.stem}"]).trainer.precision == "32-true"


def swept_values() -> Iterator[tuple[str, str]]:
    for file in sorted((configs_directory() / "experiment").glob("*.yaml")):
        settings = yaml.safe_load(file.read_text(encoding="utf-8")).get("hydra", {})
        for key, values in settings.get("sweeper", {}).get("params", {}).items():
            for value in str(values).split(","):
                yield file.stem, f"{key}={value}"


@pytest.mark.parametrize(("experiment", "override"), [pair for pair in swept_values() if "seed" not in pair[1]])
def test_what_an_experiment_sweeps_over_composes(experiment: str, override: str) -> None:
    assert compose([f"experiment={experiment}", override]).group == experiment
