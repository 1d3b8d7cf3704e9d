"""What a composed configuration is called, which run it stands for, and how it is written down."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.resolvers import oc

from minitx.errors import UserError

LONGEST_NAME = 80

# Keys that change neither what a run computes nor what it records of it. `attention` is in the sites already.
WITHOUT_EFFECT = (
    "name",
    "group",
    "tags",
    "options",
    "attention",
    "run_directory",
    "resume",
    "logger",
    "data.num_workers",
    # A run that diverges is called failed or diverged; of any other this changes nothing.
    "training.on_non_finite",
    "data.cache_directory",
)

# Groups where an environment variable may stand: its name is written down, never its value.
MAY_READ_ENVIRONMENT = ("logger",)


def to_plain(config: DictConfig) -> dict[str, Any]:
    """The configuration as dicts, lists and scalars, interpolations resolved.

    `${oc.env:NAME}` stays as it is written: an environment variable may hold a secret, and this is what gets saved.
    """
    with _environment_as_written():
        plain = OmegaConf.to_container(config, resolve=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def identity(config: DictConfig | Mapping[str, Any]) -> dict[str, Any]:
    """The part of the configuration that decides a run's result: two runs with the same are the same experiment.

    Args:
        config: as composed, or as `to_plain` made it and `run.json` keeps it.
    """
    plain = to_plain(config) if isinstance(config, DictConfig) else config
    return _without(plain, WITHOUT_EFFECT)


def config_hash(config: DictConfig | Mapping[str, Any]) -> str:
    """Eight hexadecimal digits of a hash of `identity`. 1 and 1.0 count as one value."""
    canonical = json.dumps(_canonical(identity(config)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]


def readable_name(config: DictConfig | Mapping[str, Any]) -> str:
    """The run's name as part of a path: letters, digits and `._-`, at most 80 of them."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", str(config["name"])).strip("-.")
    return words[:LONGEST_NAME].rstrip("-.") or "run"


def default_name(options: Mapping[str, Any], overrides: Sequence[tuple[str, Any]], seed: int) -> str:
    """A name that tells runs of a comparison apart: data, model, attention, sites and values set apart, seed.

    Args:
        options: the chosen options, see `compose`.
        overrides: dotted keys and values given by the user, in order.
        seed: the run's seed.
    """
    parts = [_short(options[group]) for group in ("experiment", "data", "model", "attention") if options.get(group)]
    for group, option in options.items():
        if "@model." in group and option is not None:
            parts.append(f"{group.partition('@model.')[2].removesuffix('_attention')}-{option}")
    for key, value in overrides:
        if key != "seed" and not key.endswith("._target_") and not _is_without_effect(key):
            parts.append(f"{key.rpartition('.')[2]}-{_short(value)}")
    return "-".join([*parts, f"seed-{seed}"])


def refuse_environment(config: DictConfig) -> None:
    """Raise UserError where a key that decides the result reads an environment variable: it would not be recorded."""
    for key, value in _leaves(to_plain(config)):
        if "${oc.env:" in str(value) and key.partition(".")[0] not in MAY_READ_ENVIRONMENT:
            raise UserError(
                f"{key}={value} reads an environment variable, whose value the run would not record; "
                f"give the value itself (the shell's $NAME will do)."
            )


@contextmanager
def _environment_as_written() -> Iterator[None]:
    def written(*arguments: Any) -> str:
        return "${oc.env:" + ",".join(map(str, arguments)) + "}"

    OmegaConf.register_new_resolver("oc.env", written, replace=True)
    try:
        yield
    finally:
        OmegaConf.register_new_resolver("oc.env", oc.env, replace=True)


def _without(node: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    kept = {}
    for name, value in node.items():
        inner = [key.partition(".")[2] for key in keys if key.partition(".")[0] == name]
        if "" in inner:
            continue
        kept[name] = _without(value, inner) if inner and isinstance(value, Mapping) else value
    return kept


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _canonical(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_canonical(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _is_without_effect(key: str) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in WITHOUT_EFFECT if name != "attention")


def _short(value: Any) -> str:
    """A value's last path component, so that a data directory does not fill the name."""
    return str(value).rstrip("/").rpartition("/")[2]
