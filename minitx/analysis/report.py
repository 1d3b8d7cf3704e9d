"""A report over runs: read them, compute, and write a page that works offline, Markdown, CSV and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from minitx.errors import UserError


def write_report(
    places: Sequence[Path],
    out: Path,
    *,
    target: float | None = None,
    reference: str | None = None,
    split: str | None = None,
) -> Path:
    """Read runs, compute, and write the report's directory, whose path is returned and printed.

    Args:
        places: run directories, or parents of some.
        out: the directory to make; a numbered sibling is made where it exists.
        target, reference, split: see `analyse`.

    Raises:
        UserError: if there is no run, none that can be read or none that was validated, or `out` cannot be made.
    """
    from minitx.analysis.page import write_files
    from minitx.analysis.results import analyse
    from minitx.analysis.runs import Run, Unreadable, find_runs, read_run

    runs: list[Run] = []
    left_out: list[tuple[Path, str]] = []
    for path in find_runs(places):
        try:
            runs.append(read_run(path))
        except Unreadable as reason:
            left_out.append((path, str(reason)))
    if not runs:
        path, reason_words = left_out[0]
        raise UserError(f"None of {len(left_out)} run directories can be read; of {path}, {reason_words}.")
    results = analyse(runs, left_out, target=target, reference=reference, split=split)
    directory = _make_directory(out)
    write_files(results, directory)
    print(f"{directory / 'report.html'}: {len(results.runs)} runs, {len(results.left_out)} directories left out")
    for warning in results.warnings:
        print(f"warning: {warning}")
    return directory


def _make_directory(out: Path) -> Path:
    """Make `out`, or the first numbered sibling that does not exist yet."""
    out = out if out.name not in ("", "..") else out.resolve()
    number = 1
    while True:
        directory = out if number == 1 else out.with_name(f"{out.name}-{number}")
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise UserError(f"--out {out} cannot be made ({error.strerror}): choose another place.") from error
        else:
            return directory
