"""Nothing is overwritten; each step has one row."""

import csv
import json

import pytest

from minitx.errors import UserError
from minitx.training.run_directory import MetricsFile, RunDirectory


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_h6_a_second_run_of_one_name_gets_a_numbered_sibling(tmp_path):
    made = [RunDirectory.create(tmp_path / "runs", "a").path.name for _ in range(3)]
    assert made == ["a", "a-2", "a-3"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="run_directory=DIR"):
        RunDirectory.create(tmp_path / "file", "a")


def test_json_changes_keep_what_they_do_not_name(tmp_path):
    run = RunDirectory.create(tmp_path, "a")
    run.write_json("run.json", {"status": "running", "name": "ä"})
    run.update_json("run.json", status="finished")
    assert json.loads((run.path / "run.json").read_text(encoding="utf-8")) == {"status": "finished", "name": "ä"}


def test_each_translation_stays_on_its_line(tmp_path):
    run = RunDirectory.create(tmp_path, "a")
    run.write_translations("test", hyp=["a\nb", "", "c\r"], ref=["x", "y", "z\u2028"])
    text = (run.path / "translations" / "test.hyp.txt").read_bytes().decode()
    assert text == "a b\n\nc \n"
    assert (run.path / "translations" / "test.ref.txt").read_bytes().decode() == "x\ny\nz\u2028\n"


def test_figures_of_one_step_share_a_row_and_new_columns_reach_old_rows(tmp_path):
    metrics = MetricsFile(tmp_path / "metrics.csv")
    metrics.add(1, {"loss": 3.0})
    metrics.add(2, {"loss": 2.0})
    metrics.add(2, {"bleu": 7.5})
    metrics.flush()
    metrics.flush()
    assert rows_of(metrics.path) == [
        {"step": "1", "loss": "3.0", "bleu": ""},
        {"step": "2", "loss": "2.0", "bleu": "7.5"},
    ]


def test_a_file_that_exists_is_gone_on_with(tmp_path):
    for step in (1, 2):
        metrics = MetricsFile(tmp_path / "metrics.csv")
        metrics.add(step, {"loss": step / 2})
        metrics.flush()
    assert [row["loss"] for row in rows_of(tmp_path / "metrics.csv")] == ["0.5", "1.0"]
