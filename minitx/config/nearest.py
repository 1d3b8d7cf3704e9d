"""The valid key or option that a mistyped one most likely stands for."""

from collections.abc import Iterable
from difflib import SequenceMatcher


def nearest(wrong: str, valid: Iterable[str]) -> str | None:
    """The most similar of `valid`, however far it is; None if there is none. Ties go to the first in the alphabet."""
    return max(sorted(valid), key=lambda candidate: SequenceMatcher(None, wrong, candidate).ratio(), default=None)


def listed(names: Iterable[str]) -> str:
    """Names in alphabetical order, for the end of a message."""
    return ", ".join(sorted(names))
