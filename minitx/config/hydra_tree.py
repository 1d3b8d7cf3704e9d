"""Hydra's side of the configuration: the tree of files, its options, and what Hydra makes of overrides."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import hydra
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

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
        read: options read so far, by group and name.
    """

    loader: ConfigLoader
    search_path: list[str]
    read: dict[str, DictConfig | None] = field(default_factory=dict)

    def compose(self, overrides: Sequence[str], mode: RunMode = RunMode.RUN) -> DictConfig:
        """What Hydra composes, its own node `hydra` included."""
        return self.loader.load_configuration(CONFIG_NAME, overrides=[*overrides], run_mode=mode)

    def option(self, group: str, choice: Any) -> DictConfig | None:
        """The content of an option's file at its place in the tree; None where no single option is chosen."""
        if not isinstance(choice, str):
            return None
        path = f"{group.partition('@')[0]}/{choice}"
        if path not in self.read:
            loaded = self.loader.load_configuration(path, overrides=self.search_path, run_mode=RunMode.RUN)
            self.read[path] = OmegaConf.select(loaded, path.rpartition("/")[0])
        return self.read[path]

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
    with hydra.initialize_config_dir(str(configs_directory()), version_base=VERSION_BASE), warnings.catch_warnings():
        # A search path that does not exist would otherwise be a warning, then a missing option.
        warnings.filterwarnings("error", message=".*is not available", category=UserWarning)
        yield ConfigTree(GlobalHydra.instance().config_loader(), search_path)
