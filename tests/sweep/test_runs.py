"""Runs that are there already."""

import json
from pathlib import Path

from minitx.sweep.runs import done_run, find_runs, read_run


def write(path: Path, status: str | None, config_hash: str = "aaaaaaaa", **summary: float) -> Path:
    path.mkdir(parents=True)
    if status is not None:
        (path / "run.json").write_text(json.dumps({"status": status, "config_hash": config_hash}))
    if summary:
        (path / "summary.json").write_text(json.dumps(summary))
    return path


def test_runs_are_found_by_their_record_or_else_by_their_name(tmp_path: Path) -> None:
    write(tmp_path / "a", "finished", seconds=3.0)
    write(tmp_path / "toy-scaled-seed-1-aaaaaaaa-2", None)
    write(tmp_path / "renamed-aaaaaaaa", "failed", "bbbbbbbb")
    write(tmp_path / "no-run", None)
    (tmp_path / "notes.txt").write_text("aaaaaaaa")
    damaged = write(tmp_path / "x-cccccccc", "finished")
    (damaged / "run.json").write_text("{")

    found = {run.path.name: run.status for run in find_runs(tmp_path, "aaaaaaaa")}
    assert found == {"a": "finished", "toy-scaled-seed-1-aaaaaaaa-2": "started"}
    assert len(find_runs(tmp_path)) == 4
    assert read_run(tmp_path / "a").summary == {"seconds": 3.0}
    assert find_runs(tmp_path / "nowhere") == []


def test_a_finished_run_stands_for_its_configuration_before_a_diverged_one(tmp_path: Path) -> None:
    for status in ("failed", "interrupted", "running"):
        write(tmp_path / status, status)
    assert done_run(find_runs(tmp_path)) is None
    write(tmp_path / "a", "diverged")
    assert done_run(find_runs(tmp_path)).status == "diverged"
    write(tmp_path / "b", "finished")
    assert done_run(find_runs(tmp_path)).status == "finished"
