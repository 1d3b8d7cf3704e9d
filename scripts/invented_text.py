"""Parallel text of invented words, for measurements of time and memory that hang on amounts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

WORDS = 400_000
CHUNK = 50_000
LETTERS = {"en": "etaoinshrdlu", "de": "enirsatdhulö"}

Lengths = Callable[[np.random.Generator, int], np.ndarray]
"""Draws the lengths of so many sentences, in words."""


def news(generator: np.random.Generator, count: int) -> np.ndarray:
    """Lengths of news: 26 words on average."""
    return np.clip(generator.lognormal(3.1, 0.55, count), 2, 100).astype(int)


def all_of(words: int) -> Lengths:
    """Sentences that all have as many words."""
    return lambda generator, count: np.full(count, words)


def write_text(directory: Path, pairs: Mapping[str, int], lengths: Lengths = news) -> None:
    """Write ``train.en``, ``train.de``, …: words with the frequencies of a natural language (Zipf), from seed 0.

    Args:
        directory: is made.
        pairs: of each split.
        lengths: of source and target alike.
    """
    directory.mkdir(parents=True)
    generator = np.random.default_rng(0)
    words = {language: _invented(generator, letters) for language, letters in LETTERS.items()}
    for split, count in pairs.items():
        for start in range(0, count, CHUNK):
            drawn = lengths(generator, min(CHUNK, count - start))
            for language, vocabulary in words.items():
                ranks = generator.zipf(1.2, int(drawn.sum())) % WORDS
                lines = np.split(vocabulary[ranks], np.cumsum(drawn)[:-1])
                with open(directory / f"{split}.{language}", "a", encoding="utf-8") as file:
                    file.writelines(" ".join(line) + ".\n" for line in lines)


def _invented(generator: np.random.Generator, letters: str) -> np.ndarray:
    """Words of two to ten letters."""
    text = "".join(generator.choice(list(letters), 11 * WORDS))
    lengths = generator.integers(2, 11, WORDS)
    return np.array([text[11 * i : 11 * i + length] for i, length in enumerate(lengths)])
