"""Cross-attention as a picture: where the decoder looks in the source while it writes each target token (§3.2.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from minitx.errors import UserError
from minitx.models.transformer import Transformer

FORMATS = (".png", ".svg")
CELL_INCHES = 0.3
PANEL_INCHES = (1.6, 7.5)
"""The shortest and the longest side of a panel; cells and letters of long sentences get smaller instead."""
POINTS_PER_INCH = 72


def check_format(path: Path) -> None:
    """See that a picture can be written as `path`.

    Raises:
        UserError: its name does not end in .png or .svg.
    """
    if path.suffix.lower() not in FORMATS:
        raise UserError(f"{path}: a heatmap is written as PNG or SVG, so give a name that ends in .png or .svg.")


def cross_attention_weights(
    model: Transformer, source: Sequence[int], target: Sequence[int], bos_id: int
) -> Float[Tensor, "layers heads target source"]:
    """The weights with which each decoder layer attends to the source while it predicts each token of `target`.

    They are read from the very pass that predicts `target` (teacher forcing), by hooks on the softmax modules.

    Args:
        model: a Transformer in evaluation mode.
        source: source ids, end mark included.
        target: target ids; the end mark, if it is among them, gets a row like any other.
        bos_id: the start mark, which the decoder reads first.
    """
    seen: list[Tensor] = []
    hooks = [
        layer.cross_attention.softmax.register_forward_hook(lambda _module, _inputs, weights: seen.append(weights[0]))
        for layer in model.decoder
    ]
    device = next(model.parameters()).device
    try:
        with torch.inference_mode():
            model(torch.tensor([list(source)], device=device), torch.tensor([[bos_id, *target[:-1]]], device=device))
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(seen).float().cpu()


def draw_cross_attention(
    weights: Float[Tensor, "layers heads target source"],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    path: Path,
    layer: int | None = None,
) -> None:
    """Draw `weights` as a PNG or SVG file: a panel for each layer, the mean of its heads.

    Args:
        weights: as from `cross_attention_weights`.
        source_tokens, target_tokens: labels of the columns and of the rows.
        path: the file; its ending decides the format.
        layer: draw this layer's heads instead, a panel for each; counted from 1.

    Raises:
        UserError: the ending is another, the layer does not exist, or the file cannot be written.
    """
    check_format(path)
    layers, heads = weights.shape[:2]
    if layer is not None and not 1 <= layer <= layers:
        raise UserError(f"There is no layer {layer} to draw: the decoder has layers 1 to {layers}.")
    if layer is None:
        panels = {f"layer {i + 1}": weights[i].mean(dim=0).numpy() for i in range(layers)}
        meaning = f"attention weight,\nmean of {heads} heads" if heads > 1 else "attention weight"
    else:
        panels = {f"layer {layer}, head {i + 1}": weights[layer - 1, i].numpy() for i in range(heads)}
        meaning = "attention weight"
    _draw(panels, [*map(_printable, source_tokens)], [*map(_printable, target_tokens)], meaning, path)


def _draw(
    panels: dict[str, NDArray[np.float32]], source: list[str], target: list[str], meaning: str, path: Path
) -> None:
    import warnings

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width, height = (min(max(CELL_INCHES * len(side), PANEL_INCHES[0]), PANEL_INCHES[1]) for side in (source, target))
    columns, rows = _grid(len(panels), width, height)
    cell = min(width / len(source), height / len(target))
    letters = min(9.0, max(3.5, 0.75 * cell * POINTS_PER_INCH))
    margin = 0.6 * letters / POINTS_PER_INCH  # inches that a letter takes in a label
    labels = [margin * max(map(len, side)) for side in (source, target)]
    size = (columns * (width + labels[1] + 0.4) + 1.0, rows * (height + labels[0] + 0.6))
    # Text stays text in an SVG: it can be searched, and the viewer has glyphs that Matplotlib lacks.
    with mpl.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings(action="ignore"):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(rows, columns, squeeze=False)
        brightest = max(float(panel.max()) for panel in panels.values())
        for axes, (title, panel) in zip(grid.flat, panels.items(), strict=False):
            picture = axes.imshow(panel, cmap="Blues", vmin=0.0, vmax=brightest, aspect="auto")
            axes.set_title(title, fontsize=10)
            _label(axes, source, target, letters)
        for axes in grid.flat[len(panels) :]:
            axes.set_axis_off()
        bar = figure.colorbar(picture, ax=grid, shrink=0.6, aspect=30, pad=0.02)
        bar.set_label(meaning, fontsize=9)
        bar.ax.tick_params(labelsize=8)
        try:
            figure.savefig(path, dpi=150)
        except OSError as error:
            raise UserError(f"The heatmap {path} cannot be written: {error.strerror}.") from error


def _grid(count: int, width: float, height: float) -> tuple[int, int]:
    """Columns and rows of panels that make the whole picture about as wide as high, or somewhat wider."""
    columns = min(count, max(1, round(math.sqrt(1.5 * count * height / width))))
    rows = math.ceil(count / columns)
    return math.ceil(count / rows), rows  # four panels in two rows of two, not in rows of three and one


def _label(axes: Any, source: list[str], target: list[str], letters: float) -> None:
    """Tokens as tick labels: the source on top, as one reads it, the target down the side."""
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(source)), source, rotation=90, fontsize=letters)
    axes.set_yticks(range(len(target)), target, fontsize=letters)
    axes.tick_params(length=0)
    for text in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        text.set_parse_math(False)  # a dollar is a dollar
    for spine in axes.spines.values():
        spine.set_color("0.8")


def _printable(token: str) -> str:
    """The token with what has no shape of its own (line breaks, control characters) spelt as in a Python string."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in token)
