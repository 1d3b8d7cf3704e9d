"""Corpora by shape: what ``data=…`` of a run builds, and the shortest way to one from Python.

Each function takes where the text is, its languages and the names of its splits, and after those what `Preparation` and
`Batching` document. It reads nothing yet: a `Corpus` prepares each split at its first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from minitx.data.corpus import Batching, Corpus, Preparation
from minitx.data.hub import Hub, HubDataset
from minitx.data.jsonl import Jsonl
from minitx.data.sampler import POOL_SIZE
from minitx.data.sources import PairSource, TextFiles
from minitx.data.tsv import Tsv


def text_files(
    path: str | Path,
    source_language: str,
    target_language: str,
    *,
    train: str = "train",
    validation: str | None = None,
    tests: Sequence[str] | None = None,
    vocab_size: int = 8000,
    tokenizer: str | Path | None = None,
    max_length: int | None = 256,
    train_limit: int | None = None,
    cache_directory: str | Path | None = None,
    batch_tokens: int = 4096,
    num_workers: int = 0,
    pool_size: int = POOL_SIZE,
) -> Corpus:
    """Two text files a split, ``path/train.en`` and ``path/train.de``, plain or ``.gz`` (`TextFiles`)."""
    source = TextFiles(path, source_language, target_language, train, validation, tests)
    return Corpus(
        source,
        Preparation(vocab_size, tokenizer, max_length, train_limit, cache_directory),
        Batching(batch_tokens, num_workers, pool_size),
    )


def tsv(
    path: str | Path,
    source_language: str,
    target_language: str,
    *,
    source_column: str | int | None = None,
    target_column: str | int | None = None,
    train: str = "train",
    validation: str | None = None,
    tests: Sequence[str] | None = None,
    vocab_size: int = 8000,
    tokenizer: str | Path | None = None,
    max_length: int | None = 256,
    train_limit: int | None = None,
    cache_directory: str | Path | None = None,
    batch_tokens: int = 4096,
    num_workers: int = 0,
    pool_size: int = POOL_SIZE,
) -> Corpus:
    """A table a split, ``path/train.tsv``; columns by name, or by position from 1 (`Tsv`)."""
    columns = source_column, target_column
    source = Tsv(path, source_language, target_language, *columns, train, validation, tests)
    return Corpus(
        source,
        Preparation(vocab_size, tokenizer, max_length, train_limit, cache_directory),
        Batching(batch_tokens, num_workers, pool_size),
    )


def jsonl(
    path: str | Path,
    source_language: str,
    target_language: str,
    *,
    train: str = "train",
    validation: str | None = None,
    tests: Sequence[str] | None = None,
    vocab_size: int = 8000,
    tokenizer: str | Path | None = None,
    max_length: int | None = 256,
    train_limit: int | None = None,
    cache_directory: str | Path | None = None,
    batch_tokens: int = 4096,
    num_workers: int = 0,
    pool_size: int = POOL_SIZE,
) -> Corpus:
    """JSON Lines, ``path/train.jsonl``, flat or nested under ``translation`` (`Jsonl`)."""
    source = Jsonl(path, source_language, target_language, train, validation, tests)
    return Corpus(
        source,
        Preparation(vocab_size, tokenizer, max_length, train_limit, cache_directory),
        Batching(batch_tokens, num_workers, pool_size),
    )


def hub(
    name: str,
    source_language: str,
    target_language: str,
    *,
    config_name: str | None = None,
    revision: str | None = None,
    train: str = "train",
    validation: str | None = None,
    tests: Sequence[str] | None = None,
    vocab_size: int = 8000,
    tokenizer: str | Path | None = None,
    max_length: int | None = 256,
    train_limit: int | None = None,
    cache_directory: str | Path | None = None,
    batch_tokens: int = 4096,
    num_workers: int = 0,
    pool_size: int = POOL_SIZE,
) -> Corpus:
    """A dataset on the Hub, flat or nested under ``translation`` (`Hub`).

    Without ``config_name`` the configuration named after the pair, in either order, is taken, or else the only one.
    """
    pair = f"{source_language}-{target_language}", f"{target_language}-{source_language}", None
    dataset = HubDataset(name, pair if config_name is None else (config_name,), revision)
    source = Hub(dataset, source_language, target_language, train, validation, tests)
    return Corpus(
        source,
        Preparation(vocab_size, tokenizer, max_length, train_limit, cache_directory),
        Batching(batch_tokens, num_workers, pool_size),
    )


def multi30k(
    path: str | Path | None = None,
    source_language: str = "en",
    target_language: str = "de",
    *,
    name: str = "bentrevett/multi30k",
    revision: str | None = None,
    train: str = "train",
    validation: str | None = None,
    tests: Sequence[str] | None = None,
    vocab_size: int = 8000,
    tokenizer: str | Path | None = None,
    max_length: int | None = 256,
    train_limit: int | None = None,
    cache_directory: str | Path | None = None,
    batch_tokens: int = 4096,
    num_workers: int = 0,
    pool_size: int = POOL_SIZE,
) -> Corpus:
    """Multi30k from the Hub, or with ``path`` from text files, which hold French and later test sets too."""
    source: PairSource
    if path is None:
        source = Hub(HubDataset(name, revision=revision), source_language, target_language, train, validation, tests)
    else:
        source = TextFiles(path, source_language, target_language, train, validation, tests)
    return Corpus(
        source,
        Preparation(vocab_size, tokenizer, max_length, train_limit, cache_directory),
        Batching(batch_tokens, num_workers, pool_size),
    )
