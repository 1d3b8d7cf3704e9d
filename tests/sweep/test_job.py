"""Real sweeps: each job in a process of its own, and what its directory holds however it ends."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minitx import cli
from minitx.sweep.job import run_alone

SCORES = """
import os, signal, torch
from minitx.nn.compatibility import UnscaledDotProduct


class Fails(UnscaledDotProduct):
    calls = 0

    def forward(self, query, key):
        self.calls += self.training
        if self.calls > 3:
            raise RuntimeError("the third step is too much")
        return super().forward(query, key)


class Kills(UnscaledDotProduct):
    def forward(self, query, key):
        os.kill(os.getpid(), signal.SIGKILL)


class Unbuilt(UnscaledDotProduct):
    def __init__(self, *, d_k, num_heads):
        raise ZeroDivisionError("division by zero")
"""


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of compatibility functions in the directory that minitx is started in."""
    file = tmp_path / "scores_of_mine.py"
    file.write_text(SCORES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    return file


def read(run: Path, name: str = "run.json") -> dict:
    return json.loads((run / name).read_text(encoding="utf-8"))


def runs_by_seed(directory: Path) -> dict[int, Path]:
    return {read(run)["seed"]: run for run in sorted((directory / "runs").iterdir())}


@pytest.mark.slow
def test_w1_h5_h4_three_jobs_of_which_the_second_fails(
    smoke: list[str], scores: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    targets = "attention._target_=minitx.nn.compatibility.Cosine,scores_of_mine.Fails,minitx.nn.compatibility.Additive"
    command = ["train", "-m", *smoke, "logger=default", targets]
    assert cli.main(command) == 1

    runs = {
        read(run)["config"]["attention"]["_target_"].rpartition(".")[2]: run for run in (tmp_path / "runs").iterdir()
    }
    statuses = {name: read(run)["status"] for name, run in runs.items()}
    assert statuses == {"Cosine": "finished", "Fails": "failed", "Additive": "finished"}
    assert "RuntimeError: the third step is too much" in (runs["Fails"] / "traceback.txt").read_text()
    printed = capfd.readouterr()
    assert "3 jobs: 2 finished, 1 failed" in printed.out
    assert f"RuntimeError: the third step is too much ({runs['Fails'] / 'traceback.txt'})" in printed.err
    offline = [name for run in runs.values() for name in (path.name for path in (run / "wandb").glob("offline-run-*"))]
    assert len(set(offline)) == 3
    assert all([*(run / "tensorboard").glob("events*")] for run in runs.values())

    scores.write_text(SCORES.replace("> 3", "> 99"))  # mended
    assert cli.main(command) == 0
    assert len([*(tmp_path / "runs").iterdir()]) == 4
    assert "3 jobs: 2 finished earlier, 1 finished" in capfd.readouterr().out


@pytest.mark.slow
def test_a_job_that_is_killed_or_cannot_be_built_leaves_a_directory_that_says_so(
    smoke: list[str], scores: Path, tmp_path: Path
) -> None:
    def run(score: str):
        return run_alone([*smoke, f"attention._target_=scores_of_mine.{score}"], tmp_path, tmp_path / "stop")

    killed = run("Kills")
    assert (killed.status, killed.reason) == ("failed", "its process was ended by SIGKILL (out of memory?)")
    unbuilt = run("Unbuilt")
    assert (unbuilt.status, unbuilt.reason[:17]) == ("failed", "InstantiationExce")
    assert "ZeroDivisionError" in (unbuilt.path / "traceback.txt").read_text()
    for outcome in (killed, unbuilt):
        assert read(outcome.path)["status"] == "failed"
        assert (outcome.path / "traceback.txt").exists()
    assert not (tmp_path / "runs" / ".running").exists() or not [
        path for path in (tmp_path / "runs" / ".running").iterdir() if path.stat().st_size == 0
    ]


@pytest.mark.slow
def test_ctrl_c_ends_the_sweep_after_the_step_of_its_job(smoke: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "minitx.cli", "train", "-m", *smoke, "seed=1,2", "training.max_steps=1000000",
               "training.validate_every=1000000"]  # fmt: skip
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not [*tmp_path.glob("runs/*/metrics.csv")] and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)

    assert process.returncode == 130, err
    assert out.splitlines()[-1] == "2 jobs: 1 interrupted, 1 not run"
    [run] = (tmp_path / "runs").iterdir()
    assert read(run)["status"] == "interrupted"
    assert (run / "checkpoints" / "last.ckpt").exists()


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("hydra_plugins.hydra_joblib_launcher") is None, reason="no joblib launcher"
)
def test_h6_joblib_runs_two_at_a_time_with_half_of_the_cores_each(smoke: list[str], tmp_path: Path) -> None:
    import joblib

    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-m", "minitx.cli", "train", "-m", *smoke, "hydra/launcher=joblib",
               "hydra.launcher.n_jobs=2", "name=same", "seed=1,2,3"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "3 jobs: 3 finished"
    runs = runs_by_seed(tmp_path)
    assert sorted(runs) == [1, 2, 3]
    assert {read(run)["threads"] for run in runs.values()} == {max(1, joblib.cpu_count() // 2)}
