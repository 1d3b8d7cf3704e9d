"""How figures look: a colour and a line for each variant, quiet axes, labels where the lines end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from minitx.analysis.arms import variant_order

INK, QUIET, GRID = "#222222", "#6b6b6b", "#e4e4e4"
SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that figures are laid out alike everywhere
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
}


class Look(NamedTuple):
    """A variant's colour, line style and marker."""

    colour: str
    line: Any
    marker: str


# Okabe and Ito's colours, which colour-blind readers can tell apart; line styles say the same without colour.
FIXED = {
    "scaled": Look("#0072B2", "-", "o"),
    "unscaled": Look("#D55E00", (0, (5, 1.5)), "s"),
    "additive": Look("#009E73", (0, (5, 1.5, 1, 1.5)), "D"),
    "bilinear": Look("#CC79A7", (0, (1, 1)), "^"),
    "cosine": Look("#E69F00", (0, (7, 2)), "v"),
    "inverse_d_k": Look("#56B4E9", (0, (3, 1, 1, 1, 1, 1)), "P"),
    "additive_reference": Look("#555555", (0, (2, 2)), "X"),
}
SPARE = tuple(
    Look(colour, line, marker)
    for line, marker in (((0, (6, 1, 1, 1)), "*"), ((0, (1, 2)), "h"), ((0, (9, 3)), "<"), ("-", ">"))
    for colour in ("#222222", "#882255", "#332288", "#AA7744", "#44AA99")
)


def looks(variants: Iterable[str]) -> dict[str, Look]:
    """The look of each variant: the known ones have theirs in every report, the others take turns by name."""
    names = sorted(set(variants), key=variant_order)
    others = [name for name in names if name not in FIXED]
    return {name: FIXED.get(name) or SPARE[others.index(name) % len(SPARE)] for name in names}


def panels(
    rows: int, columns: int, size: tuple[int | float, int | float], **options: Any
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of rows × columns panels of `size` inches each."""
    with rc_context(SETTINGS):
        figure = Figure(figsize=(size[0] * columns + 1.2, size[1] * rows + 0.3), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, [list(row) for row in figure.subplots(rows, columns, squeeze=False, **options)]


def label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names beside the right edge at the heights where lines end, moved apart where they would overlap.

    Args:
        axes: the panel, its limits final.
        ends: height in data units, words and colour of each.
    """
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    gap = 11 / (axes.get_position().height * figure.get_figheight() * 72)
    to_share = axes.transData + axes.transAxes.inverted()
    wanted = sorted(
        (float(to_share.transform((axes.get_xlim()[0], height))[1]), text, col) for height, text, col in ends
    )
    if not wanted:
        return
    # Least moves that keep distances of `gap`: a monotone fit of the heights less what lies below each.
    below = gap * np.arange(len(wanted))
    heights = isotonic_regression([height for height, _, _ in wanted] - below).x + below
    heights -= max(0.0, heights[-1] - 1.0)
    for (_, text, colour), height in zip(wanted, heights, strict=True):
        place = (1.02, float(height))
        axes.annotate(text, place, xycoords="axes fraction", color=colour, va="center", ha="left", fontsize=9)
