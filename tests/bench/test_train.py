"""`minitx bench train`: the steps of training, and what is made of them."""

import csv
import json
import os
import signal

import pytest

from minitx import cli
from minitx.bench import train as bench_train
from minitx.bench.operator_shares import OUTSIDE
from minitx.bench.step_timer import PHASES, Step, StepTimer
from minitx.bench.train import figures
from minitx.config import compose
from minitx.resources import toy_corpus_directory
from minitx.train import train


@pytest.fixture(scope="module")
def overrides(tmp_path_factory):
    """A very small model on the first pairs of the toy corpus."""
    directory = tmp_path_factory.mktemp("corpus")
    for split in ("train", "val", "test"):
        for language in ("en", "de"):
            lines = (toy_corpus_directory() / f"{split}.{language}").read_text(encoding="utf-8").splitlines(True)
            (directory / f"{split}.{language}").write_text("".join(lines[:120]), encoding="utf-8")
    data = ["data=text_files", f"data.path={directory}", "data.source_language=en", "data.target_language=de"]
    return [*data, "data.vocab_size=400", "data.batch_tokens=256", "trainer=smoke", "logger=none"]


@pytest.fixture
def bench(tmp_path, overrides, capsys, monkeypatch):
    """`bench(…)`: the record, and what was shown."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, status: int = 0):
        assert cli.main(["bench", "train", "--json", "line.jsonl", *arguments, *overrides]) == status
        shown = capsys.readouterr()
        return json.loads((tmp_path / "line.jsonl").read_text() or "null"), shown.out + shown.err

    return run


def test_the_record(bench, tmp_path) -> None:
    record, shown = bench("--steps", "4", "--warmup", "1")
    assert (record["benchmark"], record["steps"], record["warmup"], record["dtype"]) == ("train", 4, 1, "32-true")
    assert record["device_name"]
    assert record["step_seconds_lower"] <= record["step_seconds"] <= record["step_seconds_upper"]
    assert sum(record["share_of_time"].values()) == pytest.approx(1.0)
    assert list(record["share_of_time"]) == list(PHASES)
    assert min(record["share_of_time"].values()) > 0
    assert 0.5 < record["filled"] <= 1.0
    assert record["tokens_per_step"] <= 2 * 256
    assert record["flops_per_second"] == pytest.approx(record["flops_per_token"] * record["tokens_per_second"])
    assert record["share_of_product_rate"] == pytest.approx(record["flops_per_second"] / record["product_rate"])
    assert record["peak_memory_bytes"]["host"] > 10**7
    assert "data.vocab_size=400" in record["overrides"]
    for words in ("a step", "tokens a second", "time goes to", "fp32 matrix product", "4 steps after 1 of warm-up"):
        assert words in shown
    assert [path.name for path in tmp_path.iterdir()] == ["line.jsonl"]  # no run directory, no checkpoint


def test_operations_are_profiled_after_the_steps_that_are_measured(bench) -> None:
    record, shown = bench("--steps", "3", "--warmup", "1", "--profile", "2")
    assert record["steps"] == 3
    found = record["share_by_operation"]
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["matrix products"] > 0.02
    assert found[OUTSIDE] > 0
    assert "under the profiler" in shown


def test_the_steps_are_those_of_training(bench, overrides, tmp_path, monkeypatch) -> None:
    seen = []

    class Listener(StepTimer):
        def on_train_batch_end(self, trainer, module, *others) -> None:
            super().on_train_batch_end(trainer, module, *others)
            if module.finished_step:
                seen.append(module.finished_step.train_loss)

    settings = ["training.accumulate_batches=2", "model.dropout=0.1", "attention=cosine"]
    monkeypatch.setattr(bench_train, "StepTimer", Listener)
    record, _ = bench("--steps", "5", "--warmup", "1", *settings)
    train(compose([*overrides, *settings, "training.max_steps=6", "training.log_every=1", "training.validate_every=6"]))
    [metrics] = (tmp_path / "runs").glob("*/metrics.csv")
    with metrics.open(newline="", encoding="utf-8") as file:
        trained = [float(row["train_loss"]) for row in csv.DictReader(file)]
    assert seen == pytest.approx(trained, rel=1e-6)
    assert record["steps"] == 5
    assert len(seen) == 6


def test_interrupted_it_shows_the_steps_so_far(bench, monkeypatch) -> None:
    class Impatient(StepTimer):
        def on_train_batch_start(self, *others) -> None:
            super().on_train_batch_start(*others)
            if len(self._batches) == 3:
                os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(bench_train, "StepTimer", Impatient)
    record, shown = bench("--steps", "50", "--warmup", "1", status=130)
    assert record["steps"] == 3
    assert "interrupted" in shown
    assert signal.getsignal(signal.SIGINT) is before


def test_figures_of_known_steps() -> None:
    phases = dict.fromkeys(PHASES, 0.25)
    steps = [Step({**phases, "forward": seconds - 0.75}, 4, 30, 50, 100) for seconds in (1.0, 2.0, 5.0)]
    found = figures(steps, flops_of_token=10.0, rate=600.0)
    assert (found["step_seconds_lower"], found["step_seconds"], found["step_seconds_upper"]) == (1.5, 2.0, 3.5)
    assert found["tokens_per_second"] == 3 * 80 / 8.0
    assert (found["pairs_per_step"], found["tokens_per_step"], found["target_tokens_per_step"]) == (4.0, 80.0, 50.0)
    assert found["filled"] == 0.8
    assert found["share_of_time"] == pytest.approx(
        {"data": 3 / 32, "forward": 23 / 32, "backward": 3 / 32, "update": 3 / 32}
    )
    assert (found["flops_per_second"], found["share_of_product_rate"]) == (300.0, 0.5)


def test_a_step_is_the_sum_of_its_batches() -> None:
    class Ticking:
        def mark(self) -> None: ...

        def laps(self) -> list[float]:
            return [1.0, 2.0, 3.0, 4.0] * 3

    timer = StepTimer()
    timer.clock = Ticking()
    timer._batches = [(1, 3, 4, 10, False), (2, 5, 6, 20, True), (3, 7, 8, 30, False)]  # the last step is not complete
    [step] = timer.steps()
    assert step == Step({"data": 2.0, "forward": 4.0, "backward": 6.0, "update": 8.0}, 3, 8, 10, 30)
    assert (step.total_seconds, step.tokens) == (20.0, 18)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--steps", "none"], "argument --steps: none is no whole number of at least 1"),
        (["--step", "3"], "has no option --step"),
        (["--profile", "-1"], "argument --profile: -1 is no whole number of at least 0"),
        (["modle=tiny"], "modle"),
        (["attention=scald"], "scald"),
        (["trainer.devices=2", "trainer.strategy=ddp"], "one process"),
        (["--json", "no/such/directory/line.jsonl"], "cannot be written"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(
    arguments: list[str], words: str, overrides, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["bench", "train", *arguments, *overrides]) == 2
    shown = capsys.readouterr().err
    assert words in shown
    assert shown.count("minitx: ") == 1
