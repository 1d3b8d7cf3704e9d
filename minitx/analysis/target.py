"""The loss that all runs are timed to, and each variant's own best learning rate."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from minitx.analysis.arms import variant_order
from minitx.errors import UserError

LEARNING_RATES = ("peak_learning_rate", "lr", "learning_rate")
OWN_BEST = "own best"


class Target(NamedTuple):
    """A validation loss to reach, and the rule that it was chosen by, in a sentence."""

    loss: float
    rule: str


def choose_target(table: pd.DataFrame, axes: tuple[str, ...], given: float | None) -> Target:
    """The worst final loss among the finished runs of the best-behaved variant, unless a loss is given.

    The best-behaved variant is the one with the fewest diverged runs, among those with equally many the one with the
    lowest mean final loss over the conditions that all variants share. Where learning rates were varied, each variant
    counts at its own best one.

    Raises:
        UserError: if no run has a validation loss.
    """
    if given is not None:
        return Target(given, "The target was given on the command line.")
    if not table["last_loss"].notna().any():
        raise UserError("No run has been validated yet: a report needs at least one validation loss.")
    column = "final_loss" if table["final_loss"].notna().any() else "last_loss"
    rows = at_own_best_rates(table, axes)
    if not rows[column].notna().any():
        rows = table
    best = _best_behaved(rows, column)
    loss = float(rows.loc[rows["variant"] == best, column].max())
    kind = "final loss among the finished runs" if column == "final_loss" else "loss so far (no run has finished)"
    rule = (
        f"The target is the worst {kind} of {best}, the best-behaved variant: fewest diverged runs, "
        "then lowest mean final loss over the conditions that all variants share."
    )
    return Target(loss, rule + (" Each variant counts at its own best learning rate." if rate_axis(axes) else ""))


def rate_axis(axes: tuple[str, ...]) -> str | None:
    """The axis that is a learning rate, if one is."""
    return next((axis for axis in axes if axis in LEARNING_RATES), None)


def at_own_best_rates(table: pd.DataFrame, axes: tuple[str, ...]) -> pd.DataFrame:
    """The rows of each variant at its own best learning rate, in each condition otherwise; all without such an axis.

    Best is: fewest diverged runs, then lowest mean final loss. The choice is made on the validation loss that is then
    compared, for each variant alike.
    """
    axis = rate_axis(axes)
    if axis is None or table.empty:
        return table
    others = [name for name in axes if name != axis]
    kept = []
    for _, rows in table.groupby(["variant", *others], dropna=False, sort=False):
        by_rate = rows.groupby(axis, dropna=False)
        scores = by_rate.agg(diverged=("status", lambda s: (s == "diverged").sum()), loss=("final_loss", "mean"))
        scores = scores.dropna(subset=["loss"]).sort_values(["diverged", "loss"])
        if len(scores):
            best = scores.index[0]
            kept.append(rows[rows[axis].isna() if pd.isna(best) else rows[axis] == best])
    return pd.concat(kept).sort_index() if kept else table.iloc[:0]


def _best_behaved(rows: pd.DataFrame, column: str) -> str:
    ended = rows[rows[column].notna()]
    variants = sorted(ended["variant"].unique(), key=variant_order)
    tried = [set(ended.loc[ended["variant"] == variant, "condition"]) for variant in variants]
    shared = set.intersection(*tried) or set.union(*tried)

    def badness(variant: str) -> tuple[int, float]:
        diverged = int(((rows["variant"] == variant) & (rows["status"] == "diverged")).sum())
        inside = ended[(ended["variant"] == variant) & ended["condition"].isin(shared)]
        return diverged, float(inside.groupby("condition")[column].mean().mean())

    return str(min(variants, key=badness))
