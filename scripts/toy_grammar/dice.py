"""Random choices that come out the same in every version of Python.

Only `random.Random.random` is drawn from: it alone is documented to repeat its sequence for a seed across versions.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Choices drawn from one seeded sequence."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely as the others."""
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: Mapping[Item, float]) -> Item:
        """One of the keys, as likely as its weight says."""
        left = self._random.random() * sum(weights.values())
        for item, weight in weights.items():
            left -= weight
            if left < 0:
                return item
        return item
