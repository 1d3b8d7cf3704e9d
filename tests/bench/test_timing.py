"""Medians, quartiles, laps."""

import pytest

from minitx.bench import timing
from minitx.bench.timing import ProcessorClock, Spread, spread


def test_spread_is_median_and_quartiles() -> None:
    assert spread([5.0, 1.0, 2.0, 4.0, 3.0]) == Spread(3.0, 2.0, 4.0, 5)
    assert spread([7.0]) == Spread(7.0, 7.0, 7.0, 1)


def test_names_in_a_record() -> None:
    assert Spread(3.0, 2.0, 4.0, 5).named("seconds") == {"seconds": 3.0, "seconds_lower": 2.0, "seconds_upper": 4.0}


def test_laps_lie_between_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([1.0, 3.0, 3.5, 10.0])
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(moments))
    clock = ProcessorClock()
    for _ in range(4):
        clock.mark()
    assert clock.laps() == [2.0, 0.5, 6.5]
    assert clock.laps() == []
