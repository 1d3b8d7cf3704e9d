"""Learning curves: the mean of an arm's finished runs with the span of its seeds, other runs one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullLocator

from minitx.analysis.arms import Placed
from minitx.analysis.outcomes import COLUMNS
from minitx.analysis.results import Results
from minitx.analysis.style import Look, label_ends, looks, panels

MOST_PANELS = 12
FEWEST_FOR_A_BAND = 3
AXIS_LABELS = {"steps": "steps", "seconds": "seconds", "flops": "FLOPs"}
# A loss that falls by more than this factor is drawn on a logarithmic axis: what happens late would not be seen.
LARGE_FALL = 5.0
Line = Float[np.ndarray, " points"]


class Drawn(NamedTuple):
    """A figure, the stem of its files, and what it shows and does not show."""

    name: str
    title: str
    caption: str
    figure: Figure


class Band(NamedTuple):
    """The curves of several runs on one axis: their mean, least and greatest value where all of them have one."""

    x: Line
    mean: Line
    low: Line
    high: Line


def band(curves: Sequence[tuple[Line, Line]]) -> Band:
    """Put curves on the points of all of them, between their latest start and their earliest end, by straight lines."""
    first, last = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    points = np.unique(np.concatenate([x for x, _ in curves]))
    points = points[(points >= first) & (points <= last)]
    values = np.array([np.interp(points, x, y) for x, y in curves])
    return Band(points, values.mean(axis=0), values.min(axis=0), values.max(axis=0))


def learning_curves(results: Results) -> Iterator[Drawn]:
    """Validation loss against steps, seconds and FLOPs, a panel a condition."""
    for measure in ("steps", "seconds", "flops"):
        if results.runs[measure].notna().any():
            yield _learning_curves(results, measure)


def _learning_curves(results: Results, measure: str) -> Drawn:
    conditions = [results.design.label(condition) for condition in results.design.conditions]
    shown = conditions[:MOST_PANELS]
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    figure, grid = panels(rows, columns, (2.6, 2.3) if columns > 1 else (6.0, 3.6), sharex=True, sharey=True)
    every = [axes for row in grid for axes in row]
    style = looks(results.runs["variant"])
    ends: dict[str, list[tuple[float, str, str]]] = {}
    for axes, condition in zip(every, shown, strict=False):
        axes.set_title("" if condition == "all runs" else condition, loc="left")
        for variant, look in style.items():
            ends.setdefault(condition, []).extend(_draw_arm(axes, results.placed(condition, variant), measure, look))
        axes.axhline(results.target.loss, color="#6b6b6b", linewidth=0.7, linestyle=(0, (1, 2)))
    for axes in every[len(shown) :]:
        axes.set_visible(False)
    losses = results.runs[["best_loss", "last_loss"]]
    highest = max(placed.run.validations["loss"].max() for placed in results.design.runs if len(placed.run.validations))
    if highest > LARGE_FALL * losses.min().min() > 0:
        logarithmic(every[0])
    _label(every, shown, grid, measure, ends)
    return Drawn(
        f"curves_{measure}",
        f"Validation loss against {AXIS_LABELS[measure]}",
        _caption(results, measure, conditions),
        figure,
    )


def logarithmic(axes: Axes) -> None:
    """Put a logarithmic vertical axis, with plain numbers at 1, 2 and 5 times powers of ten."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _label(
    every: Sequence[Axes],
    shown: Sequence[str],
    grid: Sequence[Sequence[Axes]],
    measure: str,
    ends: dict[str, list[tuple[float, str, str]]],
) -> None:
    columns = len(grid[0])
    for row in grid:
        row[0].set_ylabel("validation loss, nats a token")
    for number, (axes, condition) in enumerate(zip(every, shown, strict=False)):
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        if number + columns >= len(shown):
            axes.set_xlabel(AXIS_LABELS[measure])
            axes.tick_params(labelbottom=True)
        if number % columns == columns - 1 or number == len(shown) - 1:
            label_ends(axes, ends[condition])
            for label in axes.texts:  # only the names in the last column take room beside the panels
                label.set_in_layout(number % columns == columns - 1)


def _draw_arm(axes: Axes, runs: Sequence[Placed], measure: str, look: Look) -> Iterator[tuple[float, str, str]]:
    """Draw an arm; yields the label for the end of its mean, or of its last run if none has finished."""
    finished: list[tuple[tuple[Line, Line], str]] = []
    others: list[tuple[tuple[Line, Line], str]] = []
    for placed in runs:
        curve = placed.run.validations.dropna(subset=[COLUMNS[measure]])
        if len(curve):
            line = curve[COLUMNS[measure]].to_numpy(), curve["loss"].to_numpy()
            (finished if placed.run.status == "finished" else others).append((line, placed.run.status))
    last = None
    for (x, y), status in others:
        axes.plot(x, y, color=look.colour, linestyle=look.line, linewidth=0.8, alpha=0.7)
        axes.plot(x[-1:], y[-1:], color=look.colour, marker="x" if status == "diverged" else "|", markersize=6)
        last = y[-1]
    if finished:
        arm = band([line for line, _ in finished])
        if len(finished) < FEWEST_FOR_A_BAND:
            for (x, y), _ in finished:
                axes.plot(x, y, color=look.colour, linestyle=look.line, linewidth=0.7, alpha=0.6)
        else:
            axes.fill_between(arm.x, arm.low, arm.high, color=look.colour, alpha=0.16, linewidth=0)
        if len(arm.x):
            marker = look.marker if len(arm.x) == 1 else ""
            axes.plot(arm.x, arm.mean, color=look.colour, linestyle=look.line, marker=marker, markersize=4)
            last = arm.mean[-1]
    if last is not None:
        yield float(last), f"{runs[0].variant} ({len(finished)})", look.colour


def _caption(results: Results, measure: str, conditions: Sequence[str]) -> str:
    words = (
        "Lines are means over the finished runs of an arm (their number in brackets), as far as all of them were "
        f"validated; bands span the lowest and highest seed where there are at least {FEWEST_FOR_A_BAND}, with fewer "
        "each run is a thin line. Runs that did not finish are thin lines that end in × (diverged) or | (broken off, "
        f"still running). Dotted: the target loss {results.target.loss:.3f}. A band is the spread that was seen, not "
        "a confidence interval."
    )
    if measure == "seconds":
        words += (
            " Seconds are those of training, validating and translating; they hold for the machines named in the table "
            "of runs and mean nothing across different ones."
        )
    if measure == "flops":
        words += " FLOPs are an estimate: those of a token's matrix products, times tokens."
    if len(conditions) > MOST_PANELS:
        words += f" The first {MOST_PANELS} of {len(conditions)} conditions are shown; the tables hold all."
    return words
