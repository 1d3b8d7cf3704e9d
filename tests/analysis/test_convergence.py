"""Crossings, areas and medians against answers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minitx.analysis.convergence import Followed, mean_loss, median_time, time_to_target

STEPS = np.array([100.0, 200.0, 300.0, 400.0])


@pytest.mark.parametrize(
    ("losses", "target", "expected"),
    [
        ([4, 3, 2, 1], 2.5, 250.0),
        ([4, 3, 2, 1], 2.0, 300.0),
        ([4, 3, 1, 2], 1.5, 275.0),  # the first crossing, though the loss rises above it again
        ([4, 3, 2, 1], 5.0, 100.0),  # there already: an upper bound
        ([4, 3, 2, 1], 0.9, None),
        ([2, 2, 2, 2], 2.0, 100.0),
    ],
)
def test_first_crossing_by_linear_interpolation(losses: list[float], target: float, expected: float | None) -> None:
    assert time_to_target(STEPS, np.array(losses, dtype=float), target) == expected


def test_nothing_is_reached_without_validations() -> None:
    assert time_to_target(np.array([]), np.array([]), 1.0) is None


def test_area_under_a_straight_line() -> None:
    """∫ (5 - x/100) dx from 150 to 350, over 200: the value in the middle, 5 - 2.5."""
    assert mean_loss(STEPS, 5 - STEPS / 100, 150, 350) == pytest.approx(2.5, abs=1e-12)


def test_area_under_a_bent_line() -> None:
    assert mean_loss(STEPS, np.array([4.0, 2.0, 2.0, 0.0]), 100, 400) == pytest.approx((3 + 2 + 1) / 3)


@pytest.mark.parametrize(("first", "last"), [(50, 400), (100, 401), (200, 200)])
def test_a_curve_that_does_not_cover_the_interval_has_no_area(first: float, last: float) -> None:
    assert mean_loss(STEPS, 5 - STEPS / 100, first, last) is None


def test_median_when_all_get_there() -> None:
    assert median_time([Followed(time, True) for time in (30.0, 10.0, 20.0)]) == 20.0


def test_median_with_censored_runs() -> None:
    """By hand: of 5, S(10) = 4/5; one leaves at 15; S(20) = 4/5 · 2/3 = 8/15; S(30) = 8/15 · 1/2 < 1/2."""
    runs = [
        Followed(10.0, True),
        Followed(15.0, False),
        Followed(20.0, True),
        Followed(30.0, True),
        Followed(40.0, False),
    ]

    assert median_time(runs) == 30.0


def test_no_median_when_fewer_than_half_get_there() -> None:
    assert median_time([Followed(10.0, True), Followed(40.0, False), Followed(40.0, False)]) is None
    assert median_time([Followed(40.0, False)]) is None
    assert median_time([]) is None


@given(st.lists(st.floats(0.5, 9.5), min_size=2, max_size=12), st.floats(0.0, 10.0))
def test_a_crossing_lies_between_the_validations_around_it(losses: list[float], target: float) -> None:
    loss = np.array(losses)
    steps = np.arange(1.0, len(losses) + 1)

    time = time_to_target(steps, loss, target)

    if time is None:
        assert loss.min() > target
    else:
        after = int(np.ceil(time)) - 1
        assert loss[after] <= target + 1e-9 or loss[max(after - 1, 0)] <= target + 1e-9
        assert all(loss[: max(after - 1, 0)] > target)
