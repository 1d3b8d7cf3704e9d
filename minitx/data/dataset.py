"""Tokenised pairs on disk, mapped into memory and read row by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import datasets
import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Dataset

from minitx.data.columns import IdColumn
from minitx.data.preparation import LENGTHS_FILE, PAIRS_FILE, PreparedSplit
from minitx.errors import UserError


class Example(NamedTuple):
    """A tokenised pair: its position in its dataset, source and target ids, each ended by EOS_ID."""

    id: int
    source: NDArray[np.int32] | Sequence[int]
    target: NDArray[np.int32] | Sequence[int]


class ParallelDataset(Dataset[Example]):
    """The pairs of a split no longer than ``max_length``, in the order of the data.

    Args:
        split: the tokenised pairs.
        max_length: most ids on either side, EOS included; None: no limit.

    Attributes:
        source_lengths, target_lengths: ids on each side of each pair, EOS included; int32 of shape [len].
        num_too_long: pairs left out because a side of them is longer than ``max_length``.
    """

    def __init__(self, split: PreparedSplit, max_length: int | None = None) -> None:
        self.split = split
        lengths: NDArray[np.int32] = np.load(split.directory / LENGTHS_FILE)
        longest = lengths.max(axis=0)
        self.max_length = max_length
        fits = longest <= max_length if max_length is not None else np.ones(len(longest), dtype=bool)
        self._rows = np.flatnonzero(fits)
        self._too_long = np.flatnonzero(~fits)
        self.num_too_long = len(self._too_long)
        self.source_lengths: NDArray[np.int32] = lengths[0, self._rows]
        self.target_lengths: NDArray[np.int32] = lengths[1, self._rows]

    @property
    def fingerprint(self) -> str:
        """A hash of data, tokenizer and code version, the same wherever those are the same."""
        return self.split.fingerprint

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Example:
        if not -len(self) <= index < len(self):
            raise IndexError(f"pair {index} of {len(self)}")
        row = int(self._rows[index])
        return Example(int(index) % len(self), self._source_ids[row], self._target_ids[row])

    def __getitems__(self, indices: Sequence[int]) -> list[Example]:
        return [self[index] for index in indices]

    def sources(self, indices: Iterable[int] | None = None) -> list[str]:
        """The source sentences as text, of all pairs in order or of those at ``indices``."""
        return self._texts("source", indices)

    def references(self, indices: Iterable[int] | None = None) -> list[str]:
        """The target sentences as text, of all pairs in order or of those at ``indices``."""
        return self._texts("target", indices)

    def location(self, index: int) -> str:
        """Where a pair stands in the data, for messages: files and line."""
        return self._location(int(self._rows[index]))

    def require_complete(self) -> None:
        """See that no pair was left out, as evaluation demands: a score over fewer pairs would pass for the whole.

        Raises:
            UserError: a sentence is blank or too long; names the first such line.
        """
        if (side := self.split.blank_side) is not None:
            raise UserError(
                f"{self.split.names[side]}, line {self.split.blank_line} is blank ({self.split.num_blank} such pairs): "
                "evaluation leaves out no pair, so remove the line from both sides or fill it."
            )
        if self.num_too_long:
            row = int(self._too_long[0])
            length = max(len(self._source_ids[row]), len(self._target_ids[row]))
            raise UserError(
                f"{self._location(row)} has {length} tokens, more than data.max_length={self.max_length} "
                f"({self.num_too_long} such pairs): evaluation cuts and leaves out nothing, so raise model.max_length "
                "and data.max_length, or remove the line from both sides."
            )

    def _location(self, row: int) -> str:
        files = " and ".join(dict.fromkeys(self.split.names))
        return f"{files}, line {self._table.column('line')[row].as_py()}"

    def _texts(self, side: str, indices: Iterable[int] | None) -> list[str]:
        rows = self._rows if indices is None else self._rows[np.asarray(list(indices), dtype=np.int64)]
        texts: list[str] = self._table.column(side).take(rows).to_pylist()
        return texts

    @cached_property
    def _table(self) -> datasets.table.Table:
        return datasets.Dataset.from_file(str(self.split.directory / PAIRS_FILE)).data

    @cached_property
    def _source_ids(self) -> IdColumn:
        return IdColumn(self._table.column("source_ids"))

    @cached_property
    def _target_ids(self) -> IdColumn:
        return IdColumn(self._table.column("target_ids"))

    def __getstate__(self) -> dict[str, Any]:
        """Without what is mapped into memory: a worker process maps it for itself."""
        mapped = ("_table", "_source_ids", "_target_ids")
        return {name: value for name, value in self.__dict__.items() if name not in mapped}
