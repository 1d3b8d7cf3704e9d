"""The score statistics that the attention probe left in `metrics.csv`, and what they were at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from minitx.analysis.arms import Placed
from minitx.analysis.runs import Run

SITES = {
    "encoder_self_attention": "encoder self-attention",
    "decoder_self_attention": "decoder self-attention",
    "cross_attention": "cross-attention",
}
# Statistic, what its axis is called, and whether that axis is logarithmic.
STATISTICS = {
    "std": ("standard deviation of scores", True),
    "max": ("largest absolute score", True),
    "entropy": ("normalised entropy of weights", False),
    "saturated": ("share of saturated rows", False),
    "jacobian_trace": ("trace of the softmax Jacobian", False),
    "jacobian_bound": ("bound on its largest eigenvalue", False),
    "query_projection": ("gradient norm of W^Q", True),
    "key_projection": ("gradient norm of W^K", True),
}
KEYS = ["site", "layer", "statistic"]


def score_curves(run: Run) -> pd.DataFrame:
    """A row a probed step; columns (site, layer, statistic), the mean over heads.

    The mean that was recorded is taken where there is one, else that of the heads.
    """
    chosen: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for column in map(str, run.metrics.columns):
        kind, *parts = column.split("/")
        if kind == "scores" and len(parts) == 4:
            site, layer, head, statistic = parts
        elif kind == "gradients" and len(parts) == 3:
            (site, layer, statistic), head = parts, "mean"
        else:
            continue
        if site in SITES and statistic in STATISTICS:
            heads = chosen.setdefault((site, layer, statistic), {"mean": [], "heads": []})
            heads["mean" if head == "mean" else "heads"].append(column)
    curves = {key: run.metrics[heads["mean"] or heads["heads"]].mean(axis=1) for key, heads in sorted(chosen.items())}
    if not curves:
        return pd.DataFrame(columns=pd.MultiIndex.from_arrays([[], [], []], names=KEYS))
    frame = pd.DataFrame(curves).set_axis(pd.Index(run.metrics["step"], name="step"), axis=0).dropna(how="all")
    frame.columns = frame.columns.set_names(KEYS)
    return frame


def score_table(runs: Sequence[Placed], table: pd.DataFrame) -> pd.DataFrame:
    """A row for each run, site, layer and statistic: its `first` and `last` value, and the `mean` of all probes."""
    rows: list[pd.DataFrame] = []
    for placed, row in zip(runs, table.to_dict("records"), strict=True):
        curves = score_curves(placed.run)
        if len(curves):
            values = pd.DataFrame(
                {"first": curves.bfill().iloc[0], "last": curves.ffill().iloc[-1], "mean": curves.mean()}
            )
            place: dict[str, Any] = {key: row[key] for key in ("directory", "variant", "condition", "seed", "status")}
            rows.append(values.reset_index().assign(**place))
    columns = ["directory", "variant", "condition", "seed", "status", *KEYS, "first", "last", "mean"]
    return pd.concat(rows)[columns].reset_index(drop=True) if rows else pd.DataFrame(columns=columns)
