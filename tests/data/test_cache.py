"""Entries built whole, once, by whichever process comes first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from minitx.data.cache import MANIFEST, Cache
from minitx.errors import UserError
from minitx.resources import cache_directory

AT_ONCE = """
import sys, time
from pathlib import Path
from minitx.data.cache import Cache
def build(directory):
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    (directory / "data").write_text("0123")
    time.sleep(0.5)
    return {"answer": 42}
place, facts = Cache(sys.argv[1]).entry("kind", "key", build)
assert facts == {"answer": 42} and (place / "data").read_text() == "0123"
"""


class Builder:
    """Counts how often it was called."""

    def __init__(self, content: str = "0123") -> None:
        self.content, self.calls = content, 0

    def __call__(self, directory: Path) -> dict[str, object]:
        self.calls += 1
        (directory / "data").write_text(self.content)
        return {"call": self.calls}


def test_built_once(tmp_path: Path) -> None:
    build = Builder()
    place, facts = Cache(tmp_path).entry("kind", "key", build)
    assert Cache(tmp_path).entry("kind", "key", build) == (place, facts)
    assert build.calls == 1
    assert (place / "data").read_text() == "0123"
    Cache(tmp_path).entry("kind", "other", build)
    assert build.calls == 2


@pytest.mark.parametrize("damage", ["truncated", "lost", "no manifest", "manifest cut", "manifest of another kind"])
def test_a_damaged_entry_is_built_again(tmp_path: Path, damage: str) -> None:
    build = Builder()
    place, _ = Cache(tmp_path).entry("kind", "key", build)
    manifest = place / MANIFEST
    match damage:
        case "truncated":
            (place / "data").write_text("01")
        case "lost":
            (place / "data").unlink()
        case "no manifest":
            manifest.unlink()
        case "manifest cut":
            manifest.write_bytes(manifest.read_bytes()[:-3])
        case "manifest of another kind":
            manifest.write_text(json.dumps([1, 2]))
    assert Cache(tmp_path).entry("kind", "key", build) == (place, {"call": 2})
    assert (place / "data").read_text() == "0123"


def test_a_failed_or_killed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(directory: Path) -> dict[str, object]:
        (directory / "data").write_text("half")
        raise UserError("the text is at fault")

    with pytest.raises(UserError, match="the text is at fault"):
        Cache(tmp_path).entry("kind", "key", fail)
    assert not [path for path in (tmp_path / "kind").iterdir() if path.is_dir()]
    killed = tmp_path / "kind" / "key.unfinished"
    killed.mkdir()
    (killed / "more").write_text("of a killed process")
    place, _ = Cache(tmp_path).entry("kind", "key", Builder())
    assert {path.name for path in place.iterdir()} == {"data", MANIFEST}
    assert not killed.exists()


def test_two_processes_at_once_build_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_ONCE, str(tmp_path / "cache"), str(tmp_path / "log")]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert (tmp_path / "log").read_text() == "built\n"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"Cannot write the cache .*data\.cache_directory"):
        Cache(tmp_path / "file" / "below").entry("kind", "key", Builder())


def test_where_entries_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_directory() == tmp_path / ".cache/minitx"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg/minitx"
    monkeypatch.setenv("MINITX_CACHE", str(tmp_path / "own"))
    assert cache_directory() == tmp_path / "own"
    assert Cache("~/mine").directory == Path(os.environ["HOME"]) / "mine"
