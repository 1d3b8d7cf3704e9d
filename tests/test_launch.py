"""`minitx train`: single runs and the jobs of sweeps, up to the call of `minitx.train.train`."""

import json
import sys
import types
from pathlib import Path

import pytest
import yaml
from omegaconf import DictConfig

from minitx import cli, launch
from minitx.errors import UserError
from minitx.sweep import sweep
from minitx.sweep.job import train_job


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[DictConfig]:
    """The configurations that training was called with, in an empty directory; a job of seed 13 fails."""
    configs, commands = [], []

    def train(config: DictConfig) -> dict:
        if config.seed == 13:
            raise UserError("data.path=x: there is no such directory.")
        if config.seed == 14:
            raise ZeroDivisionError("division by zero")
        configs.append(config)
        commands.append(sys.argv[1:])
        return {}

    module = types.ModuleType("minitx.train")
    module.train, module.commands = train, commands
    monkeypatch.setitem(sys.modules, "minitx.train", module)
    monkeypatch.setattr(sweep, "run_alone", lambda overrides, directory, _: train_job(overrides, directory))
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    return configs


def test_a_single_run(trained: list[DictConfig], tmp_path: Path) -> None:
    assert cli.main(["train", "attention=additive", "data.path=corpus"]) == 0

    assert [config.options.attention for config in trained] == ["additive"]
    assert trained[0].data.path == str(tmp_path / "corpus")
    assert not [*tmp_path.iterdir()]


def test_h3_a_sweep_resolves_paths_and_leaves_no_files(trained: list[DictConfig], tmp_path: Path) -> None:
    assert cli.main(["train", "-m", "attention=scaled,additive", "model.d_k=16,32", "data.path=corpus"]) == 0

    jobs = [(config.options.attention, config.model.d_k) for config in trained]
    assert jobs == [("scaled", 16), ("scaled", 32), ("additive", 16), ("additive", 32)]
    assert {config.data.path for config in trained} == {str(tmp_path / "corpus")}
    assert not [*tmp_path.iterdir()]


def test_a_sweep_over_one_site(trained: list[DictConfig]) -> None:
    assert cli.main(["train", "attention@model.cross_attention=cosine,additive", "--multirun"]) == 0

    targets = [config.model.cross_attention._target_.rpartition(".")[2] for config in trained]
    assert targets == ["Cosine", "Additive"]


def test_an_experiment_may_be_a_sweep(trained: list[DictConfig]) -> None:
    assert cli.main(["train", "experiment=d_k_sweep", "seed=1", "attention=scaled"]) == 0
    assert [config.model.d_k for config in trained] == [32, 128, 512]
    assert {config.group for config in trained} == {"d_k_sweep"}
    trained.clear()
    assert cli.main(["train", "experiment=d_k_sweep", "hydra.mode=RUN"]) == 0
    assert len(trained) == 1


@pytest.mark.parametrize(
    ("argv", "parts"),
    [
        (["attention=scaled,scalled"], ["job 2 (attention=scalled)", "did you mean attention=scaled?"]),
        (["model.num_heads=2,3"], ["job 2 (model.num_heads=3)", "does not divide"]),
        (["seed=1,2", "+modle.d_k=3"], ["did you mean model.d_k?"]),
        (["seed=1,2", "trainig.max_steps=3"], ["did you mean training.max_steps?"]),
    ],
)
def test_a_sweep_with_a_wrong_job_does_not_begin(
    trained: list[DictConfig], argv: list[str], parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", "-m", *argv]) == 2

    message = capsys.readouterr().err.splitlines()[-1]
    assert all(part in message for part in parts), message
    assert trained == []


def test_one_job_that_fails_leaves_the_others(trained: list[DictConfig], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "-m", "seed=1,13,14,2"]) == 1

    assert [config.seed for config in trained] == [1, 2]
    message = capsys.readouterr().err
    assert "2 of 4 jobs failed" in message
    assert message.count("job 2 (seed=13) failed: data.path=x: there is no such directory.") == 1
    assert "job 3 (seed=14): ZeroDivisionError: division by zero" in message


def test_a_package_in_the_launch_directory_can_be_a_target(trained: list[DictConfig], tmp_path: Path) -> None:
    (tmp_path / "score_in_launch_directory.py").write_text(
        "class Score:\n    def __init__(self, d_k, num_heads): ...\n"
    )

    assert cli.main(["train", "attention._target_=score_in_launch_directory.Score"]) == 0
    assert cli.main(["train", "-m", "attention._target_=score_in_launch_directory.Score", "seed=1,2"]) == 0
    assert {config.options.attention for config in trained} == {"Score"}


def test_options_of_one_s_own(trained: list[DictConfig], tmp_path: Path) -> None:
    option = tmp_path / "mine" / "attention" / "sharp.yaml"
    option.parent.mkdir(parents=True)
    option.write_text("_target_: minitx.nn.compatibility.UnscaledDotProduct\n")

    assert cli.main(["train", "--config-dir", "mine", "attention=sharp"]) == 0
    assert cli.main(["train", f"hydra.searchpath=[file://{tmp_path / 'mine'}]", "-m", "attention=sharp,scaled"]) == 0
    assert [config.options.attention for config in trained] == ["sharp", "sharp", "scaled"]
    assert cli.main(["train", "--config-dir", "nowhere", "attention=sharp"]) == 2


def test_the_configuration_can_be_printed(trained: list[DictConfig], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "--cfg", "job", "model.d_k=16", "logger.wandb.entity='${oc.env:HOME}'"]) == 0

    shown = yaml.safe_load(capsys.readouterr().out)
    assert shown["model"]["cross_attention"]["_target_"].endswith("ScaledDotProduct")
    assert shown["model"]["d_k"] == 16
    assert shown["logger"]["wandb"]["entity"] == "${oc.env:HOME}"
    assert json.dumps(shown)
    assert trained == []


def test_an_unknown_option(trained: list[DictConfig], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "--fast"]) == 2
    assert "no option --fast" in capsys.readouterr().err


def test_interleaved_flags(trained: list[DictConfig]) -> None:
    launch.main(["seed=1", "-m", "model.d_k=16,32"])

    assert len(trained) == 2


def test_home_in_a_path(trained: list[DictConfig], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    launch.main(["-m", "data.path=~/corpus", "seed=1,2"])

    assert {config.data.path for config in trained} == {str(tmp_path / "corpus")}


def test_a_job_s_further_processes_would_train_that_job_alone(trained: list[DictConfig]) -> None:
    assert cli.main(["train", "-m", "experiment=d_k_sweep", "attention=additive", "model.d_k=16,32", "seed=1"]) == 0

    for config, command in zip(trained[:], sys.modules["minitx.train"].commands[:], strict=True):
        assert command[0] == "train"
        assert cli.main(command) == 0
        assert trained[-1] == config
    assert len(trained) == 4
