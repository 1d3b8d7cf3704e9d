"""Hydra's errors in a user's words: which override is at fault, and the nearest valid key or option."""

import re
from collections.abc import Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from minitx.config.check import COLLECTIONS, GIVEN, accepted_keys, every_key, given_key, unknown_key
from minitx.config.hydra_tree import SEARCH_PATH, ConfigTree
from minitx.config.nearest import listed, nearest
from minitx.errors import UserError

# Launchers of sweeps that come with an extra of minitx.
EXTRAS = {"joblib": "joblib", "submitit_local": "submitit", "submitit_slurm": "submitit"}


def explain(error: Exception, overrides: Sequence[str], tree: ConfigTree, mode: RunMode = RunMode.RUN) -> UserError:
    """The UserError that says what Hydra's `error` means for somebody who typed `overrides`.

    The override at fault is found by adding one after the other, options first, until composing fails.
    """
    if isinstance(error, OverrideParseException):
        return _unreadable(error.override)
    if "is not available" in str(error) and isinstance(error, UserWarning):
        path = str(error).partition("path=")[2].partition(" is not")[0]
        return UserError(f"{SEARCH_PATH}: there is no directory or package {path}.")
    parsed = OverridesParser.create().parse_overrides([*overrides])
    good: list[str] = []
    try:
        base = tree.compose(good, mode)
    except Exception:
        return UserError(f"The configuration files do not compose: {_first_lines(error)}")
    for override in sorted(parsed, key=lambda override: _is_value(override, tree)):
        line = override.input_line or ""
        try:
            base = tree.compose([*good, line], mode)
        except Exception as fault:
            return _explain_one(override, fault, base, tree)
        good.append(line)
    return UserError(f"The configuration files do not compose: {_first_lines(error)}")


def _is_value(override: Override, tree: ConfigTree) -> bool:
    """Search paths first, then options, then values."""
    group = override.key_or_group
    return not (group == SEARCH_PATH or override.package is not None or group in tree.groups())


def _explain_one(override: Override, error: Exception, base: DictConfig, tree: ConfigTree) -> UserError:
    line, text = override.input_line or "", str(error)
    if isinstance(error, MissingConfigException):
        return _missing_option(line, error)
    if "requires --multirun" in text or "Ambiguous value" in text:
        return UserError(f"{line} gives several values: add -m for one run each, or write [a,b] for a list.")
    if isinstance(error, ValueError) and "Got NoneType" in text:
        return UserError(f"{line}: an option cannot be null; leave it out, or write ~{line.partition('=')[0]}.")
    if "Multiple values for" in text:
        return UserError(f"{line}: {override.key_or_group} has an option already; write {line.lstrip('+')}.")
    if "Could not append to config" in text:
        return UserError(f"{line}: {override.key_or_group} has a value already; write {line.lstrip('+')}.")
    if "No match in the defaults list" in text or override.package is not None:
        return _unknown_site(override, text, base)
    key = override.key_or_group
    if "Could not override" in text or "Could not delete" in text:
        return _unknown_key(key, line, base, tree)
    return UserError(f"{line} does not fit into the configuration: {_first_lines(error)}")


def _missing_option(line: str, error: MissingConfigException) -> UserError:
    group, _, name = (error.missing_cfg_file or "").rpartition("/")
    typed = f"{group}={name}"
    asked = "" if line.endswith(f"={name}") else f"{line} asks for it. "
    if group == "hydra/launcher" and name in EXTRAS:
        return UserError(f"{typed} needs a plugin that is not installed: pip install 'minitx[{EXTRAS[name]}]'.")
    if not error.options:
        return UserError(f"There is no {typed} in the configuration files. {asked}".strip())
    guess = nearest(name, error.options)
    return UserError(
        f"There is no {typed}; did you mean {group}={guess}? {asked}The options are {listed(error.options)}."
    )


def _unknown_site(override: Override, text: str, base: DictConfig) -> UserError:
    """No entry of the defaults list has that name; it may stand in a file that the override chose."""
    typed = override.key_or_group if override.package is None else f"{override.key_or_group}@{override.package}"
    named = re.search(r"Could not override '([^']+)'", text)
    key = named.group(1) if named else typed
    choices = [choice for choice in base.hydra.runtime.choices if not str(choice).startswith("hydra/")]
    guess = nearest(key, choices)
    if key == typed:
        return UserError(f"There is nothing to choose at {key}; did you mean {guess}={override.value()}?")
    return UserError(f"{override.input_line} overrides {key}, where there is nothing to choose; did you mean {guess}?")


def _unknown_key(key: str, line: str, base: DictConfig, tree: ConfigTree) -> UserError:
    if key.startswith("hydra."):
        guess = nearest(key, every_key({"hydra": base.hydra}))
        return UserError(f"There is no key {key}; did you mean {guess}?")
    valid = every_key(OmegaConf.masked_copy(base, [str(name) for name in base if name != "hydra"]))
    parent, _, name = key.rpartition(".")
    if name in GIVEN.get(parent, {}):
        return UserError(given_key(parent, name))
    node = OmegaConf.select(base, parent) if parent else None
    if isinstance(node, DictConfig):
        taken = accepted_keys(parent, node) if node.get("_target_") is not None else set()
        if key in taken:
            return UserError(f"{key} is not among the keys of its option, but {node._target_} takes it: write +{line}.")
        valid = {other for other in valid if other.startswith(f"{parent}.")} | taken or valid
        if parent in COLLECTIONS:
            guess = nearest(key, (f"{parent}.{name}" for name in node))
            hint = f"did you mean {guess}? If not, " if guess else ""
            return UserError(f"There is no {key} yet: {hint}give it a class with +{key}._target_=….")
    if parent in tree.groups() and name in tree.options(parent):
        return UserError(f"There is no key {key}; did you mean {parent}={name}?")
    guess = nearest(key, valid | set(tree.groups()))
    value = line.partition("=")[2]
    if guess in tree.groups() and value in tree.options(guess):
        return UserError(f"There is no group {key}; did you mean {guess}={value}?")
    return UserError(unknown_key(key, valid))


def _unreadable(line: str) -> UserError:
    if "=" not in line:
        return UserError(f"{line}: an override is written KEY=VALUE or GROUP=OPTION.")
    key, _, value = line.partition("=")
    return UserError(f"{line}: the value cannot be read; put it in quotes that the shell leaves: '{key}=\"{value}\"'.")


def _first_lines(error: BaseException) -> str:
    cause = error.__cause__
    words = [str(error), *([str(cause)] if cause is not None and isinstance(error, HydraException) else [])]
    return " ".join(" ".join(words).split()[:60])
