"""The runs that are there already, found by the hash of their configuration."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DONE = ("finished", "diverged")
"""How a run ends that need not be made again: a divergence that was recorded is a result."""


@dataclass(frozen=True)
class FoundRun:
    """A run directory as it lies there.

    Attributes:
        path: the directory.
        config_hash: of its configuration, see `minitx.config.config_hash`.
        status: as in `run.json`; "started" before that is written.
        summary: `summary.json`, if there is one.
    """

    path: Path
    config_hash: str
    status: str
    summary: Mapping[str, Any] = field(default_factory=dict)


def find_runs(directory: Path, config_hash: str | None = None) -> list[FoundRun]:
    """The runs in a directory by name; with `config_hash` those of that configuration alone."""
    found = [read_run(path) for path in sorted(directory.glob("*/"))] if directory.is_dir() else []
    return [run for run in found if run is not None and config_hash in (None, run.config_hash)]


def read_run(path: Path) -> FoundRun | None:
    """The run in a directory, or None if it is no run directory."""
    record = _read(path / "run.json")
    config_hash = record.get("config_hash") or _hash_in_name(path.name)
    if config_hash is None:
        return None
    return FoundRun(path, config_hash, record.get("status", "started"), _read(path / "summary.json"))


def done_run(runs: list[FoundRun]) -> FoundRun | None:
    """The run that stands for its configuration, of several the first that finished; None if it must still be made."""
    done = [run for status in DONE for run in runs if run.status == status]
    return done[0] if done else None


def _hash_in_name(name: str) -> str | None:
    """A run directory's name ends with the hash of its configuration, and a number where it is a sibling."""
    match = re.search(r"-([0-9a-f]{8})(-\d+)?$", name)
    return match.group(1) if match else None


def _read(file: Path) -> dict[str, Any]:
    """A JSON file's content; what is missing or damaged is empty."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
