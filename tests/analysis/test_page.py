"""The page itself: figures inlined without clashing identifiers, and how a real browser shows it."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from minitx.analysis.page import inline
from minitx.analysis.report import write_report

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
# Two frames of given widths show the page; what a script reads off them is left as JSON in the document.
HARNESS = """<!DOCTYPE html><title>harness</title><body>
{frames}<pre id="read"></pre><script>
addEventListener("load", () => {{
  document.getElementById("read").textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument, root = page.documentElement;
    const boxes = [...page.querySelectorAll("figure svg")].map(svg => svg.getBoundingClientRect());
    const letters = [...page.querySelectorAll("figure svg text")];
    const outside = [...page.querySelectorAll("h1, h2, h3, p, li, figcaption, .scroll")]
      .filter(part => part.getBoundingClientRect().right > root.clientWidth + 1).length;
    return {{width: frame.contentWindow.innerWidth, room: root.clientWidth, scroll: root.scrollWidth, outside,
      figures: boxes.filter(box => box.width > 100 && box.height > 50).length,
      letters: Math.min(...letters.map(text => text.getBoundingClientRect().height)),
      ids: [...page.querySelectorAll("[id]")].length,
      unique: new Set([...page.querySelectorAll("[id]")].map(part => part.id)).size}};
  }}));
}});
{further}</script>"""


def browse(page: Path, widths: tuple[int, ...], further: str = "") -> tuple[list[dict], list[str]]:
    """What the script read at each width, and what the browser's console said."""
    frames = "".join(
        f'<iframe src="{page.name}" width="{width}" height="900" style="border: 0"></iframe>' for width in widths
    )
    harness = page.with_name("harness.html")
    harness.write_text(HARNESS.format(frames=frames, further=further))
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
    ]
    command += ["--allow-file-access-from-files", f"--user-data-dir={page.parent / 'profile'}", "--dump-dom"]
    done = subprocess.run([*command, harness.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    read = re.search(r'<pre id="read">(.*?)</pre>', done.stdout, re.DOTALL)
    assert read is not None, done.stderr
    return json.loads(read[1]), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no chromium here")
def test_in_a_browser_at_400_and_at_1280_pixels(write_sweep: Callable[..., Path], tmp_path: Path) -> None:
    out = write_report([write_sweep()], tmp_path / "out")
    shutil.copy(out / "report.html", tmp_path / "report.html")  # alone: it needs nothing beside it
    drawn = len(list((out / "figures").glob("*.svg")))

    shown, console = browse(tmp_path / "report.html", (400, 1280))

    assert console == []
    assert [frame["width"] for frame in shown] == [400, 1280]
    for frame in shown:
        assert frame["scroll"] <= frame["room"]
        assert frame["outside"] == 0
        assert frame["figures"] == drawn
        assert frame["letters"] > 7
        assert frame["unique"] == frame["ids"]


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no chromium here")
def test_the_browser_test_sees_errors(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<!DOCTYPE html><h1 style="width: 900px">wide</h1><figure><svg><text>x</text></svg></figure>')

    [shown], console = browse(page, (400,), further="undefined_function();")

    assert "undefined_function" in console[0]
    assert shown["scroll"] > shown["room"]
    assert shown["outside"] == 1


def test_a_drawing_inside_a_page() -> None:
    svg = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg height="3pt" viewBox="0 0 4 3" width="4pt" version="1.1">\n'
        '<metadata><x/></metadata><defs><path id="a"/></defs><use xlink:href="#a" clip-path="url(#b)"/></svg>'
    )

    assert inline(svg, "gap", "Gap & more").split("\n")[0] == (
        '<svg viewBox="0 0 4 3" version="1.1" role="img" aria-label="Gap &amp; more">'
    )
    assert '<path id="gap-a"/>' in inline(svg, "gap", "Gap")
    assert 'xlink:href="#gap-a" clip-path="url(#gap-b)"' in inline(svg, "gap", "Gap")
    assert "metadata" not in inline(svg, "gap", "Gap")
