"""Learning rates against Eq. 3 and the closed forms."""

import math

import pytest

from minitx.errors import UserError
from minitx.training.schedule import Constant, Cosine, InverseSqrt


@pytest.mark.parametrize("step", [1, 17, 3999, 4000, 4001, 100_000])
def test_inverse_sqrt_is_equation_3(step):
    rate = InverseSqrt(None, 4000, 512)(step)
    assert rate == pytest.approx(512**-0.5 * min(step**-0.5, step * 4000**-1.5), rel=1e-12)


def test_inverse_sqrt_reaches_its_peak_at_the_end_of_the_warm_up():
    schedule = InverseSqrt(0.005, 1000, 128)
    assert schedule(1000) == 0.005
    assert schedule(500) == 0.0025
    assert schedule(4000) == pytest.approx(0.0025)


def test_cosine():
    schedule = Cosine(1.0, 10, 110, final_learning_rate=0.2)
    assert [schedule(step) for step in (5, 10, 110, 500)] == pytest.approx([0.5, 1.0, 0.2, 0.2])
    assert schedule(60) == pytest.approx(0.6)
    assert schedule(35) == pytest.approx(0.2 + 0.8 * (1 + math.cos(math.pi / 4)) / 2)


def test_constant():
    schedule = Constant(0.3, 3)
    assert [schedule(step) for step in (1, 3, 1000)] == pytest.approx([0.1, 0.3, 0.3])
    assert Constant(0.3)(1) == 0.3


@pytest.mark.parametrize("make", [lambda: Constant(-1.0), lambda: Cosine(0.0, 1, 2), lambda: InverseSqrt(1.0, -1, 8)])
def test_impossible_numbers_are_refused(make):
    with pytest.raises(UserError, match=r"schedule\."):
        make()
