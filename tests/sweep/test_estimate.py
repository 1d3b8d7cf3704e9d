"""Parameters and operations before any training, against a built model and a measured run."""

import json
from pathlib import Path

import pytest
from hydra.utils import instantiate

from minitx.config import compose
from minitx.models.transformer import parameter_counts
from minitx.sweep.estimate import Estimator
from minitx.train import train


@pytest.mark.parametrize("attention", ["scaled", "additive", "bilinear", "cosine"])
def test_parameters_are_those_of_the_model(attention: str) -> None:
    config = compose(["trainer=smoke", f"attention={attention}", "model.d_k=24", "data.vocab_size=777"])
    model = instantiate(config.model, vocab_size=777, pad_id=0, seed=1)
    assert Estimator()(config).parameters == parameter_counts(model)["total"]


def test_a_variant_that_looks_at_numbers_is_built_with_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "looks.py").write_text(
        "import torch\n"
        "class Looks(torch.nn.Module):\n"
        "    def __init__(self, *, d_k, num_heads):\n"
        "        super().__init__()\n"
        "        assert torch.ones(3).sum().item() == 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    plain, looks = compose(["trainer=smoke"]), compose(["trainer=smoke", "attention._target_=looks.Looks"])
    assert Estimator()(looks) == Estimator()(plain)


def test_operations_are_about_those_of_the_run(smoke: list[str], tmp_path: Path) -> None:
    config = compose([*smoke, "training.max_steps=8", "model.d_model=64", "data.batch_tokens=256"])
    train(config)
    [path] = (tmp_path / "runs").iterdir()
    flops = json.loads((path / "summary.json").read_text())["flops"]
    # Full batches are assumed, and attention's own products are left out.
    assert flops / 1.5 < Estimator()(config).flops < flops * 1.5


def test_operations_follow_the_budgets() -> None:
    def flops(*overrides: str) -> float | None:
        return Estimator()(compose(["trainer=smoke", "training.max_steps=null", *overrides])).flops

    steps = flops("training.max_steps=10", "data.batch_tokens=100")
    assert flops("training.max_steps=20", "data.batch_tokens=100") == pytest.approx(2 * steps)
    assert flops("training.max_steps=5", "data.batch_tokens=100", "training.accumulate_batches=2") == steps
    # Ten full batches of a hundred tokens on either side.
    assert flops("training.max_tokens=2000") == pytest.approx(steps)
    assert flops("training.max_tokens=2000", "training.max_flops=1e6") == 1e6
    assert flops("training.max_epochs=2") is None
    assert flops("training.max_seconds=2") is None
