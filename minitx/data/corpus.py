"""Everything a run needs of its data: one tokenizer, one training split, one validation split, tests by name."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from minitx.data.cache import Cache
from minitx.data.dataset import ParallelDataset
from minitx.data.preparation import prepare_split, prepare_tokenizer
from minitx.data.sampler import POOL_SIZE
from minitx.data.sources import PairSource, Splits, digest
from minitx.data.tokenizer import Tokenizer
from minitx.errors import UserError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Preparation:
    """How sentence pairs become ids.

    Attributes:
        vocab_size: entries of the joint vocabulary, special tokens included.
        tokenizer: a tokenizer file to use instead of learning one.
        max_length: most ids of a sentence, EOS included. A longer pair is left out of training and refused in
            evaluation; it is never cut. None: no limit.
        train_limit: use the first so many training pairs; None: all.
        cache_directory: where prepared data is kept; None: see `minitx.data.cache.Cache`.

    Raises:
        UserError: a limit is not positive.
    """

    vocab_size: int = 8000
    tokenizer: str | Path | None = None
    max_length: int | None = 256
    train_limit: int | None = None
    cache_directory: str | Path | None = None

    def __post_init__(self) -> None:
        require_at_least(1, max_length=self.max_length, train_limit=self.train_limit)


@dataclass(frozen=True)
class Batching:
    """How pairs become batches.

    Attributes:
        batch_tokens: rows times longest sentence of a batch, on either side, padding included.
        num_workers: processes that load batches; 0: the training process itself.
        pool_size: pairs sorted by length together (`minitx.data.sampler.TokenBatchSampler`).

    Raises:
        UserError: a number is too small.
    """

    batch_tokens: int = 4096
    num_workers: int = 0
    pool_size: int = POOL_SIZE

    def __post_init__(self) -> None:
        require_at_least(1, batch_tokens=self.batch_tokens, pool_size=self.pool_size)
        require_at_least(0, num_workers=self.num_workers)


class Corpus:
    """The tokenizer and the splits of one source, each prepared at its first use, or all of them by `prepare`.

    Attributes:
        source: where the pairs come from.
        preparation: how they become ids.
        batching: how they become batches; handed on, not used here.
    """

    def __init__(self, source: PairSource, preparation: Preparation, batching: Batching) -> None:
        self.source, self.preparation, self.batching = source, preparation, batching
        self._cache = Cache(preparation.cache_directory)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer given, or else one learnt from both sides of the training pairs."""
        settings = self.preparation
        if settings.tokenizer is not None:
            return Tokenizer.load(settings.tokenizer)
        return prepare_tokenizer(
            self.source, self._splits.train, settings.train_limit, settings.vocab_size, self._cache
        )

    @cached_property
    def train(self) -> ParallelDataset:
        """The training pairs, without blank and overlong ones.

        Raises:
            UserError: none is left.
        """
        return self._dataset(self._splits.train, self.preparation.train_limit)

    @cached_property
    def validation(self) -> ParallelDataset:
        """The validation pairs, all of them.

        Raises:
            UserError: a sentence is blank or too long, or there is none.
        """
        return self._evaluation_dataset(self._splits.validation)

    @cached_property
    def tests(self) -> dict[str, ParallelDataset]:
        """The test sets by name, the main one first; each as `validation` is."""
        return {name: self._evaluation_dataset(split) for name, split in self._splits.tests.items()}

    @cached_property
    def _evaluation_datasets(self) -> dict[str, ParallelDataset]:
        return {}

    def split(self, name: str) -> ParallelDataset:
        """A split by name: train, validation, a test's name, or ``test`` for the main test.

        Raises:
            UserError: there is no such split; names those there are.
        """
        if name in ("train", "validation"):
            dataset: ParallelDataset = getattr(self, name)
            return dataset
        tests = self._splits.tests
        if name not in tests and not (name == "test" and tests):
            raise UserError(f"There is no split {name}; there are {', '.join(['train', 'validation', *tests])}.")
        return self._evaluation_dataset(tests[name if name in tests else next(iter(tests))])

    @property
    def fingerprint(self) -> str:
        """A hash of the training pairs' and the tokenizer's contents: a resumed run must find the same."""
        return digest(self.train.fingerprint, self.tokenizer.fingerprint)

    @property
    def notes(self) -> list[str]:
        """What a user should know of the preparation: sizes, pairs left out, a vocabulary that could not be filled."""
        return list(self._notes())

    def prepare(self) -> Corpus:
        """Prepare every split now, so that mistakes in the data surface before any training; returns itself.

        Raises:
            UserError: as `train`, `validation` and `tests` do.
        """
        _ = self.train, self.validation, self.tests
        for note in self.notes:
            logger.info(note)
        return self

    @cached_property
    def _splits(self) -> Splits:
        return self.source.splits()

    def _dataset(self, split: str, limit: int | None = None) -> ParallelDataset:
        prepared = prepare_split(self.source, split, limit, self.tokenizer, self._cache)
        dataset = ParallelDataset(prepared, self.preparation.max_length)
        if not len(dataset):
            files = " and ".join(dict.fromkeys(prepared.names))
            if not prepared.num_blank and not dataset.num_too_long:
                raise UserError(f"{files} hold no pairs, they are empty: name files that hold sentences.")
            raise UserError(
                f"No pair of {files} can be used: {prepared.num_blank} are blank and {dataset.num_too_long} longer "
                f"than data.max_length={self.preparation.max_length}."
            )
        return dataset

    def _evaluation_dataset(self, split: str) -> ParallelDataset:
        if split not in self._evaluation_datasets:
            dataset = self._dataset(split)
            dataset.require_complete()
            self._evaluation_datasets[split] = dataset
        return self._evaluation_datasets[split]

    def _notes(self) -> Iterator[str]:
        size, asked = self.tokenizer.vocab_size, self.preparation.vocab_size
        if self.preparation.tokenizer is None and size < asked:
            yield f"vocabulary: {size:,} entries; the training text holds no more to fill the {asked:,} asked for"
        else:
            yield f"vocabulary: {size:,} entries"
        left_out = [
            f"{count:,} {what} left out"
            for count, what in (
                (self.train.split.num_blank, "with a blank side"),
                (self.train.num_too_long, f"longer than {self.preparation.max_length} tokens"),
            )
            if count
        ]
        yield ", ".join([f"train: {len(self.train):,} pairs", *left_out])
        yield f"validation: {len(self.validation):,} pairs"
        yield from (f"{name}: {len(dataset):,} pairs" for name, dataset in self.tests.items())


def prepare_corpus(
    source: PairSource, preparation: Preparation | None = None, batching: Batching | None = None
) -> Corpus:
    """The corpus of any source of pairs, ready to train on.

    Raises:
        UserError: the data or a setting is at fault.
    """
    return Corpus(source, preparation or Preparation(), batching or Batching()).prepare()


def require_at_least(smallest: int, **values: int | None) -> None:
    """Raise UserError for a value, given by its key in the data group, below ``smallest``."""
    for key, value in values.items():
        if value is not None and value < smallest:
            raise UserError(f"data.{key}={value}: it must be a whole number of at least {smallest}.")
