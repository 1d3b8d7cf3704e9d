"""From run directories to tables: outcomes, arms, differences and gaps with known answers."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from minitx.analysis.results import Results, analyse
from minitx.analysis.runs import find_runs, read_run
from minitx.errors import UserError

FALLING = [(100, 4.0), (200, 3.0), (300, 2.0), (400, 1.0)]


def results(directory: Path, **options: object) -> Results:
    return analyse([read_run(path) for path in find_runs([directory])], **options)


def test_a_row_a_run(write_run: Callable[..., Path]) -> None:
    run = write_run("a", losses=FALLING, bleu=30.0)

    [row] = results(run.parent, target=2.5).runs.to_dict("records")

    assert row["directory"] == str(run)
    assert (row["name"], row["variant"], row["seed"], row["status"]) == ("a", "scaled", 1, "finished")
    assert (row["final_loss"], row["best_loss"], row["bleu_test"]) == (1.0, 1.0, 30.0)
    times = {measure: row[f"{measure}_to_target"] for measure in ("steps", "tokens", "seconds", "flops")}
    assert times == {"steps": 250.0, "tokens": 25_000.0, "seconds": 125.0, "flops": 2.5e7}
    assert row["mean_loss"] == pytest.approx(2.5)
    assert row["tokens_per_second"] == 200.0
    assert row["peak_memory_bytes"] == 64 * 2**20


def test_an_axis_may_have_the_name_of_a_figure(write_run: Callable[..., Path]) -> None:
    runs = [
        write_run(f"{name}-{threads}", name, changes={"trainer.threads": threads}, facts={"threads": threads})
        for name in ("scaled", "unscaled")
        for threads in (1, 2)
    ]

    assert list(results(runs[0].parent).runs["threads"]) == [1, 1, 2, 2]


def test_runs_that_do_not_reach_the_target_are_censored_and_stay(write_run: Callable[..., Path]) -> None:
    write_run("a", seed=1, losses=FALLING)
    write_run("b", seed=2, losses=[(100, 4.0), (200, 3.5), (300, 3.2), (400, 3.1)])
    write_run("c", seed=3, losses=[(100, 4.0), (200, 3.5)], status="interrupted")
    write_run("d", seed=4, losses=[(100, 4.0)], status="diverged")
    directory = write_run("e", seed=5, losses=[(100, 4.0), (200, 2.0)]).parent

    [arm] = results(directory, target=2.5).arms.to_dict("records")

    assert (arm["runs"], arm["finished"], arm["diverged"], arm["unfinished"]) == (5, 3, 1, 1)
    assert arm["reached"] == 2
    assert math.isnan(
        arm["steps_median"]
    )  # S = 4/5 at 175, then c leaves at 200, S = 4/5 · 2/3 at 250: more than a half
    assert arm["steps_followed"] == 400


def test_a_diverged_run_never_reaches_the_target(write_run: Callable[..., Path]) -> None:
    """Were it censored at its end, half of the runs at risk would get there."""
    write_run("a", seed=1, losses=FALLING)
    write_run("b", seed=2, losses=[(100, 4.0)], status="diverged")
    directory = write_run("c", seed=3, losses=[(100, 4.0)], status="diverged").parent

    [arm] = results(directory, target=2.5).arms.to_dict("records")

    assert math.isnan(arm["steps_median"])
    assert arm["final_loss_n"] == 1


def test_differences_are_own_minus_reference_by_seed(write_sweep: Callable[..., Path]) -> None:
    found = results(write_sweep())
    rows = found.differences.set_index(["condition", "figure"])

    # scaled has noise 0.01·((3·seed + 1) mod 4), unscaled 0.01·(3·seed mod 4): differences at seeds 1, 2, 3.
    differences = [0.01 * (3 - 0), 0.01 * (2 - 3), 0.01 * (1 - 2)]
    row = rows.loc["d_k 16", "final_loss"]
    assert row["pairs"] == 3
    assert row["difference"] == pytest.approx(sum(differences) / 3)
    assert not row["tells"]
    row = rows.loc["d_k 256", "final_loss"]
    assert row["difference"] == pytest.approx(1 + sum(differences) / 3)
    assert row["tells"]
    assert row["low"] > 0.9
    assert row["seeds"] == "1 2 3"
    assert rows.loc["d_k 256", "bleu_test"]["difference"] == -30.0
    assert found.gaps("unscaled", "final_loss")[""][256.0] == pytest.approx(
        dict(zip((1, 2, 3), [1 + difference for difference in differences], strict=True))
    )


def test_pairs_left_out_are_named(write_run: Callable[..., Path]) -> None:
    write_run("a1", seed=1)
    write_run("a2", seed=2)
    write_run("b2", "unscaled", seed=2, status="diverged")
    directory = write_run("b3", "unscaled", seed=3).parent

    row = results(directory).differences.iloc[0]

    assert row["pairs"] == 0
    assert row["left_out"] == ("seed 1: no run of unscaled; seed 2: unscaled is diverged; seed 3: no run of scaled")


def test_each_variant_at_its_own_best_learning_rate(write_run: Callable[..., Path]) -> None:
    losses = {("scaled", 0.1): 2.0, ("scaled", 0.01): 1.0, ("unscaled", 0.1): 1.25, ("unscaled", 0.01): 3.0}
    for (name, rate), loss in losses.items():
        run = write_run(
            f"{name}-{rate}", name, losses=[(100, 4.0), (200, loss)], changes={"schedule.peak_learning_rate": rate}
        )

    rows = results(run.parent).differences.query("figure == 'final_loss'").set_index("condition")["difference"]

    assert dict(rows) == {
        "peak_learning_rate 0.01": 2.0,
        "peak_learning_rate 0.1": -0.75,
        "peak_learning_rate own best": 0.25,
    }


def test_the_reference(write_run: Callable[..., Path]) -> None:
    write_run("a", "additive")
    write_run("b", "unscaled")
    directory = write_run("c", "unscaled", seed=2).parent
    assert results(directory).reference == "unscaled"
    assert results(directory, reference="additive").others == ["unscaled"]
    with pytest.raises(UserError, match="--reference scaled: these runs hold additive, unscaled"):
        results(directory, reference="scaled")


def test_mean_loss_is_taken_over_the_steps_that_finished_runs_share(write_run: Callable[..., Path]) -> None:
    write_run("a", losses=FALLING)
    write_run("b", "unscaled", losses=[(150, 2.0), (350, 2.0)])
    directory = write_run("c", "unscaled", seed=2, losses=[(100, 9.0)], status="interrupted").parent

    found = results(directory)

    assert found.common_steps == (150, 350)
    assert list(found.runs["mean_loss"].iloc[:2]) == pytest.approx([2.5, 2.0])
    assert math.isnan(found.runs["mean_loss"].iloc[2])
