"""What Weights & Biases keeps of a run, read back from the file that an offline run leaves."""

import csv
import json
import os
import subprocess
import sys

import pytest


def test_a_run_has_what_a_dashboard_groups_and_draws(tmp_path, wandb_records):
    # A process of its own: wandb reads the environment once for all runs of a process.
    overrides = ["trainer=smoke", "group=g", "attention@model.cross_attention=additive", "logger=wandb"]
    overrides += ["callbacks.attention_probe.every=10", f"run_directory={tmp_path}"]
    command = [sys.executable, "-m", "minitx.cli", "train", *overrides]
    done = subprocess.run(command, env=os.environ | {"WANDB_MODE": "offline"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [path] = (entry.parent for entry in tmp_path.glob("*/run.json"))
    with (path / "metrics.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    records = wandb_records(path)

    opened = next(record.run for record in records if record.HasField("run"))
    assert (opened.display_name, opened.run_group) == (path.name, "g")
    columns = {update.key: json.loads(update.value_json) for update in opened.config.update}
    assert (columns["variant"], columns["d_k"], columns["seed"]) == ("scaled, cross additive", 16, 1)
    assert columns["model"]["d_model"] == 32
    history = [
        {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        for record in records
        if record.HasField("history")
    ]
    shown = {"train_loss": "train_loss", "validation_bleu": "validation_bleu"}
    shown["scores/cross_attention/0/mean/entropy"] = "scores_entropy/cross_attention/0"
    for name, curve in shown.items():
        wanted = {int(row["step"]): float(row[name]) for row in rows if row[name]}
        found = {row["trainer/global_step"]: row[curve] for row in history if curve in row}
        assert found == pytest.approx(wanted, rel=1e-6), name
