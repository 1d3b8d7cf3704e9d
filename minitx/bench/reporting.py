"""What the benchmarks have in common when they speak: options, records as JSON lines, numbers that can be read."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from minitx.bench.timing import Spread
from minitx.errors import UserError

WIDTH_OF_A_FILE = 150
STANDARD_OUTPUT = "-"


class Parser(argparse.ArgumentParser):
    """Options whose mistakes are said in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise what the command line prints as a line."""
        raise UserError(f"{self.prog}: {message}; `{self.prog} --help` lists what there is.")


def positive(text: str) -> int:
    """An option's value that counts something."""
    return _at_least(1, text)


def natural(text: str) -> int:
    """An option's value that counts something of which there may be none."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text} is no whole number of at least {least}")
    return number


def positives(text: str) -> list[int]:
    """Several of them, with commas: each once, in ascending order."""
    return sorted({positive(part) for part in text.split(",")})


WriteRecord = Callable[[dict[str, Any]], None]


@contextmanager
def json_lines(path: str | None) -> Iterator[WriteRecord]:
    """A function that adds a record to a file, or to standard output for "-", a line each, as soon as it is called.

    What the file holds already stays.

    Args:
        path: None: records are dropped.

    Raises:
        UserError: the file cannot be written.
    """
    with ExitStack() as stack:
        file = sys.stdout
        if path not in (None, STANDARD_OUTPUT):
            try:
                file = stack.enter_context(Path(path).open("a", encoding="utf-8"))
            except OSError as error:
                raise UserError(f"--json {path} cannot be written: {error.strerror}.") from error

        def write(record: dict[str, Any]) -> None:
            if path is not None:
                print(json.dumps(record, ensure_ascii=False), file=file, flush=True)

        yield write


def make_console(json_path: str | None) -> Console:
    """Where tables go: standard output, or standard error if the records take that."""
    console = Console(stderr=json_path == STANDARD_OUTPUT)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_FILE
    return console


def say(console: Console, words: str) -> None:
    """A line of plain text."""
    console.print(words, highlight=False, soft_wrap=True, markup=False)


def milliseconds(times: Spread) -> str:
    """Median and quartiles: `1.23 (1.20-1.31)`."""
    middle, lower, upper = (_three_digits(1000 * seconds) for seconds in times[:3])
    return f"{middle} ({lower}–{upper})" if times.samples > 1 else f"{middle} (once)"


def mebibytes(size: int | float) -> str:
    """Bytes in MiB."""
    return _three_digits(size / 2**20)


def count(number: int | float) -> str:
    """1234567 -> "1.23 M"."""
    for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= unit:
            return f"{_three_digits(number / unit)} {letter}"
    return f"{number:g}"


def ratio(number: int | float) -> str:
    """2.5 -> "2.5"; 0.123 -> "0.12"."""
    return f"{number:.0f}" if number >= 99.5 else f"{number:.1f}" if number >= 9.95 else f"{number:.2f}"


def duration(seconds: int | float) -> str:
    """About how long, in words."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _three_digits(number: int | float) -> str:
    if number >= 99.95:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 9.995 else f"{number:.2f}" if number >= 0.1 else f"{number:.3f}"
