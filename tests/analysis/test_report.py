"""`minitx report` from the command line: files, repeats, mistakes, damaged directories, and what it does not import."""

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from minitx import cli
from minitx.analysis.report import write_report

PAGES = ("report.html", "report.md")


def contents(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file() and path.suffix != ".png")
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_page_markdown_csv_and_figures(write_sweep: Callable[..., Path], tmp_path: Path) -> None:
    runs, out = write_sweep(), tmp_path / "out"

    assert cli.main(["report", str(runs), "--out", str(out)]) == 0

    table = pd.read_csv(out / "runs.csv")
    assert len(table) == 12
    assert set(table["directory"]) == {str(run) for run in runs.iterdir()}
    assert table["steps_to_target"].isna().sum() == 3
    figures = {path.stem for path in (out / "figures").glob("*.svg")}
    assert figures == {path.stem for path in (out / "figures").glob("*.png")}
    assert {"curves_steps", "curves_seconds", "gap_d_k", "final_loss", "time_to_target", "scores_d_k"} <= figures
    for name in PAGES:
        page = (out / name).read_text()
        assert "&gt; 400" in page or "> 400" in page  # censored, not dropped
        assert all(figure in page for figure in figures)
        assert "nan" not in page.lower().replace("resonan", "")
    page = (out / "report.html").read_text()
    assert page.count("<svg ") == len(figures) + 2  # and the key, a line for each variant
    fetched = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not [
        word for word in ("http:", "https:", "<script", '<link rel="stylesheet', "@import", "src=") if word in fetched
    ]


def test_the_order_of_runs_changes_nothing(write_sweep: Callable[..., Path], tmp_path: Path) -> None:
    runs = [*write_sweep().iterdir()]
    shutil.copytree(runs[0], runs[0].with_name("copy"))
    runs.append(runs[0].with_name("copy"))
    shuffled = random.Random(4).sample(runs, len(runs))
    assert shuffled != runs

    one, other = (write_report(order, tmp_path / "out") for order in (runs, shuffled))

    assert contents(one) == contents(other)


def test_nothing_is_overwritten(write_run: Callable[..., Path], tmp_path: Path) -> None:
    run = write_run("a")

    made = [write_report([run], tmp_path / "report") for _ in range(3)]

    assert [path.name for path in made] == ["report", "report-2", "report-3"]


def test_damaged_directories_are_named_and_the_rest_is_reported(
    write_sweep: Callable[..., Path], write_run: Callable[..., Path], tmp_path: Path
) -> None:
    directory = write_sweep()
    for name, file, content in (
        ("no-description", "run.json", None),
        ("half", "run.json", '{"status": "runn'),
        ("no-metrics", "metrics.csv", None),
        ("empty-metrics", "metrics.csv", ""),
    ):
        path = write_run(name, "additive", seed=len(name), status="running") / file
        path.unlink() if content is None else path.write_text(content)
    write_run("gone-wrong", "additive", seed=1, losses=[(100, 9.0)], status="diverged", changes={"model.d_k": 256})
    write_run("failed", "additive", seed=2, losses=[], status="failed", changes={"model.d_k": 256})
    (directory / "gone-wrong/summary.json").write_text(json.dumps({"test": None, "peak_memory_bytes": 3}))

    out = write_report([directory], tmp_path / "out")

    left_out = pd.read_csv(out / "left_out.csv").set_index("directory")["reason"]
    assert dict(left_out) == {
        str(directory / "half"): "run.json is cut short or damaged",
        str(directory / "no-description"): "run.json is missing",
    }
    notes = pd.read_csv(out / "runs.csv").set_index("name")["notes"]
    assert notes["no-metrics"] == "metrics.csv is missing"
    assert notes["empty-metrics"] == "metrics.csv is empty"
    assert "additive diverged in 1 of 2 runs at d_k 256" in (out / "report.md").read_text()


def test_one_run_alone(write_run: Callable[..., Path], tmp_path: Path) -> None:
    out = write_report([write_run("only", status="running", losses=[(100, 3.0)])], tmp_path / "out")

    assert "no run has finished" in (out / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nowhere"], "There is no directory nowhere"),
        ([], "--help"),
        (["RUNS", "--reference", "cosine"], "--reference cosine: these runs hold scaled"),
        (["RUNS", "--target", "low"], "--target"),
        (["RUNS", "--out", "FILE/below"], "cannot be made"),
    ],
)
def test_mistakes(
    write_run: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    part: str,
) -> None:
    run = write_run("a")
    (tmp_path / "file").write_text("")
    places = {"RUNS": str(run.parent), "FILE/below": str(tmp_path / "file/below")}

    assert cli.main(["report", *(places.get(word, word) for word in arguments)]) == 2

    shown = capsys.readouterr().err
    assert part in shown
    assert shown.count("\n") == 1


def test_nothing_but_damaged_runs(
    write_run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    run = write_run("a")
    (run / "run.json").write_text("{")

    assert cli.main(["report", str(run), "--out", str(tmp_path / "out")]) == 2
    assert "None of 1 run directories can be read" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


WITHOUT_TORCH = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "lightning", "hydra", "omegaconf", "datasets", "tokenizers"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from minitx.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_torch_is_not_needed(write_run: Callable[..., Path], tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_TORCH, "report", str(write_run("a")), "--out", str(tmp_path / "out")]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/report.html").exists()
    assert done.stderr == ""


def test_a_report_becomes_an_artifact_of_a_run_of_its_own(
    write_sweep: Callable[..., Path], tmp_path: Path, wandb_records: Callable, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, out = write_sweep(), tmp_path / "my report"

    assert cli.main(["report", str(runs), "--out", str(out), "--wandb", "some-project"]) == 0

    [offline] = (tmp_path / "wandb").glob("offline-run-*")
    assert f"upload it with: wandb sync {offline}" in capsys.readouterr().out
    records = wandb_records(tmp_path)
    opened = next(record.run for record in records if record.HasField("run"))
    assert (opened.project, opened.display_name, opened.job_type) == ("some-project", "my report", "report")
    [kept] = [record.artifact for record in records if record.HasField("artifact")]
    assert (kept.name, kept.type) == ("my_report", "report")
    held = {entry.path for entry in kept.manifest.contents}
    assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == held
