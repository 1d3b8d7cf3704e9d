"""`minitx train --dry-run`: the jobs, what they would cost, and which are there."""

import json
from pathlib import Path

import pytest
from omegaconf import DictConfig

from minitx import cli
from minitx.config import compose, config_hash
from minitx.sweep.claim import claimed

SMOKE = ["trainer=smoke", "data.vocab_size=300"]


def leave(run: Path, status: str, *overrides: str) -> None:
    run.mkdir(parents=True)
    facts = {"status": status, "config_hash": config_hash(compose([*SMOKE, *overrides]))}
    (run / "run.json").write_text(json.dumps(facts))


def test_jobs_costs_and_states(pretended: list[DictConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = tmp_path / "runs"
    leave(runs / "a", "finished", "seed=1")
    leave(runs / "b", "diverged", "seed=2")
    leave(runs / "c", "failed", "seed=3")
    leave(runs / "d", "running", "seed=4")  # nobody is at it any more
    before = sorted(runs.rglob("*"))
    with claimed(runs, config_hash(compose([*SMOKE, "seed=5"]))):
        assert cli.main(["train", "-m", "--dry-run", *SMOKE, "seed=1,2,3,4,5,6,6", "model.d_k=null"]) == 0

    heading, *jobs, total = capsys.readouterr().out.splitlines()
    assert heading.split("  ")[0] == "job"
    states = [line.rpartition("e+")[2][2:].strip() for line in jobs]
    assert states[:4] == [
        "finished: runs/a",
        "diverged: runs/b",
        "to do (failed before)",
        "to do (broken off before)",
    ]
    assert states[4].startswith("running: process ")
    assert states[5:] == ["to do", "repeats job 6"]
    assert [line.split()[:2] for line in jobs[:2]] == [["1", "seed=1"], ["2", "seed=2"]]  # what all share is left out
    assert total.startswith("7 jobs, 3 to do: about ")
    assert pretended == []
    assert sorted(runs.rglob("*")) == before


def test_a_single_run_and_data_that_are_not_there(
    pretended: list[DictConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", "-n", "data=multi30k", "data.path=nowhere", "training.max_steps=null",
                     "training.max_epochs=1"]) == 0  # fmt: skip
    printed = capsys.readouterr().out
    assert "not known" in printed
    assert printed.splitlines()[-1] == "1 job, 1 to do"
    assert not [*tmp_path.iterdir()]


def test_a_wrong_job_is_named(pretended: list[DictConfig], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "-m", "-n", "model.num_heads=2,3"]) == 2
    assert "job 2 (model.num_heads=3)" in capsys.readouterr().err
