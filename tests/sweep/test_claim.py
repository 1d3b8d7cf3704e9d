"""Who trains a configuration: locks of this machine, beats of others, and what is left of the dead."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minitx.errors import UserError
from minitx.sweep import claim
from minitx.sweep.claim import claimed, holder_of

KEY = "0123abcd"


def test_one_holds_a_configuration_and_others_are_told_who(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with claimed(runs, KEY) as first:
        assert first is None
        with claimed(runs, KEY) as second:
            assert second.startswith(f"process {os.getpid()} on ")
        assert holder_of(runs, KEY) == second
        with claimed(runs, "ffffffff") as other:
            assert other is None
    assert holder_of(runs, KEY) is None
    with claimed(runs, KEY) as again:
        assert again is None
    assert not runs.exists()


def test_nothing_is_removed_that_was_there_before_or_came_between(tmp_path: Path) -> None:
    with claimed(tmp_path, KEY):
        pass
    assert tmp_path.exists()
    with claimed(tmp_path / "runs", KEY):
        (tmp_path / "runs" / "run").mkdir()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["run"]


def test_an_error_frees_the_claim(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), claimed(tmp_path, KEY):
        raise ZeroDivisionError
    assert holder_of(tmp_path, KEY) is None


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time; from minitx.sweep.claim import claimed\n"
        f"with claimed(pathlib.Path({str(tmp_path)!r}), {KEY!r}): print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    assert holder_of(tmp_path, KEY).startswith(f"process {process.pid} on ")
    process.kill()
    process.wait()
    assert (tmp_path / ".running" / KEY).exists()
    assert holder_of(tmp_path, KEY) is None
    with claimed(tmp_path, KEY) as holder:
        assert holder is None


def test_a_process_of_another_machine_is_alive_while_it_beats(tmp_path: Path) -> None:
    file = tmp_path / ".running" / KEY
    file.parent.mkdir()
    file.write_text("4711 elsewhere\n")  # its lock is not seen here
    assert holder_of(tmp_path, KEY) == "process 4711 on elsewhere"
    with claimed(tmp_path, KEY) as holder:
        assert holder == "process 4711 on elsewhere"
    assert file.read_text() == "4711 elsewhere\n"
    long_ago = time.time() - claim.SECONDS_WITHOUT_A_BEAT - 1
    os.utime(file, (long_ago, long_ago))
    assert holder_of(tmp_path, KEY) is None
    with claimed(tmp_path, KEY) as holder:
        assert holder is None


def test_a_claim_beats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim, "SECONDS_BETWEEN_BEATS", 0.01)
    with claimed(tmp_path, KEY):
        file = tmp_path / ".running" / KEY
        os.utime(file, (0, 0))
        deadline = time.monotonic() + 30
        while file.stat().st_mtime < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert file.stat().st_mtime > 1


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(UserError, match="choose another place with run_directory=DIR"), claimed(tmp_path / "runs", KEY):
        pass
