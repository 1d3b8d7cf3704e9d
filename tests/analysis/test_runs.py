"""Run directories whole, damaged and absent."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from minitx.analysis.runs import Unreadable, find_runs, number, read_run
from minitx.errors import UserError


def test_a_whole_run(write_run: Callable[..., Path]) -> None:
    run = read_run(write_run("one", seed=3, losses=[(100, 4.0), (200, 2.5)]))

    assert (run.seed, run.status, run.notes) == (3, "finished", ())
    validations = run.validations
    assert list(validations["step"]) == [100, 200]
    assert list(validations["loss"]) == [4.0, 2.5]
    assert list(validations["tokens"]) == [10_000, 20_000]
    assert list(validations["seconds"]) == [50, 100]
    assert list(validations["flops"]) == [1e7, 2e7]


def test_runs_are_found_below_and_each_once(write_run: Callable[..., Path], tmp_path: Path) -> None:
    first, second = write_run("a"), write_run("deep/er/b")
    (tmp_path / "runs/.cache").mkdir()
    (tmp_path / "runs/.cache/run.json").write_text("{}")
    (first / "checkpoints/run.json").parent.mkdir()
    (first / "checkpoints/run.json").write_text("{}")
    (tmp_path / "link").symlink_to(second)

    assert find_runs([tmp_path / "runs"]) == [first, second]
    assert find_runs([second, tmp_path / "link", tmp_path / "runs", first]) == [first, second]


def test_no_run_is_a_mistake_that_names_the_place(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no directory .*nowhere"):
        find_runs([tmp_path / "nowhere"])
    with pytest.raises(UserError, match="no run directory in"):
        find_runs([tmp_path])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "run.json is missing"),
        ("", "cut short or damaged"),
        ('{"status": "finis', "cut short or damaged"),
        ("[]", "holds no object"),
        ('{"status": "finished", "seed": 1}', "no configuration"),
        ('{"status": "finished", "config": {}}', "no seed"),
    ],
)
def test_a_run_without_its_description(write_run: Callable[..., Path], content: str | None, reason: str) -> None:
    path = write_run("broken")
    (path / "run.json").unlink() if content is None else (path / "run.json").write_text(content)

    with pytest.raises(Unreadable, match=reason):
        read_run(path)


@pytest.mark.parametrize(
    ("content", "steps", "note"),
    [
        (None, [], "metrics.csv is missing"),
        ("", [], "metrics.csv is empty"),
        ("step,validation_loss\n", [], "metrics.csv is empty"),
        ("validation_loss\n3\n", [], "no column step"),
        # The last number may be the beginning of a longer one.
        ("step,validation_loss\n1,3.5\n2,2", [1], "last row of metrics.csv is cut short"),
        ("step,validation_loss\n1,3.5\n2\n", [1], None),
        ("step,validation_loss\n1,3.5\n2,1.5,7,8,9\n3,1\n", [1, 3], None),
        ("step,validation_loss\n1,3.5\nx,1\n3,oops\n4,nan\n5,inf\n6,1\n", [1, 6], None),
        ("step,validation_loss\n2,3\n1,4\n2,2\n", [1, 2], None),
        ("\x00\x01\x02\n", [], "no column step"),
    ],
)
def test_damaged_metrics(
    write_run: Callable[..., Path], content: str | None, steps: list[int], note: str | None
) -> None:
    path = write_run("damaged")
    (path / "metrics.csv").unlink() if content is None else (path / "metrics.csv").write_text(content)

    run = read_run(path)

    assert list(run.validations["step"]) == steps
    assert note is None or note in "; ".join(run.notes)


def test_a_repeated_step_counts_as_it_was_last(write_run: Callable[..., Path]) -> None:
    path = write_run("twice")
    (path / "metrics.csv").write_text("step,validation_loss\n1,3\n1,2\n")

    assert list(read_run(path).validations["loss"]) == [2.0]


def test_a_finished_run_without_its_summary_says_so(write_run: Callable[..., Path]) -> None:
    path = write_run("no-summary")
    (path / "summary.json").write_text('{"steps": 4')
    assert read_run(path).notes == ("summary.json is cut short or damaged",)
    assert read_run(path).summary == {}
    running = write_run("running", status="running")
    assert read_run(running).notes == ()


def test_an_unknown_status_counts_as_failed(write_run: Callable[..., Path]) -> None:
    path = write_run("odd", facts={"status": "sleeping"})

    assert read_run(path).status == "failed"
    assert "sleeping" in read_run(path).notes[0]


def test_translations(write_run: Callable[..., Path], references: list[str]) -> None:
    run = read_run(write_run("a", hypotheses=references[::-1]))
    assert run.translations("test") == (references[::-1], references)
    assert run.translations("other") is None
    (run.path / "translations/test.hyp.txt").write_text("one line\n")
    assert run.translations("test") is None
    (run.path / "translations/test.hyp.txt").write_bytes(b"\xff\n")
    assert run.translations("test") is None


def test_what_counts_as_a_number() -> None:
    assert [number(value) for value in (1, 2.5)] == [1.0, 2.5]
    assert all(math.isnan(number(value)) for value in (None, "3", True, json.loads("NaN"), float("inf"), [1]))
