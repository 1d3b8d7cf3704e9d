"""Where figures go beside metrics.csv: TensorBoard files and Weights & Biases, through Lightning's loggers."""

import netrc
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

LoggerFactory = Callable[..., Logger]


def make_loggers(
    factories: Mapping[str, LoggerFactory], directory: Path, labels: Mapping[str, Any], config: Mapping[str, Any]
) -> list[Logger]:
    """The loggers of one run, each with files of its own inside the run directory.

    Args:
        factories: by name, partial constructors from the `logger` group.
        directory: the run directory.
        labels: `name`, `group` and `tags` of the run, which dashboards sort runs by.
        config: the whole configuration, shown as the run's hyperparameters.
    """
    _quieten_wandb()
    loggers = []
    for factory in factories.values():
        made = getattr(factory, "func", factory)
        if made is WandbLogger and os.environ.get("WANDB_MODE") == "disabled":
            continue  # Lightning's logger would make it "offline"
        if made is TensorBoardLogger:
            logger = factory(save_dir=str(directory), name="", version="tensorboard")
        elif made is WandbLogger:
            logger = _wandb_logger(partial(factory, save_dir=str(directory), config=dict(config), **labels))
        else:
            logger = factory(save_dir=str(directory))
        if made is not WandbLogger:
            logger.log_hyperparams(dict(config))
        loggers.append(logger)
    return loggers


def _wandb_logger(make: LoggerFactory) -> WandbLogger:
    """A run on the server if the user is logged in and it answers, else one that stays in the run directory."""
    for offline in [True] if not wandb_is_logged_in() else [False, True]:
        logger = make(offline=offline, log_model=False)
        assert isinstance(logger, WandbLogger)
        # Lightning passes this on though it is not set, and wandb would warn of it at every start.
        logger._wandb_init.pop("anonymous", None)
        # wandb reads the environment once a process, maybe before it was as it is now.
        logger._wandb_init["mode"] = "offline" if offline else "online"
        try:
            _ = logger.experiment
        except Exception as error:  # of whatever kind: a dashboard is no reason not to train
            if offline:
                raise
            reason = (str(error) or type(error).__name__).strip().splitlines()[0]
            print(f"Weights & Biases does not take this run ({reason}): it stays offline.", file=sys.stderr)
        else:
            break
    return logger


def publish_report(directory: Path, project: str) -> str:
    """Keep a report as an artifact of a run of its own, beside the runs it is about; a line that says where it went.

    Args:
        directory: what `minitx report` wrote. Without a login the run's files go to `wandb/` beside it.
        project: the project of Weights & Biases.
    """
    _quieten_wandb()
    place = directory.resolve().parent
    labels = {"project": project, "name": directory.name, "job_type": "report", "save_dir": str(place)}
    logger = _wandb_logger(partial(WandbLogger, **labels))
    run = logger.experiment
    run.log_artifact(str(directory), name=_artifact_name(directory.name), type="report")
    online, url = logger._wandb_init.get("mode") != "offline", getattr(run, "url", None)
    run.finish()
    return f"report kept as an artifact of {url}" if online and url else upload_hint(place) or ""


def _artifact_name(name: str) -> str:
    """What Weights & Biases takes as the name of an artifact: letters, digits, `-`, `_` and `.`."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:128]


def draw_together(loggers: Sequence[Logger], charts: Mapping[str, Mapping[str, list[str]]]) -> None:
    """Have several curves drawn in one chart where a dashboard lets a run ask for it: TensorBoard's "Custom Scalars".

    Args:
        loggers: a run's; may be called once a run.
        charts: names of figures by category and title.
    """
    layout = {
        category: {title: ["Multiline", [f"^{re.escape(name)}$" for name in names]] for title, names in titles.items()}
        for category, titles in charts.items()
    }
    for logger in loggers:
        if isinstance(logger, TensorBoardLogger):
            logger.experiment.add_custom_scalars(layout)


def wandb_is_logged_in() -> bool:
    """Whether a key for Weights & Biases is at hand and the user has not asked for another mode."""
    mode = os.environ.get("WANDB_MODE")
    if mode:
        return mode == "online"
    if os.environ.get("WANDB_API_KEY"):
        return True
    host = urlparse(os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    try:
        return netrc.netrc(os.environ.get("NETRC")).authenticators(host) is not None  # NETRC: as wandb itself looks
    except (OSError, netrc.NetrcParseError):
        return False


def close_loggers(loggers: list[Logger], exit_code: int) -> None:
    """End the dashboards' runs, so that a sweep's next job opens its own."""
    for logger in loggers:
        logger.finalize("success" if exit_code == 0 else "failed")
        if isinstance(logger, WandbLogger):
            logger.experiment.finish(exit_code=exit_code)


def upload_hint(directory: Path) -> str | None:
    """One line that says how to upload an offline Weights & Biases run, if there is one."""
    runs = sorted((directory / "wandb").glob("offline-run-*"))
    return f"Weights & Biases kept this run offline; upload it with: wandb sync {runs[-1]}" if runs else None


def _quieten_wandb() -> None:
    """No prompt, no chatter, no wait for a network that is not there. The user's own settings win."""
    settings = {
        "WANDB_SILENT": "true",
        "WANDB_CONSOLE": "off",
        "WANDB_DISABLE_CODE": "true",
        "WANDB_INIT_TIMEOUT": "20",  # seconds; wandb's own 90 are long where there is a key and no network
    }
    if os.name == "posix" and "HOME" not in os.environ:  # as in some batch jobs; wandb would log to the terminal then
        settings["XDG_CACHE_HOME"] = os.path.join(os.path.expanduser("~"), ".cache")
    for name, value in settings.items():
        os.environ.setdefault(name, value)
