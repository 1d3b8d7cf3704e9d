"""scripts/gpu_bench.sh: its own logic with a stand-in for minitx, and every part of it once on the processor."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = """#!/usr/bin/env bash
echo "$*" >>"$CALLS"
case "$1 $2" in
    "bench train") [[ "$*" != *tf32* ]] || { echo "no such precision" >&2; exit 2; } ;;
    "train "*) for word; do [[ $word != run_directory=* ]] || mkdir -p "${word#*=}/run"; done ;;
esac
echo "table of $1 $2"
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    directory = tmp_path / "cor pus"
    directory.mkdir()
    for split in ("train", "val", "test_2016_flickr"):
        for language in ("en", "de"):
            lines = [f"{language} sentence {number} of {split} ." for number in range(40)]
            (directory / f"{split}.{language}").write_text("\n".join(lines) + "\n")
    return directory


def bench(corpus: Path, out: Path, minitx: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(ROOT / "scripts/gpu_bench.sh"), str(corpus), str(out)]
    environment = os.environ | {"MINITX": minitx, "OMP_NUM_THREADS": "1"} | variables
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=corpus.parent)


def test_a_part_that_fails_is_named_and_stops_no_other(corpus: Path, tmp_path: Path) -> None:
    stand_in, calls = tmp_path / "minitx", tmp_path / "calls"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    done = bench(corpus, tmp_path / "out", str(stand_in), CALLS=str(calls))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "not whole: train_tiny_tf32(status 2) train_base_tf32(status 2)"
    assert "no such precision" in done.stderr
    made = calls.read_text().splitlines()
    assert [line.split(" --")[0].split(" experiment")[0] for line in made] == [
        *["bench attention"] * 2,
        *["bench train"] * 8,
        "train",
        f"bench decode {tmp_path}/out/runs/run/",
    ]
    assert all("cuda" in line or "trainer=gpu" in line for line in made)
    assert done.stdout.count("table of") == 10
    again = bench(corpus, tmp_path / "out", str(stand_in), CALLS=str(calls))
    assert again.returncode == 1
    assert "exists already" in again.stderr


def test_a_corpus_that_is_not_there(tmp_path: Path) -> None:
    done = bench(tmp_path, tmp_path / "out", "minitx")
    assert (done.returncode, done.stderr) == (1, f"{tmp_path} holds no train.en or train.en.gz.\n")


def test_every_part_runs_on_the_processor(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = bench(corpus, out, f"{sys.executable} -m minitx.cli", DEVICE="cpu", QUICK="1")
    # TF32 is for GPUs alone: the one part that a processor cannot do, and says so.
    assert done.stderr.splitlines()[-1] == "not whole: train_tiny_tf32(status 2)", done.stderr
    assert "trainer.precision=tf32 is for NVIDIA GPUs" in (out / "train_tiny_tf32.log").read_text()
    assert json.loads((out / "train.jsonl").read_text())["dtype"] == "32-true"
    assert (out / "decode.jsonl").read_text().count("\n") == 2
    assert (out / "attention_float32.jsonl").stat().st_size
    assert list((out / "attention_float32").glob("*.png"))
    [run] = (out / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["status"] == "finished"
