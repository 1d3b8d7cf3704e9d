"""Score statistics read back from the columns of metrics.csv."""

from collections.abc import Callable
from pathlib import Path

from minitx.analysis.results import analyse
from minitx.analysis.runs import read_run
from minitx.analysis.scores import score_curves


def test_the_recorded_mean_is_taken_and_else_that_of_the_heads(write_run: Callable[..., Path]) -> None:
    columns = {
        "scores/cross_attention/0/0/entropy": [1.0] * 4,
        "scores/cross_attention/0/mean/entropy": [0.5, 0.4, 0.3, 0.2],
        "scores/cross_attention/1/0/entropy": [0.2] * 4,
        "scores/cross_attention/1/1/entropy": [0.4] * 4,
        "gradients/cross_attention/0/query_projection": [3.0] * 4,
        "scores/cross_attention/0/entropy": [9.0] * 4,
        "scores/elsewhere/0/mean/entropy": [9.0] * 4,
    }

    curves = score_curves(read_run(write_run("a", columns=columns)))

    assert set(curves.columns) == {
        ("cross_attention", "0", "entropy"),
        ("cross_attention", "1", "entropy"),
        ("cross_attention", "0", "query_projection"),
    }
    assert list(curves["cross_attention", "0", "entropy"]) == [0.5, 0.4, 0.3, 0.2]
    assert all(abs(value - 0.3) < 1e-12 for value in curves["cross_attention", "1", "entropy"])
    assert list(curves.index) == [100, 200, 300, 400]


def test_first_last_and_mean(write_run: Callable[..., Path]) -> None:
    name = "scores/cross_attention/0/mean/saturated"

    [row] = analyse([read_run(write_run("a", columns={name: [0.0, 0.1, 0.2, 0.5]}))]).scores.to_dict("records")

    assert (row["first"], row["last"]) == (0.0, 0.5)
    assert abs(row["mean"] - 0.2) < 1e-12
    assert (row["site"], row["layer"], row["statistic"]) == ("cross_attention", "0", "saturated")


def test_runs_without_a_probe_have_none(write_run: Callable[..., Path]) -> None:
    run = read_run(write_run("a"))

    assert score_curves(run).empty
    assert analyse([run]).scores.empty
