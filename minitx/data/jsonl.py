"""Parallel text as JSON Lines: one object a pair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from minitx.data.lines import content_hash, read_lines
from minitx.data.sources import Pair, Splits, check_sides_differ, digest, find_directory, find_file, find_splits, stems
from minitx.errors import UserError


class Jsonl:
    """``path/train.jsonl`` and other splits likewise, plain or ``.gz``.

    A line is ``{"en": …, "de": …}`` or ``{"translation": {"en": …, "de": …}}``; other keys are passed over, null counts
    as a blank sentence.
    """

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
        """The splits named, or found as ``*.jsonl``."""
        return find_splits(stems(self.directory, ".jsonl"), self._train, self._validation, self._tests)

    def names(self, split: str) -> tuple[str, str]:
        """The file, for both sides."""
        name = str(self._file(split))
        return name, name

    def fingerprint(self, split: str) -> str:
        """Of the file's bytes and the languages."""
        return digest("jsonl", self.source_language, self.target_language, content_hash(self._file(split)))

    def pairs(self, split: str) -> Iterator[Pair]:
        """A pair for each line.

        Raises:
            UserError: a line is no such object, repeats a key, or holds what no text can (half a surrogate pair).
        """
        path = self._file(split)
        for number, line in enumerate(read_lines(path), start=1):
            try:
                record = _record(line)
                yield Pair(_text(record, self.source_language), _text(record, self.target_language), number)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}, line {number}: {error}.") from error

    def _file(self, split: str) -> Path:
        return find_file(self.directory, f"{split}.jsonl")


def _record(line: str) -> dict[str, Any]:
    """The object that holds the two sentences; ValueError says what is wrong with the line."""
    try:
        record = json.loads(line, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error.msg} at column {error.colno})") from error
    if isinstance(record, dict) and isinstance(record.get("translation"), dict):
        record = record["translation"]
    if not isinstance(record, dict):
        raise ValueError('a JSON object is needed, as {"en": "…", "de": "…"}')
    return record


def _text(record: dict[str, Any], language: str) -> str:
    if language not in record:
        raise ValueError(f"no key {language!r}; there are {', '.join(map(repr, record)) or 'none'}")
    text = record[language]
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ValueError(f"{language!r} is no text but {json.dumps(text)[:40]}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{language!r} holds half a surrogate pair (\\u{ord(text[error.start]):04x})") from error
    return text


def _without_repeats(items: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(items)
    if len(record) < len(items):
        names = [name for name, _ in items]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated!r} stands twice")
    return record
