"""Parallel text on the Hugging Face Hub, or in a directory laid out as a dataset there."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import datasets

from minitx.data.sources import Pair, Splits, check_sides_differ, digest, find_splits
from minitx.errors import UserError

SECONDS_TO_WAIT = 4
ROWS_AT_ONCE = 1000


class HubDataset:
    """A dataset by its id on the Hub, or by a local directory of Parquet, JSON Lines or CSV files.

    Args:
        name: ``ORGANISATION/DATASET``, or the directory.
        config_names: names of its configuration to try in turn; None stands for its only one.
        revision: branch, tag or commit.

    With the Hub out of reach, what an earlier run left in the library's cache is used, as with ``HF_HUB_OFFLINE=1``.
    """

    def __init__(self, name: str, config_names: Sequence[str | None] = (None,), revision: str | None = None) -> None:
        self.name, self.config_names, self.revision = name, config_names, revision

    @cached_property
    def _splits(self) -> dict[str, datasets.Dataset]:
        if not Path(self.name).is_dir():
            _go_offline_if_unreachable()
        for config_name in self.config_names:
            try:
                found = datasets.load_dataset(self.name, config_name, revision=self.revision)
            except Exception as error:
                if isinstance(error, ValueError) and config_name != self.config_names[-1]:
                    continue
                self._explain(error)
            self._config_name = config_name
            return dict(found)
        raise AssertionError("config_names is not empty")

    def split_names(self) -> list[str]:
        """The splits there are.

        Raises:
            UserError: the dataset cannot be had.
        """
        return list(self._splits)

    def rows(self, split: str) -> datasets.Dataset:
        """A split, or a part of one such as ``train[:1000]``.

        Raises:
            UserError: the dataset cannot be had, or has no such split.
        """
        if split in self._splits:
            return self._splits[split]
        try:
            part = datasets.load_dataset(self.name, self._config_name, revision=self.revision, split=split)
        except Exception as error:
            raise UserError(f"{self.name} has no split {split}; it has {', '.join(self._splits)}.") from error
        return part

    def fingerprint(self, split: str) -> str:
        """Of where the library keeps the rows: the path holds configuration, version and a hash of the contents."""
        rows = self.rows(split)
        places = [Path(file["filename"]).parts[-4:] for file in rows.cache_files]
        return digest("hub", self.name, split, len(rows), places)

    def _explain(self, error: Exception) -> NoReturn:
        message = str(error)
        if "scripts are no longer supported" in message:
            raise UserError(
                f"{self.name} needs a loading script, which `datasets` no longer runs: try its Parquet form with "
                "data.revision=refs/convert/parquet, or get its text and use data=text_files data.path=DIR."
            ) from error
        if isinstance(error, ConnectionError) or "LocalEntryNotFoundError" in message:
            raise UserError(
                f"{self.name} is not in the cache of `datasets`, and the Hub cannot be reached: run once with a "
                "network (and without HF_HUB_OFFLINE), or use local files with data=text_files data.path=DIR."
            ) from error
        raise UserError(f"Cannot load {self.name}: {' '.join(message.split())}") from error


class Hub:
    """The pairs of a `HubDataset`, in either of the two shapes that translation corpora have there.

    Flat, with a text column for each language (``bentrevett/multi30k``), or nested, with one column ``translation``
    that holds a text for each language (``Helsinki-NLP/opus_books``, ``wmt/wmt14``).
    """

    def __init__(
        self,
        dataset: HubDataset,
        source_language: str,
        target_language: str,
        train: str = "train",
        validation: str | None = None,
        tests: Sequence[str] | None = None,
    ) -> None:
        check_sides_differ(source_language, target_language)
        self.dataset = dataset
        self.source_language, self.target_language = source_language, target_language
        self._train, self._validation, self._tests = train, validation, tests

    def splits(self) -> Splits:
        """The splits named, or found under their usual names."""
        return find_splits(self.dataset.split_names(), self._train, self._validation, self._tests)

    def names(self, split: str) -> tuple[str, str]:
        """The dataset and the split, for both sides."""
        name = f"{self.dataset.name} ({split})"
        return name, name

    def fingerprint(self, split: str) -> str:
        """Of the dataset's contents and the languages."""
        return digest("hub", self.source_language, self.target_language, self.dataset.fingerprint(split))

    def pairs(self, split: str) -> Iterator[Pair]:
        """A pair for each row, counted from 1; null is a blank sentence.

        Raises:
            UserError: a language is not there.
        """
        rows = self.dataset.rows(split)
        read = translation_pairs if "translation" in rows.column_names else flat_pairs
        texts = read(rows, self.source_language, self.target_language)
        for number, (source, target) in enumerate(texts, start=1):
            yield Pair(source or "", target or "", number)


def flat_pairs(rows: datasets.Dataset, source: str, target: str) -> Iterator[tuple[str | None, str | None]]:
    """The texts of the columns ``source`` and ``target``.

    Raises:
        UserError: there is no such column of text.
    """
    texts = {name: feature for name, feature in rows.features.items() if "string" in getattr(feature, "dtype", "")}
    _require((source, target), texts, "text columns")
    for batch in rows.select_columns([source, target]).iter(ROWS_AT_ONCE):
        yield from zip(batch[source], batch[target], strict=True)


def translation_pairs(rows: datasets.Dataset, source: str, target: str) -> Iterator[tuple[str | None, str | None]]:
    """The texts under ``source`` and ``target`` in the column ``translation``.

    Raises:
        UserError: it holds no such language.
    """
    feature = rows.features["translation"]
    _require((source, target), getattr(feature, "languages", feature), "languages")
    for batch in rows.select_columns(["translation"]).iter(ROWS_AT_ONCE):
        yield from ((row[source], row[target]) for row in batch["translation"])


def _require(wanted: Iterable[str], there: Iterable[str], what: str) -> None:
    for language in wanted:
        if language not in there:
            raise UserError(
                f"There is no {language!r} in the dataset, whose {what} are {', '.join(there)}: "
                "data.source_language and data.target_language must be among them."
            )


def _go_offline_if_unreachable() -> None:
    """Use the library's cache at once where the Hub cannot be reached; by itself it tries again for half a minute."""
    if datasets.config.HF_HUB_OFFLINE:
        return
    request = urllib.request.Request(datasets.config.HF_ENDPOINT, method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=SECONDS_TO_WAIT).close()
    except urllib.error.HTTPError:
        return  # an answer, whatever it says
    except OSError as error:
        if not isinstance(getattr(error, "reason", None), ssl.SSLError):  # the library may trust other certificates
            datasets.config.HF_HUB_OFFLINE = True
