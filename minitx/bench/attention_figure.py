"""The figures of `minitx bench attention` as a picture: time and memory against length, both on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minitx.bench.attention_table import Record, label
from minitx.bench.workload import PACKED
from minitx.errors import UserError

FORMATS = ("svg", "png")
# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#000000", "#E69F00", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999999")
MARKERS = "osD^vPX*"
PANEL_INCHES = (3.2, 2.7)


def save_figure(records: Sequence[Record], directory: Path, caption: str) -> list[Path]:
    """Draw the records that were measured, as SVG and PNG, under a name that no file there has yet.

    Raises:
        UserError: the files cannot be written.
    """
    import matplotlib as mpl

    paths = _free_paths(directory)
    # Text stays text in an SVG: it can be searched.
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure = _draw([record for record in records if record["skipped"] is None], caption)
        try:
            for path in paths:
                figure.savefig(path, dpi=150)
        except OSError as error:
            raise UserError(f"The figure {path} cannot be written: {error.strerror}.") from error
    return paths


def _free_paths(directory: Path) -> list[Path]:
    number = 1
    while True:
        name = "attention" if number == 1 else f"attention-{number}"
        paths = [directory / f"{name}.{ending}" for ending in FORMATS]
        if not any(path.exists() for path in paths):
            return paths
        number += 1


def _draw(records: Sequence[Record], caption: str) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    d_ks = sorted({record["d_k"] for record in records})
    width, height = PANEL_INCHES
    figure = Figure(figsize=(max(6.4, width * len(d_ks) + 0.6), 2 * height + 1.3), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(d_ks), squeeze=False, sharex=True, sharey="row")
    lines = {}
    for column, d_k in enumerate(d_ks):
        here = [record for record in records if record["d_k"] == d_k]
        for number, name in enumerate(dict.fromkeys(map(label, records))):
            own = [record for record in here if label(record) == name]
            if own:
                lines[name] = _line(panels[:, column], own, number)
        panels[0, column].set_title(f"d_k = {d_k}", fontsize=10)
        panels[1, column].set_xlabel("length (queries = keys)", fontsize=9)
    _style(panels, sorted({record["length"] for record in records}))
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    first = records[0]
    what = "attention, Eq. 1" if first["part"] == "attention" else "the score alone"
    head = f"Forward and backward pass of {what}: batch {first['batch']}, {first['heads']} heads"
    figure.suptitle(f"{head}\n{caption}", fontsize=10)
    return figure


def _line(panels: Any, records: Sequence[Record], number: int) -> Any:
    """One series in the panels of one d_k: time with its quartiles above, memory below."""
    lengths = [record["length"] for record in records]
    colour = COLOURS[number % len(COLOURS)]
    looks = {
        "color": colour,
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.3,
        "linestyle": "-" if records[0]["form"] == PACKED else "--",
    }
    [line] = panels[0].plot(lengths, [1000 * record["seconds"] for record in records], **looks)
    low, high = ([1000 * record[f"seconds_{side}"] for record in records] for side in ("lower", "upper"))
    panels[0].fill_between(lengths, low, high, color=colour, alpha=0.15, linewidth=0)
    panels[1].plot(lengths, [max(1, record["memory_bytes"]) / 2**20 for record in records], **looks)
    return line


def _style(panels: Any, lengths: Sequence[int]) -> None:
    for axes in panels.flat:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.grid(True, which="major", color="0.9", linewidth=0.8)
        axes.tick_params(labelsize=8, which="both")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    panels[0, 0].set_ylabel("time, ms", fontsize=9)
    panels[1, 0].set_ylabel("extra memory at the peak, MiB", fontsize=9)
