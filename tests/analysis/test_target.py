"""The loss that runs are timed to, and own best learning rates."""

import math

import pandas as pd
import pytest

from minitx.analysis.target import at_own_best_rates, choose_target
from minitx.errors import UserError


def table(rows: list[tuple]) -> pd.DataFrame:
    """Rows of (variant, condition, seed, status, final loss)."""
    frame = pd.DataFrame(rows, columns=["variant", "condition", "seed", "status", "final_loss"])
    return frame.assign(last_loss=frame["final_loss"].fillna(9.0))


def test_the_worst_final_loss_of_the_best_behaved_variant() -> None:
    runs = table(
        [
            ("scaled", "d_k 16", 1, "finished", 1.0),
            ("scaled", "d_k 16", 2, "finished", 1.3),
            ("unscaled", "d_k 16", 1, "finished", 0.9),
            ("unscaled", "d_k 256", 1, "finished", 3.0),
            ("scaled", "d_k 256", 1, "finished", 1.4),
        ]
    )

    target = choose_target(runs, ("d_k",), None)

    assert target.loss == 1.4
    assert "scaled, the best-behaved variant" in target.rule


def test_a_variant_that_diverges_is_not_the_best_behaved() -> None:
    runs = table(
        [
            ("scaled", "all runs", 1, "finished", 2.0),
            ("unscaled", "all runs", 1, "finished", 1.0),
            ("unscaled", "all runs", 2, "diverged", math.nan),
        ]
    )

    assert choose_target(runs, (), None).loss == 2.0


def test_conditions_that_only_one_variant_saw_do_not_decide() -> None:
    runs = table(
        [
            ("scaled", "d_k 16", 1, "finished", 1.0),
            ("scaled", "d_k 256", 1, "finished", 5.0),
            ("additive", "d_k 16", 1, "finished", 2.0),
        ]
    )

    assert "worst final loss among the finished runs of scaled" in choose_target(runs, ("d_k",), None).rule


def test_each_variant_counts_at_its_own_best_rate() -> None:
    rows = [
        ("scaled", 0.1, 1, "finished", 7.0),
        ("scaled", 0.01, 1, "finished", 1.0),
        ("scaled", 0.01, 2, "finished", 1.2),
        ("unscaled", 0.1, 1, "finished", 0.5),
        ("unscaled", 0.1, 2, "diverged", math.nan),
        ("unscaled", 0.01, 1, "finished", 2.0),
    ]
    runs = table([(variant, f"lr {rate}", *rest) for variant, rate, *rest in rows]).assign(lr=[row[1] for row in rows])

    kept = at_own_best_rates(runs, ("lr",))

    assert list(zip(kept["variant"], kept["lr"], strict=True)) == [
        ("scaled", 0.01),
        ("scaled", 0.01),
        ("unscaled", 0.01),  # 0.1 is lower where it ends, but one of its runs diverged
    ]
    assert choose_target(runs, ("lr",), None).loss == 1.2


def test_a_default_rate_may_be_the_best() -> None:
    rows = [("scaled", None, 1, "finished", 1.0), ("scaled", 0.1, 1, "finished", 2.0)]
    runs = table([(variant, f"lr {rate}", *rest) for variant, rate, *rest in rows]).assign(lr=[row[1] for row in rows])

    assert list(at_own_best_rates(runs, ("lr",))["final_loss"]) == [1.0]


def test_while_nothing_has_finished_losses_so_far_are_taken() -> None:
    runs = table([("scaled", "all runs", 1, "running", math.nan)])

    assert choose_target(runs, (), None) == (9.0, choose_target(runs, (), None).rule)
    assert "no run has finished" in choose_target(runs, (), None).rule


def test_a_given_target_is_kept() -> None:
    assert choose_target(table([("scaled", "all runs", 1, "finished", 1.0)]), (), 2.5).loss == 2.5


def test_runs_without_any_validation_have_no_target() -> None:
    with pytest.raises(UserError, match="No run has been validated yet"):
        choose_target(table([("scaled", "all runs", 1, "running", math.nan)]).assign(last_loss=math.nan), (), None)
