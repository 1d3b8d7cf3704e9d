"""`minitx train`: one run, or with -m a sweep through Hydra's launchers."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra._internal.callbacks import Callbacks
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import InstantiationException
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig, OmegaConf

from minitx.config.compose import compose, hydra_settings
from minitx.config.hydra_tree import CONFIG_NAME, SEARCH_PATH, config_tree, expand_home
from minitx.config.identity import to_plain
from minitx.errors import UserError


class SweepFailed(Exception):
    """Some jobs of a sweep failed while the others finished; the message names each and its reason."""


def main(argv: Sequence[str]) -> None:
    """Train as the overrides in `argv` say.

    Raises:
        UserError: if an override, a key or a value is wrong; nothing has been done then.
        SweepFailed: if a job of a sweep failed.
    """
    arguments = _arguments(argv)
    if arguments.help:
        from minitx.train_help import train_help

        print(train_help(), end="")
        return
    overrides = [*arguments.overrides]
    if arguments.config_dir:
        overrides = _add_search_path(overrides, arguments.config_dir)
    make_importable(Path.cwd())
    if arguments.cfg:
        print(OmegaConf.to_yaml(OmegaConf.create(to_plain(compose(overrides)))), end="")
    elif arguments.multirun or hydra_settings(overrides).mode == RunMode.MULTIRUN:
        sweep(overrides)
    else:
        _train(compose(overrides))


def sweep(overrides: Sequence[str]) -> None:
    """Run one job for each combination of the values that overrides list, through Hydra's launcher.

    Every job's configuration is checked before the first job begins, and one that fails leaves the others running.

    Raises:
        UserError: if the configuration of a job is wrong.
        SweepFailed: if a job failed.
    """
    overrides = [*map(expand_home, overrides), "hydra.mode=MULTIRUN"]
    hydra_settings(overrides)  # for its errors, which are in plain words
    with config_tree(overrides) as tree:
        config = tree.compose(overrides, RunMode.MULTIRUN)
        if not config.hydra.sweeper._target_.endswith(".BasicSweeper"):
            hydra = GlobalHydra.instance().hydra
            assert hydra is not None
            hydra.multirun(CONFIG_NAME, run_job, overrides)  # an optimiser chooses the jobs
            return
        batches = _batches(config.hydra, tree.loader)
        _check_jobs([job for batch in batches for job in batch], config.hydra.overrides.hydra)
        context = HydraContext(config_loader=tree.loader, callbacks=Callbacks(config))
        launcher = Plugins.instance().instantiate_launcher(context, run_job, config)
        results: list[JobReturn] = []
        for batch in batches:
            results += launcher.launch(batch, initial_job_idx=len(results))
    _raise_failures(results)


def _batches(settings: DictConfig, loader: ConfigLoader) -> list[list[list[str]]]:
    """Each job's overrides: the product of the values listed. Hydra's own sweeper would leave a `multirun.yaml`."""
    parameters = [f"{key}={values}" for key, values in (settings.sweeper.params or {}).items()]
    parsed = OverridesParser.create(loader).parse_overrides([*parameters, *settings.overrides.task])
    return BasicSweeper.split_arguments(parsed, settings.sweeper.max_batch_size)


def _check_jobs(jobs: list[list[str]], settings: Sequence[str]) -> None:
    print(f"minitx: a sweep of {len(jobs)} jobs", file=sys.stderr)
    for number, job in enumerate(jobs):
        try:
            compose([*settings, *job])
        except UserError as error:
            raise UserError(f"{_label(number, job)}: {error}") from error


def run_job(_: DictConfig) -> Any:
    """One job of a sweep, in whatever process the launcher runs it. Its configuration is composed as a single run's."""
    settings = HydraConfig.get()
    launch_directory = Path(settings.runtime.cwd)
    make_importable(launch_directory)
    label = _label(settings.job.num, settings.overrides.task)
    print(f"minitx: {label}", file=sys.stderr)
    overrides = [override for override in settings.overrides.hydra if not override.startswith("hydra.mode=")]
    overrides += [*settings.overrides.task, "hydra.mode=RUN"]
    try:
        with _as_single_run(overrides):
            return _train(compose(overrides, launch_directory))
    except Exception as error:
        if signal_number := getattr(error, "signal_number", None):  # Ctrl-C ends the sweep, not this job alone
            print(f"minitx: {label}: {error} The sweep ends here.", file=sys.stderr)
            raise SystemExit(128 + signal_number) from error
        print(f"minitx: {label} failed: {_reason(error)}", file=sys.stderr)
        raise


def make_importable(directory: Path) -> None:
    """Let `_target_` and `pkg://` find packages in a directory, after all that is installed."""
    if str(directory) not in sys.path:
        sys.path.append(str(directory))


def _train(config: DictConfig) -> Any:
    # Lightning and the data libraries take seconds to import: a mistake in the configuration is reported before that.
    from minitx.train import train

    try:
        return train(config)
    except InstantiationException as error:  # Hydra wraps what a constructor raises
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from error
        raise


@contextmanager
def _as_single_run(overrides: Sequence[str]) -> Iterator[None]:
    """Make the job look like `minitx train OVERRIDES`.

    Lightning starts a run's further processes with the command of this one: they must train this job, not the sweep.
    """
    hydra_config, argv = HydraConfig.instance(), sys.argv
    settings, hydra_config.cfg = hydra_config.cfg, None
    sys.argv = [argv[0], "train", *overrides]
    try:
        yield
    finally:
        sys.argv, hydra_config.cfg = argv, settings


def _raise_failures(jobs: Sequence[JobReturn]) -> None:
    failed = [number for number, job in enumerate(jobs) if job.status != JobStatus.COMPLETED]
    if failed:
        lines = [
            f"{_label(number, jobs[number].overrides or [])}: {_reason(jobs[number]._return_value)}"
            for number in failed
        ]
        raise SweepFailed("\n".join([f"{len(failed)} of {len(jobs)} jobs failed.", *lines]))


def _label(number: int, overrides: Sequence[str]) -> str:
    return f"job {number + 1} ({' '.join(overrides) or 'no overrides'})"


def _reason(error: Any) -> str:
    return " ".join(str(error).split()) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("minitx train", add_help=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("-c", "--cfg", choices=["job"])
    parser.add_argument("-cd", "--config-dir")
    arguments, others = parser.parse_known_intermixed_args(argv)
    if others:
        raise UserError(f"minitx train has no option {others[0]}; `minitx train --help` lists what there is.")
    return arguments


def _add_search_path(overrides: list[str], directory: str) -> list[str]:
    """`--config-dir DIR` as the search path it stands for."""
    if any(override.lstrip("+").startswith(f"{SEARCH_PATH}=") for override in overrides):
        raise UserError(f"--config-dir and {SEARCH_PATH} are both given: put {directory} into {SEARCH_PATH}.")
    if not os.path.isdir(directory):
        raise UserError(f"--config-dir {directory}: there is no such directory.")
    return [f"{SEARCH_PATH}=['file://{os.path.abspath(directory)}']", *overrides]
