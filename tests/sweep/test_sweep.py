"""Which jobs of a sweep are trained, and what is said of each; training is pretended here."""

import json
import os
import signal
from pathlib import Path

import pytest
from omegaconf import DictConfig
from rich.console import Console

from minitx import cli
from minitx.config import compose, config_hash
from minitx.sweep import sweep as sweep_module
from minitx.sweep.claim import claimed
from minitx.sweep.job import Outcome, train_job
from minitx.sweep.table import print_table


def seeds(configs: list[DictConfig]) -> list[int]:
    taken = [config.seed for config in configs]
    configs.clear()
    return taken


def status_of(run: Path) -> str:
    return json.loads((run / "run.json").read_text())["status"]


def test_h4_a_sweep_issued_again_trains_what_is_missing(
    pretended: list[DictConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", "-m", "seed=1,2,3"]) == 0
    assert seeds(pretended) == [1, 2, 3]
    runs = tmp_path / "runs"
    for number, status in ((1, "interrupted"), (2, "running")):
        record = json.loads((runs / f"run-{number}" / "run.json").read_text())
        (runs / f"run-{number}" / "run.json").write_text(json.dumps(record | {"status": status}))
    capsys.readouterr()

    assert cli.main(["train", "-m", "seed=1,2,3,4"]) == 0
    assert seeds(pretended) == [1, 2, 4]
    printed = capsys.readouterr()
    assert f"minitx: job 3 (seed=3) is finished: {runs / 'run-3'}; it is not run again" in printed.err
    assert printed.out.splitlines()[-1] == "4 jobs: 3 finished, 1 finished earlier"
    assert status_of(runs / "run-1") == "interrupted"  # nothing is overwritten

    assert cli.main(["train", "-m", "seed=1,2,3,4", "group=g", "logger=none"]) == 0  # what changes no result
    assert seeds(pretended) == []
    assert cli.main(["train", "-m", "seed=1,2", "training.max_steps=7"]) == 0
    assert seeds(pretended) == [1, 2]
    assert cli.main(["train", "-m", "seed=1", "run_directory=elsewhere"]) == 0
    assert seeds(pretended) == [1]


def test_h4_what_failed_is_trained_again_and_what_diverged_is_not(pretended: list[DictConfig], tmp_path: Path) -> None:
    assert cli.main(["train", "-m", "seed=13,14"]) == 1
    assert cli.main(["train", "-m", "seed=13,14"]) == 1
    assert seeds(pretended) == [13, 14, 13, 14]
    assert cli.main(["train", "-m", "seed=15,1"]) == 0
    assert cli.main(["train", "-m", "seed=15,1"]) == 0
    assert seeds(pretended) == [15, 1]


def test_h5_a_failed_job_is_named_with_its_traceback(
    pretended: list[DictConfig], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", "-m", "seed=1,13,14,15,2"]) == 1
    assert seeds(pretended) == [1, 13, 14, 15, 2]
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "5 jobs: 2 finished, 2 failed, 1 diverged"
    assert "2 of 5 jobs failed." in printed.err
    for number, seed in ((2, 13), (3, 14)):
        begin = f"job {number} (seed={seed}): ZeroDivisionError: division by zero ("
        [line] = [line for line in printed.err.splitlines() if line.startswith(begin)]
        traceback = Path(line.removeprefix(begin).rstrip(")"))
        assert "ZeroDivisionError: division by zero" in traceback.read_text()
        assert status_of(traceback.parent) == "failed"


def test_a_sweep_does_not_start_what_another_process_is_at(
    pretended: list[DictConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with claimed(tmp_path / "runs", config_hash(compose(["seed=2"]))):
        assert cli.main(["train", "-m", "seed=1,2"]) == 0
    assert seeds(pretended) == [1]
    printed = capsys.readouterr()
    assert f"job 2 (seed=2) is not started: process {os.getpid()} on " in printed.err
    assert printed.out.splitlines()[-1] == "2 jobs: 1 finished, 1 running"


def test_a_job_that_repeats_another_runs_once(pretended: list[DictConfig], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "-m", "seed=1,2,1"]) == 0
    assert seeds(pretended) == [1, 2]
    assert "job 3 (seed=1) is the same configuration as job 1; it is not run again" in capsys.readouterr().err


def test_a_job_done_meanwhile_is_not_run(pretended: list[DictConfig], tmp_path: Path) -> None:
    """Two sweeps over the same jobs: what one has finished, the other finds when its turn comes."""
    first = train_job(["seed=1"], tmp_path)
    assert first == Outcome("finished", tmp_path / "runs" / "run-1")
    assert train_job(["seed=1"], tmp_path) == Outcome("finished", tmp_path / "runs" / "run-1", earlier=True)
    assert seeds(pretended) == [1]


def test_a_single_run_is_always_made_and_says_that_there_is_another(
    pretended: list[DictConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train"]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(["train"]) == 0
    assert capsys.readouterr().err.startswith(f"minitx: {tmp_path / 'runs' / 'run-1'} is this configuration, finished")
    with claimed(tmp_path / "runs", config_hash(compose())):
        assert cli.main(["train"]) == 0
    assert "is training this configuration; this run has a directory of its own" in capsys.readouterr().err
    assert len(pretended) == 3


def test_the_table_in_a_pipe_is_plain_columns(pretended: list[DictConfig], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "-m", "seed=1,2", "model.d_k=16", "attention=scaled,additive"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "job  overrides                  status    final loss  best loss  test BLEU  seconds  run directory",
        "1    seed=1 attention=scaled    finished  2.001       1.500      12.35      61       runs/run-1",
        "2    seed=1 attention=additive  finished  2.001       1.500      12.35      61       runs/run-2",
        "3    seed=2 attention=scaled    finished  2.002       1.500      12.35      61       runs/run-3",
        "4    seed=2 attention=additive  finished  2.002       1.500      12.35      61       runs/run-4",
        "4 jobs: 4 finished",
    ]


def test_the_table_on_a_terminal_is_drawn() -> None:
    console = Console(force_terminal=True, width=60, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    print_table(["job", "overrides"], [["1", "tags=[a,b]"]], console)
    text = console.export_text()
    assert "tags=[a,b]" in text
    assert "┃" in text


def test_ctrl_c_ends_the_sweep_and_the_next_one_goes_on(
    pretended: list[DictConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

    def interrupted_at_seed_2(overrides: list[str], directory: Path, stop_file: Path) -> Outcome:
        if "seed=2" in overrides:
            os.kill(os.getpid(), signal.SIGINT)
            assert stop_file.stat().st_size == 1
            return Outcome("interrupted")
        return train_job(overrides, directory)

    monkeypatch.setattr(sweep_module, "run_alone", interrupted_at_seed_2)
    assert cli.main(["train", "-m", "seed=1,2,3"]) == 130
    assert seeds(pretended) == [1]
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "3 jobs: 1 finished, 1 interrupted, 1 not run"
    assert "goes on with the jobs that are missing" in printed.err
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["run-1"]

    monkeypatch.setattr(sweep_module, "run_alone", lambda overrides, directory, _: train_job(overrides, directory))
    assert cli.main(["train", "-m", "seed=1,2,3"]) == 0
    assert seeds(pretended) == [2, 3]


def test_batches_keep_the_numbers_of_their_jobs(
    pretended: list[DictConfig], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", "-m", "seed=2"]) == 0
    capsys.readouterr()
    assert cli.main(["train", "-m", "seed=1,2,3,4,5", "hydra.sweeper.max_batch_size=2"]) == 0
    started = [line for line in capsys.readouterr().err.splitlines() if line.startswith("minitx: job")]
    assert [line.split()[2] for line in started if "not run again" not in line] == ["1", "3", "4", "5"]
    assert seeds(pretended) == [2, 1, 3, 4, 5]


def test_a_launcher_that_breaks_off_leaves_a_summary(
    pretended: list[DictConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hydra._internal.core_plugins.basic_launcher import BasicLauncher

    launch = BasicLauncher.launch

    def breaks_off(self: BasicLauncher, jobs: list, initial_job_idx: int) -> list:
        launch(self, jobs[:1], initial_job_idx)
        raise RuntimeError("a worker was killed")

    monkeypatch.setattr(BasicLauncher, "launch", breaks_off)
    assert cli.main(["train", "-m", "seed=1,2"]) == 1
    printed = capsys.readouterr()
    assert "2 jobs: 1 finished, 1 failed" in printed.out
    assert "job 2 (seed=2): the launcher broke off: RuntimeError: a worker was killed" in printed.err


@pytest.mark.parametrize(
    ("launcher", "extra"), [("joblib", "joblib"), ("submitit_slurm", "submitit"), ("submitit_local", "submitit")]
)
def test_a_launcher_that_is_not_installed_is_named_with_its_extra(
    pretended: list[DictConfig], launcher: str, extra: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from hydra.core.config_store import ConfigStore

    repository = ConfigStore.instance().repo["hydra"]["launcher"]
    monkeypatch.setitem(
        ConfigStore.instance().repo["hydra"], "launcher", {k: v for k, v in repository.items() if launcher not in k}
    )
    assert cli.main(["train", "-m", f"hydra/launcher={launcher}", "seed=1,2"]) == 2
    message = capsys.readouterr().err
    assert f"hydra/launcher={launcher} needs a plugin that is not installed: pip install 'minitx[{extra}]'." in message


def test_joblib_gets_no_more_workers_than_there_are_jobs() -> None:
    joblib = pytest.importorskip("joblib")
    from omegaconf import OmegaConf

    def workers(jobs: int, n_jobs: int, target: str = "hydra_plugins.hydra_joblib_launcher.JoblibLauncher") -> int:
        config = OmegaConf.create({"hydra": {"launcher": {"_target_": target, "n_jobs": n_jobs}}})
        sweep_module._no_more_workers_than(jobs, config)
        return config.hydra.launcher.n_jobs

    assert workers(3, 8) == 3
    assert workers(8, 3) == 3
    assert workers(100_000, -1) == joblib.cpu_count()
    assert workers(3, 8, target="BasicLauncher") == 8
