"""Parallel text as tables: one row a pair, columns parted by tabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from minitx.data.lines import content_hash, read_lines
from minitx.data.sources import Pair, Splits, check_sides_differ, digest, find_directory, find_file, find_splits, stems
from minitx.errors import UserError


class Tsv:
    """``path/train.tsv`` and other splits likewise, plain or ``.gz``; each row has as many columns as the first.

    A column is given by its name in the first line, which then is no pair, or by its position, from 1; None: the
    column named like the language. There is no quoting: a quotation mark is text.
    """

    def __init__(
        self,
        path: str | Path,
        source_language: str,
        target_language: str,
        source_column: str | int | None = None,
        target_column: str | int | None = None,
        train: str = "train",
        validation: str | None = None,
        tests: Sequence[str] | None = None,
    ) -> None:
        self.path = path
        self.source_language, self.target_language = source_language, target_language
        self._columns = (
            source_language if source_column is None else source_column,
            target_language if target_column is None else target_column,
        )
        by_language = source_column is None and target_column is None
        check_sides_differ(*self._columns, "language" if by_language else "column")
        self._train, self._validation, self._tests = train, validation, tests

    @cached_property
    def directory(self) -> Path:
        """The directory of the files.

        Raises:
            UserError: there is none at the path given.
        """
        return find_directory(self.path)

    def splits(self) -> Splits:
        """The splits named, or found as ``*.tsv``."""
        return find_splits(stems(self.directory, ".tsv"), self._train, self._validation, self._tests)

    def names(self, split: str) -> tuple[str, str]:
        """The file, for both sides."""
        name = str(self._file(split))
        return name, name

    def fingerprint(self, split: str) -> str:
        """Of the file's bytes and the columns."""
        return digest("tsv", self._columns, content_hash(self._file(split)))

    def pairs(self, split: str) -> Iterator[Pair]:
        """The rows below the header, if there is one.

        Raises:
            UserError: a column is missing, or a row has too few or too many.
        """
        if len({isinstance(column, int) for column in self._columns}) > 1:
            raise UserError(
                f"data.source_column={self._columns[0]} and data.target_column={self._columns[1]}: "
                "give two names or two positions."
            )
        path = self._file(split)
        source = target = width = None
        for number, line in enumerate(read_lines(path), start=1):
            cells = line.split("\t")
            if source is None or target is None:
                width = len(cells)
                source, target = (self._position(column, cells, path) for column in self._columns)
                if isinstance(self._columns[0], str):
                    continue
            if len(cells) != width:
                raise UserError(f"{path}, line {number} has {len(cells)} columns; the first line has {width}.")
            yield Pair(cells[source], cells[target], number)

    def _file(self, split: str) -> Path:
        return find_file(self.directory, f"{split}.tsv")

    @staticmethod
    def _position(column: str | int, first: list[str], path: Path) -> int:
        if isinstance(column, int):
            if not 1 <= column <= len(first):
                raise UserError(f"{path} has no column {column}: line 1 has {len(first)}, counted from 1.")
            return column - 1
        names = [cell.strip() for cell in first]
        if names.count(column) != 1:
            raise UserError(
                f"{path}, line 1 must name one column {column!r}, and names {', '.join(map(repr, names[:8]))}: give "
                "data.source_column and data.target_column, as names or as positions from 1."
            )
        return names.index(column)
