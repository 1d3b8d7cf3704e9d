"""Sweeps of real, very small runs, and of runs that are only pretended."""

import json
import sys
import types
from pathlib import Path

import pytest
from omegaconf import DictConfig

from minitx.config import config_hash
from minitx.resources import toy_corpus_directory
from minitx.sweep import sweep as sweep_module
from minitx.sweep.job import train_job

PAIRS = {"train": 120, "val": 6, "test": 8}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The overrides that name a corpus of the first pairs of the toy corpus."""
    directory = tmp_path_factory.mktemp("corpus")
    for split, count in PAIRS.items():
        for language in ("en", "de"):
            lines = (toy_corpus_directory() / f"{split}.{language}").read_text(encoding="utf-8").splitlines(True)
            (directory / f"{split}.{language}").write_text("".join(lines[:count]), encoding="utf-8")
    return ["data=text_files", f"data.path={directory}", "data.source_language=en", "data.target_language=de",
            "data.vocab_size=300", "data.batch_tokens=512"]  # fmt: skip


@pytest.fixture
def smoke(corpus: list[str], tmp_path: Path) -> list[str]:
    """The overrides of a run of four steps, whose directory is made under `tmp_path/runs`."""
    return [*corpus, "trainer=smoke", "training.max_steps=4", "training.validate_every=2", "training.log_every=1",
            "logger=none", f"run_directory={tmp_path / 'runs'}"]  # fmt: skip


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[DictConfig]:
    """The configurations that training was called with, in this process and without training anything.

    Runs are finished, but those of seed 13 and 14 fail, 14 before it has a run directory, and 15 diverges.
    """
    configs: list[DictConfig] = []

    def train(config: DictConfig) -> dict:
        configs.append(config)
        status = {13: "failed", 15: "diverged"}.get(config.seed, "finished")
        if config.seed == 14:
            raise ZeroDivisionError("division by zero")
        runs = Path(config.run_directory)
        path = next(path for number in range(1, 99) if not (path := runs / f"run-{number}").exists())
        path.mkdir(parents=True)
        (path / "run.json").write_text(json.dumps({"status": status, "config_hash": config_hash(config)}))
        if status == "failed":
            raise ZeroDivisionError("division by zero")
        loss = {"validation_loss": 2.0 + config.seed / 1000}
        summary = {"final": loss, "best": {"validation_loss": 1.5}, "seconds": 61.4, "test": {"test": {"bleu": 12.345}}}
        (path / "summary.json").write_text(json.dumps(summary))
        return summary

    module = types.ModuleType("minitx.train")
    module.train = train
    monkeypatch.setitem(sys.modules, "minitx.train", module)
    monkeypatch.setattr(sweep_module, "run_alone", lambda overrides, directory, _: train_job(overrides, directory))
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    return configs
