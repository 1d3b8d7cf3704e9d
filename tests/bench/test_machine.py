"""Whether others use the machine, and what memory is free."""

import pytest
import torch

from minitx.bench import machine
from minitx.bench.machine import available_bytes, busy_processors, idle_check

CPU = torch.device("cpu")


def test_busy_processors_come_from_the_clock_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([(100, 1000), (150, 1200)])
    monkeypatch.setattr(machine, "_ticks", lambda: next(ticks))
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 8)
    assert busy_processors(0.0) == 2.0  # a quarter of the time of eight processors


@pytest.mark.parametrize(
    ("busy", "load", "warned"), [(0.1, 5.0, False), (1.5, 0.0, True), (None, 0.1, False), (None, 3.0, True)]
)
def test_a_busy_machine_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, busy: float | None, load: float, warned: bool
) -> None:
    monkeypatch.setattr(machine, "busy_processors", lambda: busy)
    monkeypatch.setattr(machine, "_load", lambda: load)
    said, warning = idle_check(CPU)
    assert said == {"busy_processors_before": busy, "load_before": load}
    assert (warning is not None) is warned
    assert warning is None or "processors are busy with other work" in warning


def test_a_container_s_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    free = available_bytes(CPU)
    assert 0 < free < 2**50
    monkeypatch.setattr(machine, "_left_to_group", lambda: [12345])
    assert available_bytes(CPU) == 12345
