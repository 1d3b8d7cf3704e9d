"""The composed configuration checked once more.

Hydra accepts any key that an override adds with `+` and any key that a file spells wrong. Here every key must be one
that its `_target_` takes or that its group has, and every value one that its rule allows, before any work begins.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from omegaconf import DictConfig

from minitx.config.nearest import listed, nearest
from minitx.config.rules import RULES, check_together, rule_for
from minitx.config.sites import SITES
from minitx.config.targets import DIRECTIVES, find_target, signature_of
from minitx.errors import UserError

Plain = Mapping[str, Any]

ROOT_KEYS = ("seed", "name", "group", "tags", "run_directory", "resume", "options")
GROUPS = ("attention", "model", "data", "training", "optimizer", "schedule", "trainer", "callbacks", "logger")

COLLECTIONS = ("logger", "callbacks")
NEEDING_A_TARGET = ("attention", "model", "optimizer", "schedule")

# What the program itself passes to a target, and which key decides it.
GIVEN_AT_A_SITE = {"d_k": "model.d_k", "num_heads": "model.num_heads"}
GIVEN: Mapping[str, Mapping[str, str]] = {
    "attention": GIVEN_AT_A_SITE,
    **{f"model.{site}": GIVEN_AT_A_SITE for site in SITES},
    "model": {"vocab_size": "data.vocab_size", "seed": "seed", "pad_id": ""},
    "optimizer": {"params": "", "lr": "schedule.peak_learning_rate"},
    "logger.tensorboard": {"save_dir": "run_directory", "name": "name", "version": "name"},
    "logger.wandb": {
        "save_dir": "run_directory",
        "name": "name",
        "group": "group",
        "tags": "tags",
        "config": "",
        "offline": "",
        "log_model": "",
    },
}
# Targets that must take all of these: attention sites and the model call them by name.
CALLED_BY_NAME = ("attention", "model", *(f"model.{site}" for site in SITES))


def check(config: Plain, group_keys: Callable[[str], set[str]]) -> None:
    """Raise UserError at the first key or value that a run could not use.

    Args:
        config: resolved plain data.
        group_keys: the keys that the chosen option of a group has in its file, for groups without a `_target_`.
    """
    _check_names("", config, {*ROOT_KEYS, *GROUPS}, config)
    for key, value in config.items():
        if key in RULES:
            RULES[key].check(key, value)
    for group in GROUPS:
        _check_node(group, config[group], group_keys)
        _check_complete(group, config[group])
    check_together(config)


def check_groups(config: Plain) -> None:
    """Raise UserError where a whole group is missing, or is a value instead of a group of keys."""
    for group in GROUPS:
        if not isinstance(config.get(group), Mapping):
            value = config.get(group)
            hint = (
                f" A file does that in its defaults list: override /{group}: {value}." if isinstance(value, str) else ""
            )
            raise UserError(f"{group}={value}: choose one of the options of {group}.{hint}")
        if group in NEEDING_A_TARGET and config[group].get("_target_") is None:
            raise UserError(f"{group}._target_ is not given: choose an option of {group}, or name a class or function.")


def _check_node(path: str, node: Plain, group_keys: Callable[[str], set[str]]) -> None:
    if "_target_" in node:
        _check_target(path, node)
    elif path in COLLECTIONS:
        _check_collection(path, node)
    elif not ruled_keys(path).issuperset(node):  # only then is the option's file read
        _check_names(path, node, ruled_keys(path) | group_keys(path), node)
    for name, value in node.items():
        key = f"{path}.{name}"
        if isinstance(value, dict):
            _check_node(key, value, group_keys)
        elif key in RULES:
            RULES[key].check(key, value)


def _check_complete(group: str, node: Plain) -> None:
    """`training` and `trainer` are read key by key: what is left of them after `~training` is not enough."""
    missing = ruled_keys(group) - set(node) if group in ("training", "trainer") else set()
    if missing:
        raise UserError(f"{group}.{min(missing)} is not given: leave {group} as it is, or choose one of its options.")


def _check_collection(path: str, node: Plain) -> None:
    """Any name may stand in a collection, with a `_target_` below it; null takes one out of it."""
    whole = {name: inner for name, inner in node.items() if isinstance(inner, Mapping) and inner.get("_target_")}
    for name, inner in node.items():
        if name not in whole and inner is not None:
            if whole and isinstance(inner, Mapping):
                _check_names(path, {name: inner}, set(whole), whole)
            raise UserError(f"{path}.{name} has no _target_: name the class with +{path}.{name}._target_=….")


def ruled_keys(path: str) -> set[str]:
    """The keys of a node that have a rule."""
    return {key.removeprefix(f"{path}.").split(".")[0] for key in RULES if key.startswith(f"{path}.")}


def _check_target(path: str, node: Plain) -> None:
    target = find_target(path, node["_target_"])
    signature = signature_of(target)
    given = GIVEN.get(path, {})
    for name in node:
        if name in given:
            raise UserError(given_key(path, name))
        if name not in DIRECTIVES and not signature.takes(name):
            raise UserError(unknown_key(f"{path}.{name}", accepted_keys(path, node)))
    for name in given:
        if path in CALLED_BY_NAME and not signature.takes(name):
            called = listed(f"{name}=…" for name in given)
            raise UserError(f"{path}._target_={node['_target_']} takes no {name}: it is called with {called}.")
    missing = signature.required - set(node) - set(given)
    if missing and not node.get("_args_") and not path.startswith("logger"):
        name = sorted(missing)[0]
        raise UserError(f"{path}._target_={node['_target_']} needs {name}: give +{path}.{name}=….")
    for name, value in node.items():
        key = f"{path}.{name}"
        for rule in (RULES.get(key), rule_for(signature.parameters.get(name))):
            if rule is not None:
                rule.check(key, value)


def accepted_keys(path: str, node: Plain) -> set[str]:
    """Dotted keys that the `_target_` of a node takes from the configuration."""
    signature = signature_of(find_target(path, node["_target_"]))
    names = set(signature.parameters) - set(GIVEN.get(path, {}))
    return {f"{path}.{name}" for name in names | {"_target_"}}


def _check_names(path: str, node: Plain, valid: set[str], examples: Plain) -> None:
    """Every name in `node` must be in `valid`; below those, `examples` knows what else could have been meant."""
    prefix = f"{path}." if path else ""
    for name, value in node.items():
        if name not in valid:
            wrong = [f"{prefix}{name}.{rest}" for rest in _leaves(value)] or [f"{prefix}{name}"]
            known = {other: inner for other, inner in examples.items() if other in valid}
            raise UserError(unknown_key(wrong[0], every_key(known, prefix) | {f"{prefix}{name}" for name in valid}))


def given_key(path: str, name: str) -> str:
    """The message for a key that is not the configuration's to give."""
    decided = GIVEN[path][name]
    return f"{path}.{name} is not for you to give: " + (f"set {decided}." if decided else "minitx passes it itself.")


def unknown_key(key: str, valid: set[str]) -> str:
    """The message for a key that does not exist, with the nearest that does."""
    message = f"There is no key {key}; did you mean {nearest(key, valid)}?"
    group = key.rpartition(".")[0]
    if valid == {f"{group}._target_"}:
        message += f" What {group}._target_ names takes no key of its own."
    return message


def every_key(node: Any, prefix: str = "") -> set[str]:
    """Dotted keys of a node, of groups and of values alike."""
    keys = set()
    for key, value in node.items_ex(resolve=False) if isinstance(node, DictConfig) else node.items():
        name = str(key)
        if name == "_target_" or name not in DIRECTIVES:
            keys.add(f"{prefix}{name}")
        if isinstance(value, Mapping) and not (isinstance(value, DictConfig) and value._is_none()):
            keys |= every_key(value, f"{prefix}{name}.")
    return keys


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            rest = list(_leaves(inner))
            yield from (f"{name}.{leaf}" for leaf in rest) if rest else [str(name)]
