"""Run directories as they are found: whole, half-written, broken off, or no run at all."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from minitx.errors import UserError

STATUSES = ("finished", "diverged", "interrupted", "running", "failed")


class Unreadable(Exception):
    """A directory that looks like a run's and cannot be read as one; the message says why."""


@dataclass(frozen=True)
class Run:
    """What one run directory holds.

    Attributes:
        path: the directory.
        facts: `run.json`.
        metrics: `metrics.csv`, a row a step in ascending order; numbers only, columns as there.
        summary: `summary.json`; empty where it is missing.
        notes: what was missing or damaged and is left out of account.
    """

    path: Path
    facts: Mapping[str, Any]
    metrics: pd.DataFrame
    summary: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def config(self) -> Mapping[str, Any]:
        """The resolved configuration."""
        config: Mapping[str, Any] = self.facts["config"]
        return config

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self.facts["seed"])

    @property
    def status(self) -> str:
        """running, finished, diverged, failed or interrupted."""
        return str(self.facts["status"])

    @property
    def validations(self) -> pd.DataFrame:
        """A row a validation with a finite loss: step, tokens, seconds, flops, loss, bleu."""
        metrics = self.metrics
        columns = {"validation_loss": "loss", "validation_bleu": "bleu"}
        rows: pd.DataFrame = metrics.reindex(columns=["step", "tokens", "seconds", *columns]).rename(columns=columns)
        rows = rows[np.isfinite(rows["loss"])].reset_index(drop=True)
        flops = number(self.facts.get("flops_per_token"))
        rows["flops"] = rows["tokens"] * flops
        return rows

    @property
    def bleu_signature(self) -> str:
        """sacreBLEU's signature of the test scores; several if they differ between splits."""
        tests = mapping(self.summary.get("test")).values()
        return "; ".join(sorted({str(mapping(test).get("bleu_signature", "")) for test in tests}))

    def translations(self, split: str) -> tuple[list[str], list[str]] | None:
        """Hypotheses and references of a split, a sentence each; None where they are missing or do not match."""
        sides = [self._lines(f"{split}.{side}.txt") for side in ("hyp", "ref")]
        hypotheses, references = sides
        if not hypotheses or not references or len(hypotheses) != len(references):
            return None
        return hypotheses, references

    def _lines(self, name: str) -> list[str] | None:
        try:
            text = (self.path / "translations" / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        return text.removesuffix("\n").split("\n") if text else None


def number(value: Any) -> float:
    """A finite figure of a JSON file as a float; what is none is NaN."""
    ordinary = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if ordinary and math.isfinite(value) else math.nan


def mapping(value: Any) -> Mapping[str, Any]:
    """An object of a JSON file; what is none is empty."""
    return value if isinstance(value, Mapping) else {}


def find_runs(places: Iterable[Path]) -> list[Path]:
    """The run directories among `places` and below them, each once, in the order of their resolved paths.

    Raises:
        UserError: if a place is no directory, or there is no run.
    """
    places = list(places)
    found = {directory.resolve() for place in places for directory in _search(place)}
    if not found:
        where = ", ".join(map(str, places))
        raise UserError(f"There is no run directory in {where}: name directories that `minitx train` has made.")
    return sorted(found, key=str)


def _search(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        raise UserError(f"There is no directory {place}: name run directories, or a directory that holds some.")
    for directory, below, files in os.walk(place):
        if "run.json" in files or "metrics.csv" in files:
            below.clear()
            yield Path(directory)
        below[:] = [name for name in below if not name.startswith(".")]


def read_run(path: Path) -> Run:
    """Read a run directory, as much of it as there is.

    Raises:
        Unreadable: without `run.json`, or with one that does not tell what the run was.
    """
    facts = _read_json(path / "run.json")
    if isinstance(facts, str):
        raise Unreadable(facts)
    if not isinstance(facts.get("config"), dict):
        raise Unreadable("run.json holds no configuration")
    seed = facts.get("seed", facts["config"].get("seed"))
    if not isinstance(seed, int):
        raise Unreadable("run.json holds no seed")
    notes = []
    status = facts.get("status")
    if status not in STATUSES:
        notes.append(f"run.json has the unknown status {status}, taken for failed")
        status = "failed"
    metrics, damage = _read_metrics(path / "metrics.csv")
    notes += damage
    summary = _read_json(path / "summary.json")
    if isinstance(summary, str):
        if status in ("finished", "diverged"):
            notes.append(summary)
        summary = {}
    return Run(path, facts | {"seed": seed, "status": status}, metrics, summary, tuple(notes))


def _read_json(path: Path) -> dict[str, Any] | str:
    """The object in a file, or what is wrong with it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"{path.name} is missing"
    except OSError as error:
        return f"{path.name} cannot be read ({error.strerror})"
    except ValueError:
        return f"{path.name} is cut short or damaged"
    return content if isinstance(content, dict) else f"{path.name} holds no object"


def _read_metrics(path: Path) -> tuple[pd.DataFrame, list[str]]:
    empty = pd.DataFrame(columns=["step"], dtype=float)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return empty, ["metrics.csv is missing"]
    whole = text[: text.rfind("\n") + 1]  # what follows is a row that is still being written, or was never finished
    notes = ["the last row of metrics.csv is cut short"] if whole != text else []
    try:
        rows = pd.read_csv(io.StringIO(whole), index_col=False, on_bad_lines="skip", low_memory=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError):
        return empty, ["metrics.csv is empty"]
    if "step" not in rows:
        return empty, [*notes, "metrics.csv has no column step"]
    rows = rows.apply(pd.to_numeric, errors="coerce").astype(float).dropna(subset=["step"])
    rows = rows.drop_duplicates("step", keep="last").sort_values("step").reset_index(drop=True)
    return rows, notes if len(rows) else [*notes, "metrics.csv is empty"]
