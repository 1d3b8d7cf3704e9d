"""What came out of each run, as a table with a row a run: all that the report says is computed from it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from minitx.analysis.arms import Design, Placed
from minitx.analysis.convergence import mean_loss, time_to_target
from minitx.analysis.runs import Run, mapping, number

MEASURES = ("steps", "tokens", "seconds", "flops")
COLUMNS = {"steps": "step", "tokens": "tokens", "seconds": "seconds", "flops": "flops"}


def outcome_table(design: Design) -> pd.DataFrame:
    """A row a run, in the order of the design; NaN or None where a run has no such figure.

    Columns: where the run is (`directory`, `name`), its place (`variant`, `condition`, a column for each axis, `seed`),
    `status`, how far it got (`steps`, `tokens`, `seconds`, `flops`), `final_loss` and test scores of finished runs,
    `best_loss` and `last_loss` of all, costs, and what decides whether runs are comparable.
    """
    names = _names([placed.run.path for placed in design.runs])
    rows = []
    for placed, name in zip(design.runs, names, strict=True):
        axes = dict(zip(design.axes, placed.condition, strict=True))
        condition = design.label(placed.condition)
        place = {"variant": placed.variant, "condition": condition, **axes, "seed": placed.run.seed}
        place = {"directory": _directory(placed.run.path), "name": name, **place}
        # An axis may have the name of a figure, as `precision` has.
        rows.append(place | {key: value for key, value in _figures(placed.run).items() if key not in place})
    return pd.DataFrame(rows)


def add_convergence(table: pd.DataFrame, runs: Sequence[Placed], target: float) -> pd.DataFrame:
    """Add the time to the target in each measure, and the mean loss over the steps that all finished runs share.

    Columns: `reached`, `<measure>_to_target` (NaN where it is not reached) and `mean_loss`.
    """
    first, last = common_steps(table, runs)
    rows = []
    for placed in runs:
        curve = placed.run.validations
        loss = curve["loss"].to_numpy()
        times = {m: time_to_target(curve[COLUMNS[m]].to_numpy(), loss, target) for m in MEASURES}
        area = mean_loss(curve["step"].to_numpy(), loss, first, last)
        row = {f"{measure}_to_target": math.nan if time is None else time for measure, time in times.items()}
        rows.append({"reached": times["steps"] is not None, **row, "mean_loss": math.nan if area is None else area})
    return pd.concat([table, pd.DataFrame(rows, index=table.index)], axis=1)


def common_steps(table: pd.DataFrame, runs: Sequence[Placed]) -> tuple[float, float]:
    """The first and the last step between which every finished run was validated; (0, 0) if there is no such run."""
    finished = [placed for placed, status in zip(runs, table["status"], strict=True) if status == "finished"]
    steps = [placed.run.validations["step"] for placed in finished]
    steps = [own for own in steps if len(own)]
    return (max(own.iloc[0] for own in steps), min(own.iloc[-1] for own in steps)) if steps else (0.0, 0.0)


def test_splits(table: pd.DataFrame) -> list[str]:
    """The splits that some run was tested on."""
    return sorted(column.removeprefix("bleu_") for column in map(str, table.columns) if column.startswith("bleu_"))


def _figures(run: Run) -> dict[str, Any]:
    curve, metrics, summary = run.validations, run.metrics, run.summary
    finished = run.status == "finished"
    last = curve["loss"].iloc[-1] if len(curve) else math.nan
    reached = {measure: _last(metrics, COLUMNS[measure]) for measure in MEASURES if measure != "flops"}
    reached["flops"] = reached["tokens"] * number(run.facts.get("flops_per_token"))
    figures = {
        "status": run.status,
        **reached,
        "validations": len(curve),
        "final_loss": last if finished else math.nan,
        "best_loss": curve["loss"].min() if len(curve) else math.nan,
        "last_loss": last,
        "training_seconds": number(summary.get("training_seconds")),
        "tokens_per_second": _tokens_per_second(run),
        "peak_memory_bytes": _peak_memory(summary),
        "parameters": number(mapping(run.facts.get("parameters")).get("total")),
    }
    tests = mapping(summary.get("test")) if finished else {}
    for split, scores in sorted(tests.items()):
        for score in ("loss", "bleu", "chrf"):
            figures[f"{'test_loss' if score == 'loss' else score}_{split}"] = number(mapping(scores).get(score))
    return figures | _circumstances(run)


def _circumstances(run: Run) -> dict[str, Any]:
    facts = run.facts
    keys = ("precision", "data_fingerprint", "git_commit", "device_name", "config_hash")
    versions = mapping(facts.get("versions"))
    return {
        **{key: str(facts.get(key) or "") for key in keys},
        "threads": number(facts.get("threads")),
        "versions": " ".join(f"{library} {versions[library]}" for library in sorted(versions)),
        "sacrebleu_signature": run.bleu_signature,
        "notes": "; ".join(run.notes),
    }


def _tokens_per_second(run: Run) -> float:
    """The whole run's rate, or the middle one of its rows while there is no summary."""
    rate = number(run.summary.get("tokens_per_second"))
    rows = run.metrics.get("tokens_per_second")
    if math.isfinite(rate) or rows is None or not np.isfinite(rows).any():
        return rate
    return float(rows[np.isfinite(rows)].median())


def _peak_memory(summary: Mapping[str, Any]) -> float:
    """Bytes on the GPU, or in the process where there is none."""
    peak = mapping(summary.get("peak_memory_bytes"))
    return number(peak.get("device", peak.get("host")))


def _last(metrics: pd.DataFrame, column: str) -> float:
    values = metrics[column].dropna().to_numpy() if column in metrics else np.empty(0)
    return float(values[-1]) if len(values) else math.nan


def _names(paths: Sequence[Path]) -> list[str]:
    """Paths below the directory that holds them all."""
    above = os.path.commonpath([path.parent for path in paths]) if paths else ""
    return [os.path.relpath(path, above) for path in paths]


def _directory(path: Path) -> str:
    """As seen from here if it lies below, else whole."""
    here = Path.cwd().resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
