"""From overrides to the configuration of one run: Hydra composes, then it is completed, checked and named."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from minitx.config.check import COLLECTIONS, check, check_groups
from minitx.config.explain import explain
from minitx.config.hydra_tree import ConfigTree, config_tree, expand_home
from minitx.config.identity import default_name, refuse_environment
from minitx.config.nearest import listed
from minitx.config.rules import RULES
from minitx.config.sites import SITES, drop_replaced_keys, fill_sites
from minitx.errors import UserError

# Groups whose `_target_` a value may replace, and with it everything that the option's file says.
ALSO_REPLACED = ("optimizer", "schedule")
SLOTS = ("attention", *(f"attention@model.{site}" for site in SITES), *ALSO_REPLACED)
PATHS = ("run_directory", "data.path", "data.tokenizer", "data.cache_directory")


def compose(overrides: Sequence[str] = (), launch_directory: str | Path = ".") -> DictConfig:
    """The checked configuration of one run: every attention site filled in, paths absolute, a name given.

    Besides the keys of `configs/train.yaml` it has `options`, which says what fills each slot: the name of the option
    or, where a value has replaced its `_target_`, of the class.

    Args:
        overrides: as on the command line: `attention=additive`, `model.d_k=64`, `+attention.my_key=3`.
        launch_directory: where relative paths start.

    Raises:
        UserError: if an override, a key or a value is wrong; the message names it and the nearest valid one.
    """
    overrides = [expand_home(override) for override in overrides]
    with config_tree(overrides) as tree:
        config = _compose(overrides, tree)
        choices = dict(config.hydra.runtime.choices)
        choosing, values = _split(overrides, tree.groups())
        _refuse_two_options(choosing)
        OmegaConf.set_struct(config, False)
        del config["hydra"]
        check_groups(config)
        _resolved(config)
        _refuse_missing(config)
        files = tree.chosen({slot: choices[slot] for slot in SLOTS if slot in choices})

        def group_keys(path: str) -> set[str]:
            group = path.partition(".")[0]
            node = OmegaConf.select(tree.chosen({group: choices.get(group)}), path)
            return set(map(str, node)) if isinstance(node, DictConfig) else set()

        changed = [key for key, _ in values]
        fill_sites(config, files, changed)
        for group in ALSO_REPLACED:
            drop_replaced_keys(config, group, files, changed)
        _make_paths_absolute(config, Path(launch_directory).resolve())
        config.options = _chosen_options(config, choices, files)
        refuse_environment(config)  # before a message could show the variable's value
        check(_resolved(config), group_keys)
    _make_real(config)
    if config.name is None:
        config.name = default_name(config.options, values, config.seed)
    OmegaConf.set_struct(config, True)
    return config


def hydra_settings(overrides: Sequence[str]) -> DictConfig:
    """Hydra's own node for these overrides, which may list several values: the mode, the sweeper, the launcher."""
    overrides = [expand_home(override) for override in overrides]
    with config_tree(overrides) as tree:
        settings: DictConfig = _compose(overrides, tree, RunMode.MULTIRUN).hydra
    return settings


def _compose(overrides: Sequence[str], tree: ConfigTree, mode: RunMode = RunMode.RUN) -> DictConfig:
    try:
        return tree.compose(overrides, mode)
    except Exception as error:
        raise explain(error, overrides, tree, mode) from error


def _split(overrides: Sequence[str], groups: Collection[str]) -> tuple[list[Override], list[tuple[str, Any]]]:
    """Overrides that choose options, and dotted keys with the values that others set; Hydra's own keys left out."""
    choosing, values = [], []
    for override in OverridesParser.create().parse_overrides([*overrides]):
        key = override.key_or_group
        if override.package is not None or key in groups:
            choosing.append(override)
        elif not key.startswith(("hydra.", "hydra/")) and not override.is_delete():
            values.append((key, override.value()))
    return choosing, values


def _refuse_two_options(choosing: Sequence[Override]) -> None:
    """Hydra would merge them, the last one's keys over the first one's."""
    for override in choosing:
        if override.key_or_group not in {*COLLECTIONS, "experiment"} and isinstance(override.value(), list):
            raise UserError(f"{override.input_line}: choose one option; for one run each, add -m and leave out [].")


def _refuse_missing(config: DictConfig) -> None:
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        given = " ".join(f"{key}=…" for key in missing)
        raise UserError(f"{listed(missing)} {'has' if len(missing) == 1 else 'have'} no value yet: give {given}.")


def _make_paths_absolute(config: DictConfig, launch_directory: Path) -> None:
    for key in (*PATHS, "resume", "data.name"):
        path = OmegaConf.select(config, key)
        if path == "":
            raise UserError(f"{key} is empty: give a path, or leave {key}= out.")
        if isinstance(path, str) and not (key == "resume" and path == "auto"):
            absolute = launch_directory / Path(path).expanduser()
            if key != "data.name" or absolute.is_dir():  # a dataset is the name of one on the Hub or a directory
                OmegaConf.update(config, key, str(absolute))


def _make_real(config: DictConfig) -> None:
    """0 is written where 0.0 is meant; code that asks for a float shall get one."""
    for key, rule in RULES.items():
        value = OmegaConf.select(config, key)
        if rule.real and isinstance(value, int):
            OmegaConf.update(config, key, float(value))


def _chosen_options(config: DictConfig, choices: Mapping[str, Any], files: DictConfig) -> dict[str, Any]:
    """What fills each slot, by the group's name in the defaults list."""
    options = {group: choices[group] for group in sorted(choices) if choices[group] and "hydra/" not in group}
    for group in SLOTS:
        key = group.partition("@")[2] or group
        node, option = OmegaConf.select(config, key), OmegaConf.select(files, key)
        if isinstance(node, DictConfig) and node.get("_target_") is not None:
            set_apart = "@" not in group or node._target_ != config.attention._target_
            if set_apart and (option is None or option.get("_target_") != node._target_):
                options[group] = str(node._target_).rpartition(".")[2]
    return options


def _resolved(config: DictConfig) -> dict[str, Any]:
    try:
        resolved = OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        key = getattr(error, "full_key", None)
        raise UserError(f"{key}: {str(error).splitlines()[0]}.") from error
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}
