"""The summary says what the numbers allow, and no more."""

from collections.abc import Callable
from pathlib import Path

import pytest

from minitx.analysis.results import analyse
from minitx.analysis.runs import find_runs, read_run
from minitx.analysis.wording import count_of, plain, signed, summarise


def summary(directory: Path) -> str:
    return "\n".join(summarise(analyse([read_run(path) for path in find_runs([directory])])))


def test_three_seeds_tell_a_large_difference_and_not_a_small_one(write_sweep: Callable[..., Path]) -> None:
    text = summary(write_sweep())

    assert "12 runs of 2 variants in 2 conditions, 3 seeds: 12 finished." in text
    assert "at d_k 16 not enough seeds to tell (seen +0.003; 95 % interval" in text
    assert "which holds zero" in text
    assert "at d_k 256 higher in these runs by 1.003 on average (95 % interval" in text
    assert "From d_k 16 to 256 the gap of unscaled to scaled rose in these runs by 1.000" in text
    assert "unscaled lower in 3, higher in 0, undecided in 3 of 6 pairs" in text
    assert "reached by scaled in 6 of 6 runs, by unscaled in 3 of 6 runs (but 0 of 3 at d_k 256)." in text
    assert "0.38 with unscaled" in text
    assert "it does not show a cause" in text
    assert "none corrected for their number" in text


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_two_seeds_or_one_never_tell(write_sweep: Callable[..., Path], seeds: tuple[int, ...]) -> None:
    text = summary(write_sweep(seeds=seeds))

    assert "higher in these runs" not in text
    assert "lower in these runs" not in text
    assert text.count("not enough seeds to tell") == 3  # at d_k 16, at d_k 256, the trend


def test_divergence_comes_first_and_says_whom_it_flatters(write_run: Callable[..., Path]) -> None:
    write_run("a")
    directory = write_run("b", "unscaled", status="diverged").parent

    assert "unscaled diverged in 1 of 1 run. These have no final loss" in summary(directory).splitlines()[1]
    assert "flatters unscaled" in summary(directory)
    assert "not enough seeds to tell (no pair of finished runs at one seed)" in summary(directory)


def test_learning_rates_are_spoken_of(write_run: Callable[..., Path]) -> None:
    write_run("a")
    directory = write_run("b", "unscaled").parent
    assert "none was given its own best" in summary(directory)
    for name in ("scaled", "unscaled"):
        write_run(f"{name}-fast", name, changes={"schedule.peak_learning_rate": 0.1})
    assert "“own best” gives each variant its own" in summary(directory)


def test_numbers_in_words() -> None:
    assert [signed(value) for value in (1.0, -0.25, 0.0, -0.0001)] == ["+1.000", "−0.250", "+0.000", "−1.0e-04"]
    assert plain(float("nan")) == "–"
    assert [count_of(number, "run") for number in (0, 1, 1000)] == ["0 runs", "1 run", "1,000 runs"]
