"""Dashboards: chosen without a prompt, and never online unless the user is logged in."""

import os
import subprocess
import sys
from functools import partial

import pytest
from lightning.pytorch.loggers import TensorBoardLogger, WandbLogger

from minitx.training.dashboards import make_loggers, upload_hint, wandb_is_logged_in


@pytest.fixture
def nobody(monkeypatch):
    """No key anywhere."""
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("NETRC", os.devnull)


def test_online_only_with_a_key(nobody, monkeypatch, tmp_path):
    assert not wandb_is_logged_in()
    login = tmp_path / "netrc"
    login.write_text("machine api.wandb.ai login user password " + "0" * 40)
    login.chmod(0o600)
    monkeypatch.setenv("NETRC", str(login))
    assert wandb_is_logged_in()
    monkeypatch.setenv("WANDB_BASE_URL", "https://wandb.example.org")
    assert not wandb_is_logged_in()
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    assert wandb_is_logged_in()


@pytest.mark.parametrize(("mode", "online"), [("offline", False), ("disabled", False), ("online", True)])
def test_the_users_own_mode_wins(nobody, monkeypatch, mode, online):
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    monkeypatch.setenv("WANDB_MODE", mode)
    assert wandb_is_logged_in() is online


def test_wandb_that_is_switched_off_is_not_made(nobody, monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_MODE", "disabled")
    factories = {"tensorboard": partial(TensorBoardLogger), "wandb": partial(WandbLogger, project="minitx")}
    [made] = make_loggers(factories, tmp_path, {"name": "run", "group": None, "tags": []}, {"seed": 1})
    assert isinstance(made, TensorBoardLogger)


def test_an_offline_run_says_how_to_upload_it(tmp_path):
    assert upload_hint(tmp_path) is None
    for number in (1, 2):
        (tmp_path / "wandb" / f"offline-run-2026010{number}-abc").mkdir(parents=True)
    assert upload_hint(tmp_path).endswith("wandb sync " + str(tmp_path / "wandb/offline-run-20260102-abc"))


def test_without_a_home_directory_nothing_is_logged_over_the_run(tmp_path):
    # As in some batch jobs. A process of its own: wandb looks for its directories once.
    program = (
        "import sys, functools, pathlib; from lightning.pytorch.loggers import WandbLogger\n"
        "from minitx.training.dashboards import close_loggers, make_loggers\n"
        "labels = {'name': 'run', 'group': None, 'tags': []}\n"
        "factory = functools.partial(WandbLogger, project='minitx')\n"
        "close_loggers(make_loggers({'wandb': factory}, pathlib.Path(sys.argv[1]), labels, {}), 0)\n"
    )
    kept = (name for name in os.environ if not name.startswith(("HOME", "XDG_", "WANDB_")))
    environment = {name: os.environ[name] for name in kept} | {"WANDB_MODE": "offline"}
    command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "wandb").glob("offline-run-*"))
