"""Intervals and paired differences against numbers from a table of the t distribution."""

import math

import pytest

from minitx.analysis.pairs import interval, paired_differences


def test_t_interval_by_hand() -> None:
    """Values 1, 2, 3: mean 2, sd 1, t(0.975; 2) = 4.30265, half width 4.30265/√3 = 2.48414."""
    spread = interval([1.0, 2.0, 3.0])

    assert spread[:3] == (3, 2.0, 1.0)
    assert (spread.low, spread.high) == pytest.approx((2 - 2.484138, 2 + 2.484138), abs=1e-5)
    assert not spread.tells


def test_when_an_interval_tells() -> None:
    assert interval([1.0, 1.1, 0.9]).tells
    assert interval([-1.0, -1.1, -0.9]).tells
    assert not interval([1.0, 1.0001]).tells  # two pairs are too few, however close
    assert not interval([0.0, 0.0, 0.0]).tells


def test_one_value_and_none() -> None:
    assert interval([5.0])[:2] == (1, 5.0)
    assert math.isnan(interval([5.0]).low)
    assert interval([]).number == 0


def test_differences_are_paired_by_seed() -> None:
    own = {3: 5.0, 1: 2.0, 2: math.nan, 4: 9.0}
    reference = {1: 1.0, 2: 1.0, 3: 7.0, 5: 0.0}

    assert paired_differences(own, reference) == {1: 1.0, 3: -2.0}
