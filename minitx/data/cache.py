"""Work done once: entries of files under a key, built whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock

from minitx.errors import UserError
from minitx.resources import cache_directory

MANIFEST = "manifest.json"


class Cache:
    """A directory of entries. Several processes may use it at once; an entry that is there is never changed.

    Args:
        directory: where entries are kept; None: ``$MINITX_CACHE``, or else ``minitx`` in ``$XDG_CACHE_HOME`` or
            ``~/.cache``.
    """

    def __init__(self, directory: str | Path | None = None) -> None:
        self.directory = cache_directory() if directory is None else Path(directory).expanduser().absolute()

    def entry(self, kind: str, key: str, build: Callable[[Path], dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
        """The directory of an entry and what `build` said of it, built now unless it is there.

        ``build`` writes files into the directory it is given and returns plain data. It runs under a lock, so that a
        second process waits and finds the entry made; what a killed process left is thrown away, and so is an entry
        with a file missing or of another size than it was written with.

        Raises:
            UserError: the cache cannot be written. What ``build`` raises comes through.
        """
        place = self.directory / kind / key
        facts = _intact(place)
        if facts is not None:
            return place, facts
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(place.with_name(f"{key}.lock")):
                facts = _intact(place)
                if facts is None:
                    facts = _build(place, build)
        except OSError as error:
            raise UserError(
                f"Cannot write the cache {error.filename or place}: {error.strerror or error}. "
                "Choose another place with data.cache_directory=… or the environment variable MINITX_CACHE."
            ) from error
        return place, facts


@cache
def code_version() -> str:
    """A hash of the modules that decide what an entry holds: a change in them makes older entries unused."""
    here = Path(__file__).parent
    modules = ("cache", "hub", "jsonl", "lines", "preparation", "sources", "tokenizer", "tsv")
    return hashlib.sha256(b"".join((here / f"{name}.py").read_bytes() for name in modules)).hexdigest()


def _intact(place: Path) -> dict[str, Any] | None:
    """What `build` said of the entry at ``place``, or None if there is none or it is damaged."""
    try:
        manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        sizes = {name: (place / name).stat().st_size for name in manifest["sizes"]}
        facts: dict[str, Any] = manifest["facts"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return facts if sizes == manifest["sizes"] else None


def _build(place: Path, build: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    unfinished = place.with_name(f"{place.name}.unfinished")
    for leftover in (unfinished, place):
        if leftover.exists():
            shutil.rmtree(leftover)
    unfinished.mkdir()
    try:
        facts = build(unfinished)
        sizes = {path.name: path.stat().st_size for path in unfinished.iterdir()}
        (unfinished / MANIFEST).write_text(json.dumps({"sizes": sizes, "facts": facts}), encoding="utf-8")
        unfinished.rename(place)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return facts
