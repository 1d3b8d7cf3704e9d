"""Parallel text in files: one class for each shape, all of them a `PairSource`.

A line number counts from 1, and a line ends at ``\\n`` only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from minitx.data.lines import content_hash, read_lines
from minitx.errors import UserError


class Pair(NamedTuple):
    """A sentence and its translation as they stand in the data, with the line (or row) they stand in."""

    source: str
    target: str
    line: int


class Splits(NamedTuple):
    """What the splits are called where they are kept; ``tests`` maps a name for results to it, the main test first."""

    train: str
    validation: str
    tests: dict[str, str]


@runtime_checkable
class PairSource(Protocol):
    """Where sentence pairs come from. A new shape of data needs these members and no change elsewhere."""

    @property
    def source_language(self) -> str: ...

    @property
    def target_language(self) -> str: ...

    def splits(self) -> Splits:
        """The splits there are."""

    def names(self, split: str) -> tuple[str, str]:
        """What holds the source side and the target side of a split, as messages name it."""

    def fingerprint(self, split: str) -> str:
        """A hash that changes with anything that changes `pairs`."""

    def pairs(self, split: str) -> Iterator[Pair]:
        """The pairs in their order, unchanged: nothing stripped, no blank one left out."""


VALIDATION_NAMES = ("val", "validation", "valid", "dev")


class TextFiles:
    """``path/train.en`` and ``path/train.de``, line by line, plain or ``.gz``; likewise each other split."""

    def __init__(
        self,
        path: str | Path,
        source_language: str,
        target_language: str,
        train: str = "train",
        validation: str | None = None,
        tests: Sequence[str] | None = None,
    ) -> None:
        check_sides_differ(source_language, target_language)
        self.path = path
        self.source_language, self.target_language = source_language, target_language
        self._train, self._validation, self._tests = train, validation, tests

    @cached_property
    def directory(self) -> Path:
        """The directory of the files.

        Raises:
            UserError: there is none at the path given.
        """
        return find_directory(self.path)

    def splits(self) -> Splits:
        suffix = f".{self.source_language}"
        return find_splits(stems(self.directory, suffix), self._train, self._validation, self._tests)

    def names(self, split: str) -> tuple[str, str]:
        source, target = self._files(split)
        return str(source), str(target)

    def fingerprint(self, split: str) -> str:
        return digest("text", *map(content_hash, self._files(split)))

    def pairs(self, split: str) -> Iterator[Pair]:
        return aligned(*self._files(split))

    def _files(self, split: str) -> tuple[Path, Path]:
        return (
            find_file(self.directory, f"{split}.{self.source_language}"),
            find_file(self.directory, f"{split}.{self.target_language}"),
        )


def check_sides_differ(source: str | int, target: str | int, what: str = "language") -> None:
    """Raise UserError where both sides of the pairs would be the same text."""
    if source == target:
        raise UserError(
            f"data.source_{what} and data.target_{what} are both {source}: each sentence would be its own translation."
        )


def aligned(source: Path, target: Path) -> Iterator[Pair]:
    """The pairs of two files, line by line.

    Raises:
        UserError: one file has more lines than the other, or cannot be read.
    """
    pairs = zip_longest(read_lines(source), read_lines(target))
    for number, (left, right) in enumerate(pairs, start=1):
        if left is None or right is None:
            longer = number + sum(1 for _ in pairs)
            counts = (number - 1, longer) if left is None else (longer, number - 1)
            raise UserError(
                f"{source} has {counts[0]} lines and {target} has {counts[1]}: a line is missing on one side, or a "
                "sentence was broken in two there (by a tool that splits lines at more than \\n, or by hand). "
                "`minitx data check` shows where."
            )
        yield Pair(left, right, number)


def find_file(directory: Path, name: str) -> Path:
    """``directory/name``, or else ``directory/name.gz``.

    Raises:
        UserError: there is neither.
    """
    for path in (directory / name, directory / f"{name}.gz"):
        if path.is_file():
            return path
    there = sorted(path.name for path in directory.iterdir() if path.is_file())
    listed = ", ".join(there[:12]) + (", …" if len(there) > 12 else "")
    raise UserError(f"There is no {name} or {name}.gz in {directory}, which holds: {listed or 'nothing'}.")


def stems(directory: Path, suffix: str) -> list[str]:
    """Names of the files in ``directory`` that end with ``suffix`` or ``suffix.gz``, without that end, sorted."""
    names = (path.name.removesuffix(".gz") for path in directory.iterdir() if path.is_file())
    return sorted({name.removesuffix(suffix) for name in names if name.endswith(suffix)})


def find_splits(there: Sequence[str], train: str, validation: str | None, tests: Sequence[str] | None) -> Splits:
    """Settle which split is which: those named, or else by their usual names among those that are ``there``.

    Args:
        there: the splits there are.
        train: the training split.
        validation: the validation split; None: the first of `VALIDATION_NAMES`.
        tests: each a split, or ``NAME=SPLIT`` to give it another name in results; None: every split named ``test…``.

    Raises:
        UserError: no validation split is named or to be found, or a test's name is taken, missing or no file name.
    """
    if validation is None:
        validation = next((name for name in VALIDATION_NAMES if name in there), None)
    if validation is None:
        raise UserError(
            f"No validation split found among {', '.join(there) or 'no splits at all'}: name it with data.validation=…"
        )
    if tests is None:
        tests = [name for name in there if name.startswith("test")]
    named: dict[str, str] = {}
    for test in tests:
        name, _, split = test.partition("=")
        _check_test_name(name, test, named)
        named[name] = split or name
    return Splits(train, validation, named)


def _check_test_name(name: str, test: str, taken: Mapping[str, str]) -> None:
    """A test's name also names the files that hold its translations."""
    if name in ("train", "validation"):
        fault = f"{name} is what another split is called"
    elif name in taken:
        fault = f"two tests would be called {name}"
    elif name in ("", "..") or name != Path(name).name or not name.isprintable():
        fault = "its name has to serve as the name of a file"
    else:
        return
    raise UserError(f"data.tests: {test!r}: {fault}. Write NAME=SPLIT with another NAME.")


def digest(*parts: object) -> str:
    """A hash of ``parts``, which JSON can hold."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def find_directory(path: str | Path | None) -> Path:
    """The directory at ``path``.

    Raises:
        UserError: there is none, or none is named.
    """
    if path is None or not str(path).strip():
        raise UserError("data.path is empty: name the directory that holds the data, data.path=DIR.")
    directory = Path(path).expanduser()
    if not directory.is_dir():
        raise UserError(f"data.path={path} is not a directory (looked for {directory.absolute()}).")
    return directory
