"""`minitx train`: one run, or with -m a sweep."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from minitx.config.compose import compose, hydra_settings
from minitx.config.hydra_tree import SEARCH_PATH
from minitx.config.identity import config_hash, to_plain
from minitx.config.targets import make_importable
from minitx.errors import UserError
from minitx.sweep.claim import claimed
from minitx.sweep.job import train_once
from minitx.sweep.runs import done_run, find_runs


def main(argv: Sequence[str]) -> None:
    """Train as the overrides in `argv` say.

    Raises:
        UserError: if an override, a key or a value is wrong; nothing has been done then.
        minitx.sweep.sweep.SweepFailed: if a job of a sweep failed.
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
        return
    several = arguments.multirun or hydra_settings(overrides).mode == RunMode.MULTIRUN
    if arguments.dry_run:
        from minitx.sweep.dry_run import dry_run

        dry_run(overrides, several)
    elif several:
        from minitx.sweep.sweep import sweep

        sweep(overrides)
    else:
        _train(compose(overrides))


def _train(config: DictConfig) -> None:
    """A single run. It is always made, beside those that there are of the same configuration."""
    runs, key = Path(config.run_directory), config_hash(config)
    with claimed(runs, key) as holder:
        done = done_run(find_runs(runs, key))
        if holder is not None:
            print(
                f"minitx: {holder} is training this configuration; this run has a directory of its own", file=sys.stderr
            )
        elif done is not None:
            print(
                f"minitx: {done.path} is this configuration, {done.status}; this run gets a directory beside it",
                file=sys.stderr,
            )
        train_once(config)


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("minitx train", add_help=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("-n", "--dry-run", action="store_true")
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
