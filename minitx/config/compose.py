"""From overrides to the configuration of one run: Hydra composes, then it is completed, checked and named."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from minitx.config.check import check, check_groups
from minitx.config.explain import explain
from minitx.config.hydra_tree import ConfigTree, config_tree
from minitx.config.identity import default_name, refuse_environment
from minitx.config.sites import SITES, fill_sites
from minitx.errors import UserError

PATHS = ("run_directory", "data.path", "data.tokenizer")


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
    with config_tree(overrides) as tree:
        config = _compose(overrides, tree)
        choices = dict(config.hydra.runtime.choices)
        OmegaConf.set_struct(config, False)
        del config["hydra"]
        check_groups(config)
        _resolved(config)
        _refuse_missing(config)

        def option_of(group: str) -> DictConfig | None:
            return tree.option(group, choices.get(group))

        def group_keys(path: str) -> set[str]:
            group, _, rest = path.partition(".")
            option = option_of(group)
            node = option if not rest or option is None else OmegaConf.select(option, rest)
            return set(map(str, node)) if isinstance(node, DictConfig) else set()

        given = _given_values(overrides, tree)
        fill_sites(config, option_of, [key for key, _ in given])
        _make_paths_absolute(config, Path(launch_directory).resolve())
        config.options = _chosen_options(config, choices, tree)
        check(_resolved(config), group_keys)
    refuse_environment(config)
    if config.name is None:
        config.name = default_name(config.options, given, config.seed)
    OmegaConf.set_struct(config, True)
    return config


def hydra_settings(overrides: Sequence[str]) -> DictConfig:
    """Hydra's own node for these overrides, which may list several values: the mode, the sweeper, the launcher."""
    with config_tree(overrides) as tree:
        return _compose(overrides, tree, RunMode.MULTIRUN).hydra


def _compose(overrides: Sequence[str], tree: ConfigTree, mode: RunMode = RunMode.RUN) -> DictConfig:
    try:
        return tree.compose(overrides, mode)
    except Exception as error:
        raise explain(error, overrides, tree, mode) from error


def _given_values(overrides: Sequence[str], tree: ConfigTree) -> list[tuple[str, Any]]:
    """Dotted keys and values that overrides set, options and Hydra's own keys left out."""
    groups = tree.groups()
    return [
        (override.key_or_group, override.value())
        for override in OverridesParser.create().parse_overrides([*overrides])
        if override.package is None
        and override.key_or_group not in groups
        and not override.key_or_group.startswith("hydra.")
        and not override.is_delete()
    ]


def _refuse_missing(config: DictConfig) -> None:
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        raise UserError(f"{missing[0]} has no value yet: give {missing[0]}=….")


def _make_paths_absolute(config: DictConfig, launch_directory: Path) -> None:
    keys = [*PATHS, *([] if config.get("resume") in (None, "auto") else ["resume"])]
    for key in keys:
        path = OmegaConf.select(config, key)
        if isinstance(path, str):
            OmegaConf.update(config, key, str(launch_directory / Path(path).expanduser()))


def _chosen_options(config: DictConfig, choices: Mapping[str, Any], tree: ConfigTree) -> dict[str, Any]:
    """What fills each slot, by the group's name in the defaults list."""
    options = {group: choices[group] for group in sorted(choices) if choices[group] and "hydra/" not in group}
    for group in ("attention", *(f"attention@model.{site}" for site in SITES)):
        node = OmegaConf.select(config, group.partition("@")[2] or group)
        option = tree.option(group, choices.get(group))
        if isinstance(node, DictConfig) and node.get("_target_") is not None:
            set_apart = group == "attention" or node._target_ != config.attention._target_
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
