"""What shorter lengths tell of longer ones."""

import pytest

from minitx.bench.forecast import Cost, Forecast


def learnt(*lengths: int, b: float = 0.0, c: float = 0.0) -> Forecast:
    forecast = Forecast()
    for n in lengths:
        forecast.learn(n, Cost(b * n + c * n**2, 10 * (b * n + c * n**2)))
    return forecast


@pytest.mark.parametrize(("b", "c"), [(3.0, 0.5), (0.0, 2.0), (4.0, 0.0)])
def test_exact_where_the_cost_is_linear_and_quadratic(b: float, c: float) -> None:
    expected = b * 1024 + c * 1024**2
    assert learnt(16, 64, b=b, c=c).at(1024) == pytest.approx(Cost(expected, 10 * expected))


def test_one_length_alone_grows_with_the_square() -> None:
    assert learnt(10, c=1.0).at(100) == Cost(10_000.0, 100_000.0)


def test_a_measured_length_is_known() -> None:
    assert learnt(8, 32, b=1.0).at(8) == Cost(8.0, 80.0)


def test_growth_is_never_faster_than_the_square_nor_negative() -> None:
    forecast = Forecast()
    forecast.learn(10, Cost(1.0, 5.0))
    forecast.learn(20, Cost(100.0, 1.0))  # faster than the square; and fewer bytes
    assert forecast.at(40).seconds == 400.0
    assert forecast.at(40).bytes == 2.0


def test_pilots_stop_before_they_take_long_or_too_much() -> None:
    ran = []

    def run(length: int, seconds: float = 0.0, size: float = 0.0) -> Cost:
        ran.append(length)
        return Cost(seconds, size)

    Forecast().run_pilots((8, 32, 128), run, may_take=1e9)
    assert ran == [8, 32, 128]
    ran.clear()
    Forecast().run_pilots((8, 32, 128), lambda n: run(n, seconds=0.01 * n), may_take=1e9)
    assert ran == [8]
    ran.clear()
    Forecast().run_pilots((8, 32, 128), lambda n: run(n, size=1e5 * n**2), may_take=2e8)
    assert ran == [8, 32]
