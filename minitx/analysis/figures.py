"""Figures of outcomes: final loss, the gap to the reference against d_k, and the time to the target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, NullFormatter, NullLocator

from minitx.analysis.curves import AXIS_LABELS, Drawn, learning_curves
from minitx.analysis.outcomes import test_splits
from minitx.analysis.pairs import FEWEST_PAIRS, interval
from minitx.analysis.results import SIZE, Results
from minitx.analysis.score_figures import score_figures
from minitx.analysis.style import INK, QUIET, label_ends, looks, panels

MOST_ARMS = 60


def draw_figures(results: Results) -> Iterator[Drawn]:
    """Every figure that these results have data for, in the order of the report."""
    yield from learning_curves(results)
    if results.has_sizes:
        yield from _gaps(results)
    if results.runs["final_loss"].notna().any():
        yield _final_losses(results)
    yield _times(results)
    yield from score_figures(results)


def _gaps(results: Results) -> Iterator[Drawn]:
    figures = {"final_loss": "validation loss, nats a token"}
    figures |= {f"bleu_{split}": f"BLEU, {split}" for split in test_splits(results.runs)[:1]}
    gaps = {(variant, figure): results.gaps(variant, figure) for variant in results.others for figure in figures}
    rests = list(dict.fromkeys(rest for own in gaps.values() for rest in own))[:4]
    kept = [figure for figure in figures if any(gaps[variant, figure] for variant in results.others)]
    if not rests or not kept:
        return
    drawn, grid = panels(len(kept), len(rests), (4.6 if len(rests) == 1 else 3.0, 2.5), sharex=True, sharey="row")
    style = looks(results.runs["variant"])
    for row, figure in zip(grid, kept, strict=True):
        for axes, rest in zip(row, rests, strict=True):
            ends = []
            for variant in results.others:
                by_size = gaps[variant, figure].get(rest, {})
                if by_size:
                    ends.append((_draw_gap(axes, by_size, variant, results), variant, style[variant].colour))
            axes.axhline(0, color=style[results.reference].colour, linestyle=style[results.reference].line, linewidth=1)
            _size_axis(axes, results.runs[SIZE])
            axes.set_title(rest, loc="left")
            if rest == rests[-1]:
                label_ends(axes, [*ends, (0.0, results.reference, style[results.reference].colour)])
        row[0].set_ylabel(f"difference in final\n{figures[figure]}")
    for axes in grid[-1]:
        axes.set_xlabel("$d_k$ (logarithmic)")
    caption = (
        f"Each dot is the difference to {results.reference} at one seed; the line joins their means, the bars are 95 "
        f"% t intervals of the mean where there are at least {FEWEST_PAIRS} pairs. Above zero a loss is worse and a "
        "BLEU better. Only pairs in which both runs finished are here: diverged runs are counted in the table of "
        "outcomes. The figure shows how the gap goes with d_k in these runs, not why."
    )
    yield Drawn("gap_d_k", f"Gap to {results.reference} against d_k", caption, drawn)


def _draw_gap(axes: Axes, by_size: Mapping[float, Mapping[int, float]], variant: str, results: Results) -> float:
    """Draw one variant's differences; returns the height where its line ends."""
    look = looks(results.runs["variant"])[variant]
    sizes = sorted(by_size)
    shift = 1 + 0.035 * (results.others.index(variant) - (len(results.others) - 1) / 2)
    spreads = [interval(list(by_size[size].values())) for size in sizes]
    for size in sizes:
        values = list(by_size[size].values())
        axes.plot([size * shift] * len(values), values, look.marker, color=look.colour, markersize=3.5, alpha=0.5)
    means = [spread.mean for spread in spreads]
    axes.plot(np.multiply(sizes, shift), means, color=look.colour, linestyle=look.line)
    for size, spread in zip(sizes, spreads, strict=True):
        if spread.number >= FEWEST_PAIRS:
            axes.plot([size * shift] * 2, [spread.low, spread.high], color=look.colour, linewidth=2.6, alpha=0.45)
    return means[-1]


def _size_axis(axes: Axes, sizes: pd.Series) -> None:
    ticks = sorted({float(size) for size in sizes})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def _final_losses(results: Results) -> Drawn:
    conditions = list(dict.fromkeys(results.arms["condition"]))
    figure, [[axes]] = panels(1, 1, (max(5.2, min(11.0, 0.9 * len(conditions) + 2)), 3.0))
    style = looks(results.runs["variant"])
    ends = []
    for number, (variant, look) in enumerate(style.items()):
        own = results.runs[results.runs["variant"] == variant]
        places = own["condition"].map(conditions.index) + 0.5 * ((number + 0.5) / len(style) - 0.5)
        axes.plot(places, own["final_loss"], look.marker, color=look.colour, markersize=4, alpha=0.6, linestyle="")
        means = own.groupby("condition", sort=False)["final_loss"].mean()
        heights = [(places[own["condition"] == condition].iloc[0], mean) for condition, mean in means.items()]
        axes.plot(*zip(*heights, strict=True), color=look.colour, linestyle=look.line, linewidth=1)
        finite = [height for _, height in heights if math.isfinite(height)]
        if finite:
            ends.append((finite[-1], variant, look.colour))
        diverged = own["status"] == "diverged"
        axes.plot(
            places[diverged],
            np.full(int(diverged.sum()), 0.98),
            "x",
            color=look.colour,
            transform=axes.get_xaxis_transform(),
        )
    words = [condition.replace(", ", "\n") for condition in conditions]
    axes.set_xticks(range(len(conditions)), words, rotation=90 if len(conditions) > 8 else 0)
    axes.set_xlim(-0.6, len(conditions) - 0.4)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("final validation loss,\nnats a token")
    label_ends(axes, ends)
    caption = (
        "Each mark is a finished run, lines join means over seeds; × at the upper edge is a run that diverged and has "
        "no final loss. Runs that are not finished are not here. The spread over seeds says how far a single run can "
        "be trusted; it does not cover other data or other settings."
    )
    return Drawn("final_loss", "Final validation loss, run by run", caption, figure)


def _times(results: Results) -> Drawn:
    arms = results.arms.iloc[:MOST_ARMS]
    measures = [measure for measure in ("steps", "seconds", "flops") if results.runs[measure].notna().any()]
    figure, [row] = panels(1, len(measures), (2.6, 0.24 * len(arms) + 1.0), sharey=True)
    style = looks(results.runs["variant"])
    for axes, measure in zip(row, measures, strict=True):
        for height, (_, arm) in enumerate(arms.iterrows()):
            _draw_times(axes, results, arm, measure, height, style[str(arm["variant"])].colour)
        axes.set_xlabel(AXIS_LABELS[measure])
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.set_xlim(left=0)
        axes.grid(axis="y", visible=False)
    names = [
        " · ".join([*([c] if c != "all runs" else []), v])
        for c, v in zip(arms["condition"], arms["variant"], strict=True)
    ]
    row[0].set_yticks(range(len(arms)), names, color=INK)
    row[0].set_ylim(len(arms) - 0.4, -0.6)
    caption = (
        f"When each run first had a validation loss of {results.target.loss:.3f} or less: dots, with a bar at the "
        "Kaplan-Meier median. Open triangles are runs that did not get there, at the point to which they were "
        "followed; × are runs that diverged. A triangle says “later than this, if at all”."
    )
    if len(results.arms) > MOST_ARMS:
        caption += f" The first {MOST_ARMS} of {len(results.arms)} arms are shown; the tables hold all."
    return Drawn("time_to_target", "Time to the target loss", caption, figure)


def _draw_times(axes: Axes, results: Results, arm: pd.Series, measure: str, height: int, colour: str) -> None:
    table = results.runs
    runs = table[(table["condition"] == arm["condition"]) & (table["variant"] == arm["variant"])]
    reached, diverged = runs["reached"].astype(bool), runs["status"] == "diverged"
    groups = (
        (runs.loc[reached, f"{measure}_to_target"], "o", colour),
        (runs.loc[~reached & ~diverged, measure], ">", "white"),
        (runs.loc[~reached & diverged, measure], "x", colour),
    )
    for places, marker, fill in groups:
        if places.empty:
            continue  # markers of no point, not clipped, would count as lying outside the figure
        heights = [height] * len(places)
        axes.plot(places, heights, marker, color=colour, markerfacecolor=fill, markersize=4.5, clip_on=False)
    if math.isfinite(arm[f"{measure}_median"]):
        axes.plot([arm[f"{measure}_median"]] * 2, [height - 0.32, height + 0.32], color=QUIET, linewidth=1)
