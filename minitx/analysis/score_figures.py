"""The suspected cause, drawn: score statistics over training, layer by layer, and against d_k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, NullFormatter, NullLocator

from minitx.analysis.curves import Drawn, band
from minitx.analysis.results import SIZE, Results
from minitx.analysis.scores import SITES, STATISTICS, score_curves
from minitx.analysis.style import label_ends, looks, panels

OVER_TRAINING = ("std", "entropy", "saturated", "jacobian_trace", "query_projection")
MOST_LAYERS = 6
HEDGE = "They stand beside the losses as evidence for or against a cause; by themselves they show none."


def score_figures(results: Results) -> Iterator[Drawn]:
    """Statistics over training for each site, and against d_k; nothing for runs that recorded none."""
    if results.scores.empty:
        return
    if results.has_sizes:
        yield _against_size(results)
    conditions = list(dict.fromkeys(results.scores["condition"]))
    for condition in dict.fromkeys([conditions[-1], conditions[0]]):
        for site in SITES:
            if (results.scores["site"] == site).any():
                yield from _over_training(results, condition, site, conditions.index(condition) + 1)


def _over_training(results: Results, condition: str, site: str, number: int) -> Iterator[Drawn]:
    arms: dict[str, list[pd.DataFrame]] = {}
    for variant in looks(results.runs["variant"]):
        curves = [score_curves(placed.run) for placed in results.placed(condition, variant)]
        curves = [curve for curve in curves if site in curve.columns.get_level_values("site")]
        arms[variant] = [pd.DataFrame(curve.xs(site, axis=1, level="site")) for curve in curves]
    every = [curve for curves in arms.values() for curve in curves]
    if not every:
        return
    layers = sorted({layer for curve in every for layer in curve.columns.get_level_values("layer")}, key=_by_number)
    if len(layers) > MOST_LAYERS:
        layers = [layers[i] for i in np.linspace(0, len(layers) - 1, MOST_LAYERS).round().astype(int)]
    there = {statistic for curve in every for statistic in curve.columns.get_level_values("statistic")}
    statistics = [statistic for statistic in OVER_TRAINING if statistic in there]
    figure, grid = panels(len(statistics), len(layers), (2.5, 1.5), sharex=True, sharey="row")
    for row, statistic in zip(grid, statistics, strict=True):
        for axes, layer in zip(row, layers, strict=True):
            if STATISTICS[statistic][1]:
                axes.set_yscale("log")
            ends = [
                end
                for variant, curves in arms.items()
                for end in _draw(axes, curves, layer, statistic, variant, results)
            ]
            if layer == layers[-1]:
                label_ends(axes, ends)
        row[0].set_ylabel(STATISTICS[statistic][0].replace(" of ", "\nof ").replace(" rows", "\nrows"), fontsize=8)
    for axes, layer in zip(grid[0], layers, strict=True):
        axes.set_title(f"layer {layer}", loc="left")
    for axes in grid[-1]:
        axes.set_xlabel("steps")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    where = "" if condition == "all runs" else f", {condition}"
    caption = (
        "Means over heads and runs on the probe batch; bands span the lowest and highest run where there are at least "
        f"three. All runs that were probed are here, up to where the shortest of an arm ends. {HEDGE}"
    )
    yield Drawn(f"scores_{site}_{number}", f"Scores in {SITES[site]} over training{where}", caption, figure)


def _draw(
    axes: Axes, curves: Sequence[pd.DataFrame], layer: str, statistic: str, variant: str, results: Results
) -> Iterator[tuple[float, str, str]]:
    lines = [curve[layer, statistic].dropna() for curve in curves if (layer, statistic) in curve]
    if STATISTICS[statistic][1]:
        lines = [line[line > 0] for line in lines]
    lines = [line for line in lines if len(line)]
    if not lines:
        return
    arm = band([(line.index.to_numpy(dtype=float), line.to_numpy(dtype=float)) for line in lines])
    if len(arm.x):
        look = looks(results.runs["variant"])[variant]
        if len(lines) >= 3:
            axes.fill_between(arm.x, arm.low, arm.high, color=look.colour, alpha=0.16, linewidth=0)
        axes.plot(arm.x, arm.mean, color=look.colour, linestyle=look.line, linewidth=1.2)
        yield float(arm.mean[-1]), variant, look.colour


def _against_size(results: Results) -> Drawn:
    scores = results.scores.merge(results.runs[["directory", SIZE]], on="directory")
    statistics = [
        name
        for name in ("std", "saturated", "jacobian_trace", "query_projection")
        if (scores["statistic"] == name).any()
    ]
    sites = [site for site in SITES if (scores["site"] == site).any()]
    figure, grid = panels(len(statistics), len(sites), (2.5, 1.6), sharex=True, sharey="row")
    style = looks(results.runs["variant"])
    for row, statistic in zip(grid, statistics, strict=True):
        for axes, site in zip(row, sites, strict=True):
            here = scores[(scores["statistic"] == statistic) & (scores["site"] == site)]
            ends = []
            for variant, look in style.items():
                means = here[here["variant"] == variant].groupby(SIZE)["mean"].mean()
                if len(means):
                    axes.plot(
                        means.index, means, color=look.colour, linestyle=look.line, marker=look.marker, markersize=3.5
                    )
                    ends.append((float(means.iloc[-1]), variant, look.colour))
            axes.set_xscale("log", base=2)
            ticks = sorted(scores[SIZE].unique())
            axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_minor_formatter(NullFormatter())
            if STATISTICS[statistic][1]:
                axes.set_yscale("log")
            if site == sites[-1]:
                label_ends(axes, ends)
        row[0].set_ylabel(STATISTICS[statistic][0].replace(" of ", "\nof ").replace(" rows", "\nrows"), fontsize=8)
    for axes, site in zip(grid[0], sites, strict=True):
        axes.set_title(SITES[site], loc="left")
    for axes in grid[-1]:
        axes.set_xlabel("$d_k$ (logarithmic)")
    caption = f"Means over layers, heads, probes of the whole training and runs, finished or not. {HEDGE}"
    return Drawn("scores_d_k", "Scores against d_k", caption, figure)


def _by_number(layer: str) -> tuple[int, str]:
    return (int(layer), "") if layer.isdigit() else (10**6, layer)
