"""What figures draw: bands of known curves, a fixed look for each variant, labels that do not overlap."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from minitx.analysis.curves import band
from minitx.analysis.figures import draw_figures
from minitx.analysis.results import analyse
from minitx.analysis.runs import find_runs, read_run
from minitx.analysis.style import FIXED, label_ends, looks, panels


def test_a_band_spans_its_curves_where_all_of_them_are() -> None:
    one = np.array([100.0, 200.0, 300.0]), np.array([3.0, 2.0, 1.0])
    other = np.array([150.0, 250.0, 350.0]), np.array([4.0, 4.0, 0.0])

    found = band([one, other])

    assert list(found.x) == [150, 200, 250, 300]
    assert list(found.low) == [2.5, 2.0, 1.5, 1.0]
    assert list(found.high) == [4.0, 4.0, 4.0, 2.0]
    assert list(found.mean) == [3.25, 3.0, 2.75, 1.5]


def test_looks_are_fixed_and_apart() -> None:
    alone = looks(["unscaled"])
    names = [*FIXED, "Distance", "unscaled, initialisation small_query"]

    found = looks(names)

    assert found["unscaled"] == alone["unscaled"]
    assert len({(look.colour, look.marker) for look in found.values()}) == len(names)
    assert len({str(look.line) for look in (found["scaled"], found["unscaled"], found["additive"])}) == 3


def test_labels_at_one_height_are_moved_apart() -> None:
    _, [[axes]] = panels(1, 1, (3, 2))
    axes.set_ylim(0, 1)

    label_ends(axes, [(0.99, "a", "k"), (0.99, "b", "k"), (0.98, "c", "k")])

    heights = sorted(text.xy[1] for text in axes.texts)
    assert min(np.diff(heights)) > 0.05
    assert heights[-1] <= 1.0


def test_the_curves_drawn_are_those_of_the_runs(write_sweep: Callable[..., Path]) -> None:
    found = analyse([read_run(path) for path in find_runs([write_sweep()])])

    drawn = {figure.name: figure for figure in draw_figures(found)}

    first = drawn["curves_steps"].figure.axes[0]
    assert first.get_title(loc="left") == "d_k 16"
    scaled = next(line for line in first.lines if line.get_color() == FIXED["scaled"].colour)
    assert list(scaled.get_xdata()) == [100, 200, 300, 400]
    noise = np.mean([0.01 * ((3 * seed + 1) % 4) for seed in (1, 2, 3)])
    assert np.allclose(scaled.get_ydata(), np.array([4, 3, 1.5, 1]) + noise)
    assert drawn["gap_d_k"].figure.axes[0].get_xscale() == "log"
    assert all({"not", "none"} & set(re.findall(r"\w+", figure.caption)) for figure in drawn.values())
