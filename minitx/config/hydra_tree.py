"""Hydra's side of the configuration: the tree of files, its options, and what Hydra makes of overrides."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import DictConfig

from minitx.resources import configs_directory

CONFIG_NAME = "train"
VERSION_BASE = "1.3"
SEARCH_PATH = "hydra.searchpath"


@dataclass
class ConfigTree:
    """`configs/` and whatever the overrides' `hydra.searchpath` adds to it. Errors are Hydra's own.

    Attributes:
        loader: Hydra's reader of that tree.
        search_path: the overrides that set the search path; options of outside packages need them.
    """

    loader: ConfigLoader
    search_path: list[str]

    def compose(self, overrides: Sequence[str], mode: RunMode = RunMode.RUN) -> DictConfig:
        """What Hydra composes, its own node `hydra` included."""
        return self.loader.load_configuration(CONFIG_NAME, overrides=[*overrides], run_mode=mode)

    def chosen(self, choices: Mapping[str, Any]) -> DictConfig:
        """The chosen options' files alone, each at its place, without what values and experiments make of them.

        Args:
            choices: an option's name by the group's name in the defaults list, as in `hydra.runtime.choices`.
        """
        options = [
            f"+{group}={choice}"
            for group, choice in choices.items()
            if isinstance(choice, str) and group != "experiment" and not group.startswith("hydra/")
        ]
        return self.loader.load_configuration(None, [*self.search_path, *options], RunMode.RUN)

    def options(self, group: str) -> list[str]:
        """The names of a group's options."""
        return self.loader.get_group_options(group, config_name=CONFIG_NAME, overrides=self.search_path)

    def groups(self) -> list[str]:
        """The names of the groups, Hydra's own left out."""
        return [group for group in self.loader.list_groups("") if group != "hydra"]


@contextmanager
def config_tree(overrides: Sequence[str] = ()) -> Iterator[ConfigTree]:
    """The tree that these overrides compose from. Hydra's global state is put back at the end."""
    search_path = [override for override in overrides if override.lstrip("+").startswith(f"{SEARCH_PATH}=")]
    current = GlobalHydra.instance()
    outer, current.hydra = current.hydra, None  # a job of a sweep composes inside the sweep's own tree
    try:
        with hydra.initialize_config_dir(str(configs_directory()), version_base=VERSION_BASE), _missing_path_fails():
            yield ConfigTree(GlobalHydra.instance().config_loader(), search_path)
    finally:
        current.hydra = outer


@contextmanager
def _missing_path_fails() -> Iterator[None]:
    """A search path that does not exist would otherwise be a warning, and then a missing option."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*is not available", category=UserWarning)
        yield


def expand_home(override: str) -> str:
    """`data.path=~/corpus` with the home directory written out: few shells do it there, and Hydra cannot read `~/`."""
    key, equals, value = override.partition("=")
    return f"{key}={Path(value).expanduser()}" if equals and value.startswith("~/") else override
