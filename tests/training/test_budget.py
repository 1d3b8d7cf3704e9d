"""When a run ends: the arithmetic of its budgets. Whole runs that end by them are in tests/test_train.py."""

from types import SimpleNamespace
from unittest.mock import Mock

import lightning.pytorch as pl
import pytest

from minitx.training.budget import Budget, planned_steps
from minitx.training.recorder import Recorder

NONE = dict.fromkeys(["max_steps", "max_epochs", "max_tokens", "max_flops", "max_seconds"])


def steps_until_the_end(limits, tokens=100, seconds=0.5, accumulate=1, epoch=8, world_size=1, others_stop=False):
    """After how many steps a run of equal steps ends, and by what; `epoch` steps make an epoch."""
    recorder = Recorder(None, None, log_every=1, translate=lambda trainer, model: {})
    totals = recorder.totals
    budget = Budget(recorder, NONE | limits, flops_per_token=10.0)
    trainer = Mock(spec=pl.Trainer, should_stop=False, world_size=world_size)
    trainer.strategy.reduce_boolean_decision = lambda mine, all: mine or others_stop
    for batch in range(1, 1000):
        whole = batch % accumulate == 0
        if whole:
            totals["step"] += 1
            totals["tokens"] += tokens
            totals["training_seconds"] += seconds
        trainer.current_epoch = (batch - 1) // (epoch * accumulate)
        trainer.is_last_batch = batch % (epoch * accumulate) == 0
        module = SimpleNamespace(finished_step=object() if whole else None)
        budget.on_train_batch_end(trainer, module, None, None, batch)
        if trainer.should_stop:
            return totals["step"], budget.ended_by
    return None, budget.ended_by


@pytest.mark.parametrize(
    ("limits", "end"),
    [
        ({"max_steps": 7}, (7, "max_steps")),
        ({"max_epochs": 2}, (16, "max_epochs")),
        ({"max_tokens": 700}, (7, "max_tokens")),
        ({"max_tokens": 701}, (8, "max_tokens")),
        ({"max_flops": 2500.0}, (3, "max_flops")),
        ({"max_seconds": 2.4}, (5, "max_seconds")),
        ({"max_steps": 50, "max_tokens": 900, "max_seconds": 9.0}, (9, "max_tokens")),
        ({}, (None, "early_stopping")),
    ],
)
def test_the_first_budget_that_is_spent_ends_the_run_after_its_step(limits, end):
    assert steps_until_the_end(limits) == end
    assert steps_until_the_end(limits, accumulate=3) == end


def test_processes_stop_at_one_step_though_their_clocks_differ():
    assert steps_until_the_end({"max_seconds": 100.0}, world_size=2, others_stop=True) == (1, "max_seconds")
    assert steps_until_the_end({"max_seconds": 1.0}, world_size=2) == (2, "max_seconds")


@pytest.mark.parametrize(
    ("limits", "steps"),
    [
        ({"max_steps": 70}, 70),
        ({"max_epochs": 2}, 40),
        ({"max_tokens": 4000}, 10),  # 8,000 tokens in 20 steps: 400 a step
        ({"max_flops": 60_000.0}, 15),
        ({"max_steps": 70, "max_epochs": 2, "max_tokens": 4000, "max_seconds": 1.0}, 10),
        ({"max_tokens": 1}, 1),
        ({"max_seconds": 1.0}, None),
    ],
)
def test_planned_steps(limits, steps):
    assert planned_steps(NONE | limits, steps_per_epoch=20, tokens_per_epoch=8000, flops_per_token=10.0) == steps
