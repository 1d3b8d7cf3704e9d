"""Whole runs on a CPU: what a run directory holds, and what decides its numbers."""

import csv
import json
import os
import re
import signal

import pytest
import torch
import wandb
from sacrebleu.metrics import BLEU
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from minitx.config import compose
from minitx.errors import UserError
from minitx.evaluation import evaluate_split
from minitx.loading import load_run
from minitx.nn.low_precision import LowPrecisionLinear
from minitx.resources import toy_corpus_directory
from minitx.train import train
from minitx.training.interruption import Interrupted
from minitx.training.recorder import Recorder

PAIRS = {"train": 400, "val": 20, "test": 40}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The overrides that name a corpus of the first pairs of the toy corpus."""
    directory = tmp_path_factory.mktemp("corpus")
    for split, count in PAIRS.items():
        for language in ("en", "de"):
            lines = (toy_corpus_directory() / f"{split}.{language}").read_text(encoding="utf-8").splitlines(True)
            (directory / f"{split}.{language}").write_text("".join(lines[:count]), encoding="utf-8")
    return ["data=text_files", f"data.path={directory}", "data.source_language=en", "data.target_language=de",
            "data.vocab_size=400", "data.batch_tokens=1024"]  # fmt: skip


@pytest.fixture
def run(tmp_path, corpus):
    """`run(overrides…)`: the run directory of a finished run, its configuration that of the smoke test."""

    def go(*overrides, logger="none"):
        fixed = ["trainer=smoke", f"run_directory={tmp_path / 'runs'}", f"logger={logger}"]
        train(compose([*corpus, *fixed, *overrides]))
        return newest(tmp_path)

    return go


def newest(tmp_path):
    return max((tmp_path / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def read(path, name):
    return json.loads((path / name).read_text(encoding="utf-8"))


def rows(path):
    with (path / "metrics.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def losses(path):
    figures = [(row["step"], row["train_loss"], row["validation_loss"]) for row in rows(path)]
    return [figure for figure in figures if any(figure[1:])]  # the attention probe has rows of its own


def test_w2_a_run_without_key_terminal_or_network_keeps_everything(run, capfd, monkeypatch):
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.setenv("NETRC", os.devnull)
    path = run("group=g", "tags=[a,b]", logger="default")
    record, summary = read(path, "run.json"), read(path, "summary.json")
    assert (record["status"], record["seed"], record["group"], record["tags"]) == ("finished", 1, "g", ["a", "b"])
    assert record["config"]["model"]["cross_attention"]["_target_"] == "minitx.nn.compatibility.ScaledDotProduct"
    assert record["parameters"]["total"] == sum(n for part, n in record["parameters"].items() if part != "total")
    assert record["flush_denormal"] is True
    assert [row["step"] for row in rows(path)] == ["1", "5", "10", "15", "20"]
    hypotheses, references = (
        (path / "translations" / f"test.{side}.txt").read_text(encoding="utf-8").split("\n")[:-1]
        for side in ("hyp", "ref")
    )
    assert len(references) == PAIRS["test"]
    assert summary["test"]["test"]["bleu"] == pytest.approx(
        BLEU().corpus_score(hypotheses, [references]).score, abs=1e-4
    )
    assert summary["flops"] == pytest.approx(record["flops_per_token"] * summary["tokens"])
    final = torch.load(path / "checkpoints" / "final.ckpt", weights_only=True)
    assert (final["step"], len(final["averaged"])) == (20, 2)
    for checkpoint in (path / "checkpoints").glob("*.ckpt"):
        torch.load(checkpoint, weights_only=True)
    assert_dashboards_agree(path)
    printed = capfd.readouterr().err
    [command] = re.findall(r"upload it with: (.*)", printed)
    assert command == f"wandb sync {next((path / 'wandb').glob('offline-run-*'))}"
    assert "step 20/20" in printed
    assert "WARNING" not in printed


def assert_dashboards_agree(path):
    events = EventAccumulator(str(path / "tensorboard"))
    events.Reload()
    for name in ("train_loss", "learning_rate", "validation_bleu"):
        wanted = {int(row["step"]): float(row[name]) for row in rows(path) if row[name]}
        assert {event.step: event.value for event in events.Scalars(name)} == pytest.approx(wanted, rel=1e-6)


def test_a_seed_decides_a_run_and_nothing_else_does(run):
    first = run()
    assert losses(run()) == losses(first)
    # Validation in between moves neither dropout nor the order of batches.
    often = {row["step"]: row["train_loss"] for row in rows(run("training.validate_every=1"))}
    for step, loss, _ in losses(first):
        assert often[step] == loss
    assert losses(run("seed=2")) != losses(first)


@pytest.mark.parametrize("attention", ["scaled", "additive"])
def test_the_attention_probe_changes_no_loss(run, attention):
    without = run("callbacks=none", f"attention={attention}")
    probed = run("callbacks.attention_probe.every=3", f"attention={attention}")
    assert losses(probed) == losses(without)
    assert not [name for name in rows(without)[0] if "/" in name]
    looked_at = [int(row["step"]) for row in rows(probed) if row["scores/cross_attention/0/mean/entropy"]]
    assert looked_at == [1, 3, 6, 9, 12, 15, 18, 20]
    assert all(float(row["seconds"]) > 0 for row in rows(probed))


def test_o3_early_stopping_under_a_warm_up_schedule(run):
    # At this rate no weight moves, so no validation is better than the first.
    frozen = ["schedule.peak_learning_rate=1e-30", "schedule.warmup_steps=10", "training.validate_every=2"]
    path = run(*frozen, "training.patience=3", "training.max_steps=100")
    assert read(path, "summary.json")["steps"] == 2 * (1 + 3)


def test_a_run_may_be_measured_in_epochs(run):
    path = run("training.max_steps=null", "training.max_epochs=2", "training.validate_every=3", "training.log_every=1")
    steps = read(path, "summary.json")["steps"]
    assert rows(path)[-1]["epoch"] == "2.0"
    assert rows(path)[-1]["step"] == str(steps)
    with pytest.raises(UserError, match=r"give training\.max_steps"):
        raise_plainly(lambda: run("training.max_steps=null", "training.max_epochs=2", "schedule=cosine"))


def raise_plainly(act):
    try:
        act()
    except Exception as error:
        raise (error.__cause__ if isinstance(error.__cause__, UserError) else error) from error


def test_r8_a_signal_ends_the_run_after_its_step_with_a_checkpoint(run, tmp_path, monkeypatch):
    count = Recorder.on_train_batch_end

    def count_and_signal(self, *arguments):
        count(self, *arguments)
        if self.totals["step"] == 7:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Recorder, "on_train_batch_end", count_and_signal)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interrupted) as caught:
        run()
    assert caught.value.signal_number == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before
    path = newest(tmp_path)
    assert read(path, "run.json")["status"] == "interrupted"
    assert torch.load(path / "checkpoints" / "last.ckpt", weights_only=True)["global_step"] == 7
    assert [row["step"] for row in rows(path)] == ["1", "5"]


DIVERGE = ["schedule=constant", "schedule.peak_learning_rate=1e30", "schedule.warmup_steps=0"]


def test_n3_divergence_ends_the_run_as_failed_and_names_step_and_pairs(run, tmp_path):
    with pytest.raises(UserError, match=r"loss at step \d+ is not a finite number .*on_non_finite=record") as caught:
        run(*DIVERGE)
    record = read(newest(tmp_path), "run.json")
    assert record["status"] == "failed"
    assert record["non_finite_loss"]["batch_ids"]
    score = record["non_finite_loss"]["largest_score"]
    assert f"at {score['site']}, layer {score['layer']}, head {score['head']}" in str(caught.value)


def test_n3_divergence_may_be_recorded_as_a_result(run):
    path = run(*DIVERGE, "training.on_non_finite=record")
    assert read(path, "run.json")["status"] == "diverged"
    assert read(path, "summary.json")["diverged_at_step"] == read(path, "run.json")["non_finite_loss"]["step"]


def test_a_mistake_in_the_data_leaves_no_run_directory(tmp_path):
    config = compose(["data=text_files", f"data.path={tmp_path}", "data.source_language=en", "data.target_language=de",
                      f"run_directory={tmp_path / 'runs'}"])  # fmt: skip
    with pytest.raises(UserError):
        train(config)
    assert not (tmp_path / "runs").exists()


def test_resume_is_refused_rather_than_ignored(tmp_path):
    config = compose([f"run_directory={tmp_path / 'runs'}", "resume=auto"])
    with pytest.raises(UserError, match=r"resume=auto.*cannot be resumed yet"):
        train(config)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("override", "key", "least"),
    [
        ("training.max_tokens=3000", "tokens", 3000),
        ("training.max_flops=3e8", "flops", 3e8),
        ("training.max_seconds=0.05", "training_seconds", 0.05),
        ("training.max_epochs=1", "steps", 1),
    ],
)
def test_a_budget_ends_a_run_which_is_validated_and_tested_at_its_last_step(run, override, key, least):
    path = run(override, "training.max_steps=null", "training.log_every=1")
    summary, record = read(path, "summary.json"), read(path, "run.json")
    assert summary["ended_by"] == override.partition("=")[0].removeprefix("training.")
    assert summary[key] >= least
    assert summary["final"]["step"] == summary["steps"] == int(rows(path)[-1]["step"])
    assert torch.load(path / "checkpoints" / "final.ckpt", weights_only=True)["step"] == summary["steps"]
    if key in ("tokens", "flops"):  # the step before had not spent it
        before = float(rows(path)[-2]["tokens"]) * (record["flops_per_token"] if key == "flops" else 1)
        assert before < least


def test_the_last_step_is_validated_wherever_it_falls(run):
    path = run("training.max_steps=13")
    assert [row["step"] for row in rows(path) if row["validation_loss"]] == ["10", "13"]
    assert read(path, "summary.json")["ended_by"] == "max_steps"


def test_products_in_bfloat16_round_what_trains_and_not_what_is_reported(run):
    low, plain = "trainer.precision=bf16-products", "training.loss=plain"
    full, projected, low, low_plain = (
        run("model.dropout=0.0", *changes) for changes in ([plain], [], [low], [low, plain])
    )
    assert [read(path, "run.json")["precision"] for path in (full, low)] == ["32-true", "bf16-products"]

    def figures(path, name):
        return [float(row[name]) for row in rows(path) if row[name]]

    # bfloat16 keeps 8 bits of a factor; both forms of the loss lose about as much.
    assert figures(projected, "train_loss") == pytest.approx(figures(full, "train_loss"), rel=1e-5)
    for path in (low, low_plain):
        assert figures(path, "train_loss") == pytest.approx(figures(full, "train_loss"), rel=2e-3)
        assert figures(path, "train_loss") != figures(full, "train_loss")

    loaded, reported = load_run(low), read(low, "summary.json")["test"]["test"]
    assert not any(isinstance(module, LowPrecisionLinear) for module in loaded.model.modules())
    scores, _ = evaluate_split(
        loaded.model,
        loaded.tokenizer,
        loaded.corpus().tests["test"],
        batch_tokens=1024,
        beam_size=1,
        length_penalty=0.6,
    )
    assert scores["loss"] == reported["loss"]


def test_validations_come_when_they_are_due_whatever_a_step_accumulates(run):
    """Batches of an epoch are no multiple of those of a step, and fewer than those of two."""
    path = run("training.accumulate_batches=5", "training.max_steps=12", "training.validate_every=3")
    assert [row["step"] for row in rows(path) if row["validation_loss"]] == ["3", "6", "9", "12"]


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("trainer.accelerator=gpu", "trainer.accelerator=gpu"),
        ("trainer.accelerator=tpu", "trainer.accelerator=tpu"),
        ("trainer.devices=[0,5]", r"trainer.devices=\[0, 5\]"),
        ("trainer.strategy=foo", "trainer.strategy=foo"),
        ("+logger.x._target_=os.system", "logger.x._target_=os.system"),
        ("+callbacks.x._target_=builtins.print", "callbacks.x._target_=builtins.print"),
        ("model._target_=builtins.dict", "model._target_=builtins.dict"),
        ("data.batch_tokens=1", "data.batch_tokens=1"),
        ("data.pool_size=0", "data.pool_size=0"),
    ],
)
def test_what_this_machine_or_program_has_not_is_named_before_a_run_directory_is_made(run, tmp_path, override, key):
    if "gpu" in override and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(UserError, match=key):
        run(override)
    assert not (tmp_path / "runs").exists()


def test_w2_a_key_that_is_refused_leaves_the_run_offline(run, capsys, monkeypatch):
    wandb.setup()  # as another run of this process leaves it, which was offline: wandb reads the environment once
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.setenv("WANDB_API_KEY", "bad")
    path = run(logger="wandb")
    assert read(path, "run.json")["status"] == "finished"
    assert list((path / "wandb").glob("offline-run-*"))
    assert "stays offline" in capsys.readouterr().err
