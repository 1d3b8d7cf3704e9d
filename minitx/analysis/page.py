"""The files of a report: figures, CSV, and the page and its Markdown, which hold the same."""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib import rc_context

from minitx.analysis.curves import Drawn
from minitx.analysis.figures import draw_figures
from minitx.analysis.results import Results
from minitx.analysis.style import SETTINGS, looks
from minitx.analysis.tables import make_tables
from minitx.analysis.wording import method, summarise

TEMPLATES = Path(__file__).parent / "templates"
PIXELS_AN_INCH = 96
FONTS = "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"  # for readers who have no DejaVu


class Picture(NamedTuple):
    """A figure as the page holds it.

    Attributes:
        name, title, caption: as drawn.
        svg: the drawing, for the middle of an HTML page.
        width: its natural width in pixels.
    """

    name: str
    title: str
    caption: str
    svg: str
    width: int


def write_files(results: Results, directory: Path) -> None:
    """Write report.html, report.md, the CSV files and figures/ into an empty directory."""
    frames = {
        "runs": results.runs,
        "arms": results.arms,
        "differences": results.differences,
        "bootstrap": results.bootstrap,
        "scores": results.scores,
        "left_out": pd.DataFrame(
            [(str(path), reason) for path, reason in results.left_out], columns=["directory", "reason"]
        ),
    }
    for name, frame in frames.items():
        frame.to_csv(directory / f"{name}.csv", index=False)
    figures = directory / "figures"
    figures.mkdir()
    with rc_context(SETTINGS):
        pictures = [_save(drawn, figures) for drawn in draw_figures(results)]
    content = {
        "results": results,
        "sentences": summarise(results),
        "method": method(results),
        "pictures": pictures,
        "tables": list(make_tables(results)),
        "looks": looks(results.runs["variant"]),
        "files": [f"{name}.csv" for name, frame in frames.items() if len(frame)],
    }
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=lambda name: str(name).startswith("report.html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    environment.filters["dashes"] = _dashes
    for name in ("report.html", "report.md"):
        page = environment.get_template(f"{name}.jinja").render(content)
        (directory / name).write_text(page, encoding="utf-8")


def _save(drawn: Drawn, figures: Path) -> Picture:
    """Write a figure's two files; the same drawing is returned for the page."""
    svg = io.StringIO()
    # Without a date, and with identifiers made from the name, the same results give the same file.
    with rc_context({"svg.hashsalt": drawn.name}):
        drawn.figure.savefig(svg, format="svg", metadata={"Date": None})
    text = svg.getvalue().replace("'DejaVu Sans'", FONTS)
    (figures / f"{drawn.name}.svg").write_text(text, encoding="utf-8")
    drawn.figure.savefig(figures / f"{drawn.name}.png", dpi=150)
    width = round(drawn.figure.get_figwidth() * PIXELS_AN_INCH)
    return Picture(drawn.name, drawn.title, drawn.caption, inline(text, drawn.name, drawn.title), width)


def inline(svg: str, name: str, title: str) -> str:
    """An SVG file as an element of a page: no prologue, no size of its own, identifiers that no other figure has."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r"url\(#", f"url(#{name}-", body)
    body = re.sub(r'href="#', f'href="#{name}-', body)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    head, rest = body.split(">", 1)
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{escape(title)}">{rest}'


def _dashes(line: object) -> str:
    """A line style of matplotlib as SVG's `stroke-dasharray`, for a line two units wide."""
    return " ".join(f"{2 * length:g}" for length in line[1]) if isinstance(line, tuple) else "none"
