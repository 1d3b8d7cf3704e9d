"""What `minitx train --help` prints, read from the configuration files themselves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from minitx.resources import configs_directory

USAGE = """\
Usage: minitx train [-m] [GROUP=OPTION …] [KEY=VALUE …]

Examples:
  minitx train                                            the bundled toy corpus
  minitx train data=multi30k model=tiny                   other data, another size
  minitx train attention=additive seed=2                  another compatibility function
  minitx train attention@model.cross_attention=additive   one attention site apart
  minitx train attention._target_=my_package.MyScore      one of your own
  minitx train -m attention=scaled,unscaled seed=1,2,3    a sweep: one run for each combination
  minitx train --cfg job model=tiny                       print the configuration instead of training

  -m, --multirun      one run for each combination of values listed with commas
  --cfg job           print the configuration of the run and stop
  --config-dir DIR    a directory with options of your own: DIR/attention/mine.yaml is attention=mine
  --debug             show the traceback of an error
"""


def train_help() -> str:
    """Usage, then every group with its options and every key with its default."""
    root = configs_directory()
    train = _read(root / "train.yaml")
    defaults = {
        group: option for entry in train["defaults"] if isinstance(entry, dict) for group, option in entry.items()
    }
    groups = [group for group in defaults if (root / group).is_dir()]
    lines = [USAGE, "Options (* is the default):", ""]
    for group in groups:
        lines.append(f"{group}=")
        for file in sorted((root / group).glob("*.yaml")):
            mark = "*" if file.stem == defaults[group] else " "
            lines.append(f"  {mark} {file.stem:<18}{_first_comment(file)}")
    lines += ["", "Keys and their defaults; with another option, its own:", ""]
    lines += [f"  {key}={value}" for key, value in _leaves(train) if not key.startswith(("defaults", "hydra", "model"))]
    for group in groups:
        if group not in {"attention", "logger", "callbacks"} and defaults[group]:
            leaves = _leaves(_read(root / group / f"{defaults[group]}.yaml"))
            lines += [f"  {group}.{key}={value}" for key, value in leaves if "_" not in (key[0], key[-1])]
    return "\n".join(lines) + "\n"


def _read(file: Path) -> dict[str, Any]:
    return yaml.safe_load(file.read_text(encoding="utf-8")) or {}


def _first_comment(file: Path) -> str:
    """The first comment line of an option's file, which says what it is."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and not line.startswith("# @"):
            return line.removeprefix("# ")
    return ""


def _leaves(node: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in node.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", "null" if value is None else str(value)
