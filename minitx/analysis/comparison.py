"""Arms and their differences: means over seeds, medians of times, and what pairs of runs at one seed say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from minitx.analysis.arms import variant_order
from minitx.analysis.configuration import say
from minitx.analysis.convergence import Followed, median_time
from minitx.analysis.outcomes import MEASURES, test_splits
from minitx.analysis.pairs import interval, paired_differences
from minitx.analysis.target import OWN_BEST, at_own_best_rates, rate_axis
from minitx.errors import UserError

COSTS = ("tokens_per_second", "peak_memory_bytes", "training_seconds", "flops", "parameters")


def choose_reference(table: pd.DataFrame, given: str | None) -> str:
    """The variant that the others are compared with: the one named, scaled, or else the one with the most runs.

    Raises:
        UserError: if there is no variant of the name given.
    """
    variants = sorted(table["variant"].unique(), key=variant_order)
    if given is not None and given not in variants:
        raise UserError(f"--reference {given}: these runs hold {', '.join(variants)}.")
    counts = table["variant"].value_counts()
    most = min(variants, key=lambda variant: (-counts[variant], variant_order(variant)))
    return given or ("scaled" if "scaled" in variants else most)


def arm_table(table: pd.DataFrame) -> pd.DataFrame:
    """A row an arm: how many runs ended how, `<figure>_mean`, `_sd` and `_n`, and the median time to the target.

    Columns for a measure m: `m_median` (NaN where fewer than half are estimated to have reached the target) and
    `m_followed`, how far the arm's runs were followed at most.
    """
    scores = [f"{score}_{split}" for split in test_splits(table) for score in ("bleu", "chrf", "test_loss")]
    figures = [name for name in ("final_loss", "best_loss", "mean_loss", *scores, *COSTS) if name in table]
    rows = []
    for (condition, variant), runs in table.groupby(["condition", "variant"], sort=False):
        row: dict[str, Any] = {"condition": condition, "variant": variant, "runs": len(runs)}
        row |= {status: int((runs["status"] == status).sum()) for status in ("finished", "diverged")}
        row["unfinished"] = len(runs) - row["finished"] - row["diverged"]
        row["reached"] = int(runs["reached"].sum())
        for measure in MEASURES:
            median = median_time(followed(runs, measure))
            row[f"{measure}_median"] = math.nan if median is None else median
            row[f"{measure}_followed"] = float(runs[measure].max())
        for name in figures:
            spread = interval([float(value) for value in runs[name].dropna()])
            row |= {f"{name}_n": spread.number, f"{name}_mean": spread.mean, f"{name}_sd": spread.deviation}
        rows.append(row)
    return pd.DataFrame(rows)


def followed(runs: pd.DataFrame, measure: str) -> list[Followed]:
    """How long each run of an arm was followed. One that diverged never reaches the target, however long."""
    longest = float(runs[measure].max())
    times = []
    for _, run in runs.iterrows():
        if run["reached"]:
            times.append(Followed(float(run[f"{measure}_to_target"]), True))
        else:
            times.append(Followed(longest if run["status"] == "diverged" else float(run[measure]), False))
    return [time for time in times if math.isfinite(time.time)]


def difference_table(table: pd.DataFrame, reference: str, axes: tuple[str, ...]) -> pd.DataFrame:
    """A row for each condition, variant other than the reference, and figure: own minus reference, paired by seed.

    Columns: `pairs`, `difference`, `sd`, `low`, `high` (95 % t interval), `tells` (three pairs or more and an interval
    without zero), `seeds`, and `left_out`: seeds at which one of the two has no such figure, and why. A learning rate
    on an axis adds conditions in which each variant has its own best.
    """
    names = ["final_loss", "mean_loss", *(f"bleu_{split}" for split in test_splits(table))]
    rows = []
    for condition, runs in _conditions(table, axes):
        for variant in sorted(set(runs["variant"]) - {reference}, key=variant_order):
            sides = [runs[runs["variant"] == side] for side in (variant, reference)]
            if len(sides[1]):
                rows += [condition | _difference(variant, reference, name, *sides) for name in names]
    columns = ["condition", *axes, "variant", "reference", "figure", "pairs", "difference", "sd", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "tells", "seeds", "left_out"])


def _conditions(table: pd.DataFrame, axes: Sequence[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    for condition, runs in table.groupby("condition", sort=False):
        yield {"condition": condition, **{axis: runs[axis].iloc[0] for axis in axes}}, runs
    rate = rate_axis(tuple(axes))
    if rate is None:
        return
    others = [axis for axis in axes if axis != rate]
    best = at_own_best_rates(table, tuple(axes))
    for _, runs in best.groupby(others, dropna=False, sort=False) if others else [("", best)]:
        if runs["condition"].nunique() == 1:
            continue  # the best rate is the same for all: nothing new
        values = {axis: runs[axis].iloc[0] for axis in others} | {rate: OWN_BEST}
        words = ", ".join(f"{axis} {say(values[axis])}" for axis in axes)
        yield {"condition": words, **values}, runs


def _difference(variant: str, reference: str, figure: str, own: pd.DataFrame, other: pd.DataFrame) -> dict[str, Any]:
    pairs = paired_differences(by_seed(own, figure), by_seed(other, figure))
    spread = interval(list(pairs.values()))
    return {
        "variant": variant,
        "reference": reference,
        "figure": figure,
        "pairs": spread.number,
        "difference": spread.mean,
        "sd": spread.deviation,
        "low": spread.low,
        "high": spread.high,
        "tells": spread.tells,
        "seeds": " ".join(map(str, pairs)),
        "left_out": "; ".join(_left_out(pairs, figure, {variant: own, reference: other})),
    }


def by_seed(runs: pd.DataFrame, figure: str) -> dict[int, float]:
    """A figure of an arm's runs at each seed."""
    return {int(seed): float(value) for seed, value in zip(runs["seed"], runs[figure], strict=True)}


def _left_out(pairs: dict[int, float], figure: str, sides: dict[str, pd.DataFrame]) -> Iterator[str]:
    seeds = set().union(*(side["seed"] for side in sides.values()))
    for seed in sorted(seeds - set(pairs)):
        for variant, side in sides.items():
            run = side[side["seed"] == seed]
            if run.empty:
                yield f"seed {seed}: no run of {variant}"
            elif not np.isfinite(run[figure].iloc[0]):
                status = run["status"].iloc[0]
                yield f"seed {seed}: {variant} " + ("has no such figure" if status == "finished" else f"is {status}")
