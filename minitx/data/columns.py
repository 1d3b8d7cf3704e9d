"""Single rows out of the columns of a memory-mapped Arrow file, without a copy of more than the row."""

from __future__ import annotations

import bisect
from itertools import accumulate

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class IdColumn:
    """A column of id lists; ``column[row]`` is a view of that row's ids, in about a microsecond."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._starts = _starts(column)
        self._offsets = [chunk.offsets.to_numpy() for chunk in column.chunks]
        self._values = [chunk.values.to_numpy() for chunk in column.chunks]

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        chunk = bisect.bisect_right(self._starts, row) - 1
        offsets, row = self._offsets[chunk], row - self._starts[chunk]
        ids: NDArray[np.int32] = self._values[chunk][offsets[row] : offsets[row + 1]]
        return ids


def _starts(column: pa.ChunkedArray) -> list[int]:
    """The row that each chunk begins with."""
    return list(accumulate((len(chunk) for chunk in column.chunks), initial=0))[:-1]
