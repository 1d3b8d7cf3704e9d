"""scripts/gpu_ablation.sh: its own logic with a stand-in for minitx, and two real sweeps on the processor."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = """#!/usr/bin/env bash
echo "$*" >>"$CALLS"
[[ "$*" != *"${FAILS:-nothing}"* ]] || { echo "one of 60 jobs failed" >&2; exit 1; }
"""


def ablation(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(ROOT / "scripts/gpu_ablation.sh"), *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | variables
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd)


def test_the_report_follows_a_sweep_in_which_a_job_fails(tmp_path: Path) -> None:
    stand_in, calls = tmp_path / "minitx", tmp_path / "calls"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    done = ablation(cwd=tmp_path, MINITX=str(stand_in), CALLS=str(calls), FAILS="experiment=ablation", JOBS="5")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "not whole: ablation(status 1)"
    sweep, report = calls.read_text().splitlines()
    assert sweep.startswith("train -m experiment=ablation trainer=gpu run_directory=gpu_ablation/runs ")
    assert sweep.endswith("hydra/launcher=joblib hydra.launcher.n_jobs=5")
    assert report == "report gpu_ablation/runs --out gpu_ablation/runs_report"


def test_with_a_corpus_its_ablation_follows(tmp_path: Path) -> None:
    stand_in, calls = tmp_path / "minitx", tmp_path / "calls"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    (tmp_path / "train.en.gz").touch()
    done = ablation(str(tmp_path), "out", cwd=tmp_path, MINITX=str(stand_in), CALLS=str(calls))
    assert done.returncode == 0, done.stderr
    lines = calls.read_text().splitlines()
    assert [line.split(" trainer")[0] for line in lines[::2]] == [
        "train -m experiment=ablation",
        "train -m experiment=ablation_multi30k",
    ]
    assert f"data.path={tmp_path}" in lines[2]
    refused = ablation(str(tmp_path / "elsewhere"), cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (1, f"{tmp_path}/elsewhere holds no train.en or train.en.gz.\n")


def test_six_runs_and_their_report_on_the_processor(tmp_path: Path) -> None:
    command = f"{sys.executable} -m minitx.cli"
    done = ablation(cwd=tmp_path, MINITX=command, DEVICE="cpu", QUICK="1", JOBS="2")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "gpu_ablation"
    assert len(list((out / "runs").glob("*/summary.json"))) == 3 * 2
    page = (out / "runs_report/report.md").read_text()
    assert all(variant in page for variant in ("scaled", "unscaled", "additive"))
