"""Which pairs share a batch: about equally many tokens in each, little of it padding (§5.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Sampler

from minitx.errors import UserError

POOL_SIZE = 16_384
"""Pairs that are sorted by length together: the larger, the less padding and the less varied the batches' company."""


class TokenBatchSampler(Sampler[list[int]]):
    """Lists of indices whose padded rectangle holds at most ``batch_tokens`` ids on either side.

    With ``shuffle``, the pairs of an epoch are shuffled, cut into pools of about ``pool_size``, sorted inside each pool
    by target length and then by source length, up and down alternately, cut into batches, and the batches shuffled.
    The order is a pure function of (seed, epoch); no other generator is read or moved. Without ``shuffle`` all pairs
    form one pool and stay sorted, the same at each epoch.

    Of ``world_size`` processes each gets every ``world_size``-th batch: disjoint, together the epoch, equally many.
    Where the batches do not go round, the largest of the last few are halved until they do, and where even single
    pairs do not suffice, a rank gets an empty list in that place. The ranks' k-th batches together are thus the same
    pairs as ``world_size`` successive batches of a single process.

    Args:
        source_lengths: ids in each source sentence, EOS included.
        target_lengths: ids in each target sentence, EOS included.
        batch_tokens: rows times the longest sentence of either side, padding included.
        seed: of the order, with the epoch.
        shuffle: True for training, False for evaluation.
        pool_size: pairs in a pool.
        rank: which of the processes this is.
        world_size: how many processes share the epoch.

    Raises:
        UserError: ``batch_tokens`` is not positive or smaller than the longest sentence.
    """

    def __init__(
        self,
        source_lengths: NDArray[np.integer],
        target_lengths: NDArray[np.integer],
        batch_tokens: int,
        seed: int = 0,
        shuffle: bool = True,
        pool_size: int = POOL_SIZE,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self.source_lengths = np.asarray(source_lengths, dtype=np.int32)
        self.target_lengths = np.asarray(target_lengths, dtype=np.int32)
        self.longest = np.maximum(self.source_lengths, self.target_lengths)
        _check(self.longest, batch_tokens, pool_size)
        if not 0 <= rank < world_size:
            raise ValueError(f"rank {rank} is not below world_size {world_size}")
        self.batch_tokens, self.seed, self.shuffle, self.pool_size = batch_tokens, seed, shuffle, pool_size
        self.rank, self.world_size = rank, world_size
        self._epoch = self._first_batch = 0
        self._planned: tuple[int, list[NDArray[np.int64]]] | None = None

    def set_epoch(self, epoch: int, first_batch: int = 0) -> None:
        """Choose the epoch to iterate over, and how many of its batches to skip, as when a run is resumed inside it."""
        self._epoch, self._first_batch = epoch, first_batch

    def __len__(self) -> int:
        """Batches of the whole epoch on this rank, the skipped ones included."""
        return len(self._plan())

    def __iter__(self) -> Iterator[list[int]]:
        for batch in self._plan()[self._first_batch :]:
            yield batch.tolist()

    def _plan(self) -> list[NDArray[np.int64]]:
        epoch = self._epoch if self.shuffle else 0
        if self._planned is None or self._planned[0] != epoch:
            batches = _share(self._batches(epoch), self.world_size)
            self._planned = epoch, batches[self.rank :: self.world_size]
        return self._planned[1]

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        count = len(self.longest)
        if not self.shuffle:
            return self._cut(self._sorted(np.arange(count)))
        generator = np.random.Generator(np.random.PCG64([self.seed, epoch]))
        pools = np.array_split(generator.permutation(count), max(1, -(-count // self.pool_size)))
        batches = [batch for pool in pools for batch in self._cut(self._sorted(pool))]
        return [batches[position] for position in generator.permutation(len(batches))]

    def _sorted(self, pool: NDArray[np.int64]) -> NDArray[np.int64]:
        """By target length, then by source length: up for one target length, down for the next."""
        _, step = np.unique(self.target_lengths[pool], return_inverse=True)
        source = self.source_lengths[pool]
        return pool[np.lexsort((np.where(step % 2 == 0, source, -source), step))]

    def _cut(self, pool: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Successive batches, each as large as ``batch_tokens`` allows."""
        batches, start = [], 0
        longest = self.longest[pool]
        while start < len(pool):
            reach = longest[start : start + self.batch_tokens // int(longest[start])]
            tokens = np.arange(1, len(reach) + 1) * np.maximum.accumulate(reach)
            rows = int(np.searchsorted(tokens, self.batch_tokens, side="right"))
            batches.append(pool[start : start + rows])
            start += rows
        return batches


def _share(batches: list[NDArray[np.int64]], world_size: int) -> list[NDArray[np.int64]]:
    """Make the batches a multiple of ``world_size`` by halving the largest of the last, incomplete group."""
    complete = len(batches) - len(batches) % world_size
    group = batches[complete:]
    while 0 < len(group) < world_size:
        largest = max(range(len(group)), key=lambda position: len(group[position]))
        middle = -(-len(group[largest]) // 2)
        group.append(group[largest][middle:])
        group[largest] = group[largest][:middle]
    return batches[:complete] + group


def _check(longest: NDArray[np.int32], batch_tokens: int, pool_size: int) -> None:
    if batch_tokens < 1:
        raise UserError(f"data.batch_tokens={batch_tokens} must be a positive number of tokens.")
    if pool_size < 1:
        raise UserError(f"data.pool_size={pool_size} must be a positive number of pairs.")
    if len(longest) and longest.max() > batch_tokens:
        raise UserError(
            f"data.batch_tokens={batch_tokens} cannot hold the longest sentence, of {longest.max()} tokens: "
            "raise data.batch_tokens or lower data.max_length."
        )
