"""From sentence pairs to ids on disk: the tokenizer of a corpus, and its splits as Arrow files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import tokenizers

from minitx.data.cache import Cache, code_version
from minitx.data.lines import sentence
from minitx.data.sources import Pair, PairSource, digest
from minitx.data.tokenizer import EOS_ID, Tokenizer, train_tokenizer
from minitx.errors import UserError

PAIRS_FILE, LENGTHS_FILE, TOKENIZER_FILE = "pairs.arrow", "lengths.npy", "tokenizer.json"
ROWS_AT_ONCE = 10_000
SCHEMA = pa.schema(
    {
        "line": pa.int64(),
        "source": pa.string(),
        "target": pa.string(),
        "source_ids": pa.list_(pa.int32()),
        "target_ids": pa.list_(pa.int32()),
    }
)
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PreparedSplit:
    """A tokenised split on disk.

    Attributes:
        directory: holds the pairs, as Arrow (`SCHEMA`), and their lengths, as int32 of shape [2, pairs].
        names: what held the two sides, for messages.
        fingerprint: of data, tokenizer and code version.
        num_blank: pairs left out because a side of them was blank.
        blank_side: the side, 0 or 1, that was blank in the first of them, or None.
        blank_line: the line where that stands, or None.
    """

    directory: Path
    names: tuple[str, str]
    fingerprint: str
    num_blank: int
    blank_side: int | None = None
    blank_line: int | None = None


def prepare_tokenizer(source: PairSource, split: str, limit: int | None, vocab_size: int, cache: Cache) -> Tokenizer:
    """The joint tokenizer of the first ``limit`` pairs (None: all) of a split, learnt now or read from the cache."""

    def build(directory: Path) -> dict[str, Any]:
        logger.info("Learning %d pieces from %s and %s", vocab_size, *source.names(split))
        texts = (text for pair in sentences(source, split, limit) for text in (pair.source, pair.target))
        train_tokenizer(texts, vocab_size).save(directory / TOKENIZER_FILE)
        require_unchanged(source, split, before)
        return {}

    before = source.fingerprint(split)

    parts = (before, limit, vocab_size, code_version(), tokenizers.__version__)
    directory, _ = cache.entry("tokenizers", digest(*parts), build)
    return Tokenizer.load(directory / TOKENIZER_FILE)


def prepare_split(
    source: PairSource, split: str, limit: int | None, tokenizer: Tokenizer, cache: Cache
) -> PreparedSplit:
    """The first ``limit`` pairs (None: all) of a split as ids, tokenised now or found in the cache."""

    def build(directory: Path) -> dict[str, Any]:
        logger.info("Tokenising %s and %s", *source.names(split))
        facts = _write(sentences(source, split, limit), tokenizer, directory)
        require_unchanged(source, split, before)
        return facts

    before = source.fingerprint(split)
    fingerprint = digest(before, limit, tokenizer.fingerprint, code_version())
    directory, facts = cache.entry("pairs", fingerprint, build)
    return PreparedSplit(directory, source.names(split), fingerprint, **facts)


def sentences(source: PairSource, split: str, limit: int | None) -> Iterator[Pair]:
    """The pairs of a split with white space stripped from the edges of their sentences, blank ones included."""
    for pair in islice(source.pairs(split), limit):
        yield Pair(sentence(pair.source), sentence(pair.target), pair.line)


def require_unchanged(source: PairSource, split: str, fingerprint: str) -> None:
    """Raise UserError if a split is no longer what it was: what was made of it would stand for the wrong data."""
    if source.fingerprint(split) != fingerprint:
        names = " or ".join(dict.fromkeys(source.names(split)))
        raise UserError(f"{names} changed while it was read: start again when nothing writes to it any more.")


def _write(pairs: Iterable[Pair], tokenizer: Tokenizer, directory: Path) -> dict[str, Any]:
    num_blank, blank_side, blank_line = 0, None, None
    lengths = []
    remaining = iter(pairs)
    with pa.OSFile(str(directory / PAIRS_FILE), "wb") as sink, pa.ipc.new_stream(sink, SCHEMA) as writer:
        while chunk := list(islice(remaining, ROWS_AT_ONCE)):
            kept = [pair for pair in chunk if pair.source and pair.target]
            if len(kept) < len(chunk) and blank_side is None:
                blank = next(pair for pair in chunk if not (pair.source and pair.target))
                blank_side, blank_line = int(bool(blank.source)), blank.line
            num_blank += len(chunk) - len(kept)
            table = _tokenise(kept, tokenizer)
            writer.write_batch(table)
            lengths.append([table[name].value_lengths().to_numpy() for name in ("source_ids", "target_ids")])
    joined = np.concatenate(lengths, axis=1) if lengths else np.zeros((2, 0))
    np.save(directory / LENGTHS_FILE, joined.astype(np.int32))
    return {"num_blank": num_blank, "blank_side": blank_side, "blank_line": blank_line}


def _tokenise(pairs: list[Pair], tokenizer: Tokenizer) -> pa.RecordBatch:
    lines, sources, targets = [p.line for p in pairs], [p.source for p in pairs], [p.target for p in pairs]
    ids = [[[*row, EOS_ID] for row in tokenizer.encode_batch(texts)] for texts in (sources, targets)]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip((lines, sources, targets, *ids), SCHEMA, strict=True)],
        schema=SCHEMA,
    )
