"""The figures of `minitx scores` as a picture: small multiples over d_k, closed forms beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minitx.bench.attention_figure import COLOURS, FORMATS, MARKERS
from minitx.errors import UserError

Record = Mapping[str, Any]
PANEL_INCHES = (3.3, 2.6)


class Panel(NamedTuple):
    """One figure of the records: its key, what it is called, and whether its axis is logarithmic."""

    key: str
    title: str
    logarithmic: bool


PANELS = (
    Panel("variance", "variance of the scores", True),
    Panel("entropy", "normalised entropy of the weights", False),
    Panel("saturated", "share of rows with a weight > 0.99", False),
    Panel("jacobian_trace", "trace of diag(p) − ppᵀ", True),
    Panel("jacobian_bound", "bound on its largest eigenvalue", True),
    Panel("query_gradient", "gradient that reaches the query", True),
)
LOWEST = 1e-12
"""Where logarithmic axes end below, for a gradient that is 0."""


def save_figure(records: Sequence[Record], directory: Path, caption: str) -> list[Path]:
    """Draw the records as SVG and PNG, under a name that no file there has yet.

    Raises:
        UserError: the files cannot be written.
    """
    import matplotlib as mpl

    # Text stays text in an SVG: it can be searched.
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure = _draw(records, caption)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            paths = _free_paths(directory)
            for path in paths:
                figure.savefig(path, dpi=150)
        except OSError as error:
            raise UserError(f"--out {directory}: the figure cannot be written there: {error.strerror}.") from error
    return paths


def _free_paths(directory: Path) -> list[Path]:
    number = 1
    while True:
        name = "scores" if number == 1 else f"scores-{number}"
        paths = [directory / f"{name}.{ending}" for ending in FORMATS]
        if not any(path.exists() for path in paths):
            return paths
        number += 1


def _draw(records: Sequence[Record], caption: str) -> Any:
    """Two rows of panels for what was drawn alone; with a model, one row for each of its kinds of site too."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sources = list(dict.fromkeys(record["source"] for record in records))
    width, height = PANEL_INCHES
    rows, columns = (2, len(PANELS) // 2) if len(sources) == 1 else (len(sources), len(PANELS))
    figure = Figure(figsize=(width * columns, height * rows + 1.2), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True).reshape(len(sources), len(PANELS))
    variants = list(dict.fromkeys(record["variant"] for record in records))
    lines = {}
    for source, panels in zip(sources, grid, strict=True):
        for number, variant in enumerate(variants):
            own = [record for record in records if (record["source"], record["variant"]) == (source, variant)]
            for axes, panel in zip(panels, PANELS, strict=True):
                lines[variant] = _line(axes, panel, own, COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)])
        for axes, panel in zip(panels, PANELS, strict=True):
            _style(axes, panel, sorted({record["d_k"] for record in records}))
            axes.set_title(panel.title if len(sources) == 1 else f"{source}: {panel.title}", fontsize=9)
    for axes in grid.flat[-columns:]:
        axes.set_xlabel("d_k", fontsize=9)
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=6, fontsize=9, frameon=False)
    figure.suptitle(caption, fontsize=10)
    return figure


def _line(axes: Any, panel: Panel, records: Sequence[Record], colour: str, marker: str) -> Any:
    """One variant in one panel: marks for what was measured, dashes for a second reading of it."""
    d_ks = [record["d_k"] for record in records]

    def values(key: str) -> Any:
        return np.maximum(LOWEST if panel.logarithmic else -np.inf, [record[key] for record in records])

    look = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.3}
    expected = f"expected_{panel.key}"
    if all(record.get(expected) is not None for record in records):
        axes.plot(d_ks, values(expected), color=colour, linewidth=1.3)
        look["linestyle"] = "none"
    [line] = axes.plot(d_ks, values(panel.key), **look)
    if f"{panel.key}_median" in records[0]:
        axes.plot(d_ks, values(f"{panel.key}_median"), color=colour, linewidth=1.0, linestyle="--")
    return line


def _style(axes: Any, panel: Panel, d_ks: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(d_ks, [str(d_k) for d_k in d_ks])
    if panel.logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(-0.03, 1.03)
    axes.grid(True, which="major", color="0.9", linewidth=0.8)
    axes.tick_params(labelsize=8, which="both")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
