"""Where files lie: those that ship with minitx, the Hydra tree and the toy corpus, and those it makes once and keeps.

A checkout keeps them at its top (configs/, data/toy_en_de/), a wheel inside the package (minitx/bundled/).
"""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def configs_directory() -> Path:
    """The Hydra tree with train.yaml at its top."""
    return _shipped("configs", in_checkout="configs")


def toy_corpus_directory() -> Path:
    """The toy English-German corpus, one plain text file for each split and language."""
    return _shipped("toy_en_de", in_checkout="data/toy_en_de")


def cache_directory() -> Path:
    """What is made once and kept: ``$MINITX_CACHE``, or else ``minitx`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    if own := os.environ.get("MINITX_CACHE"):
        return Path(own).expanduser().absolute()
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "minitx"


def _shipped(name: str, in_checkout: str) -> Path:
    for directory in (PACKAGE / "bundled" / name, PACKAGE.parent / in_checkout):
        if directory.is_dir():
            return directory
    raise FileNotFoundError(f"{in_checkout} is missing from {PACKAGE.parent}: install minitx again.")
