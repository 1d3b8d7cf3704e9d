"""The log-log figure: what is drawn, and that no earlier one is lost."""

import re

import pytest

from minitx.bench.attention_figure import save_figure
from minitx.errors import UserError


def record(variant: str, length: int, d_k: int, seconds: float, skipped: str | None = None) -> dict:
    times = {} if skipped else {"seconds": seconds, "seconds_lower": 0.9 * seconds, "seconds_upper": 1.2 * seconds}
    sizes = {"batch": 2, "heads": 3, "part": "score", "memory_bytes": 1000 * length}
    return {"variant": variant, "form": "packed", "length": length, "d_k": d_k, "skipped": skipped} | sizes | times


def test_every_series_and_every_d_k_is_drawn_and_nothing_overwritten(tmp_path) -> None:
    records = [record(name, n, d_k, 0.001 * n) for name in ("scaled", "mine") for n in (8, 32) for d_k in (16, 64)]
    records.append(record("mine", 128, 64, 1.0, skipped="too large"))
    first, second = (save_figure(records, tmp_path, "a machine") for _ in range(2))
    assert [path.name for path in first] == ["attention.svg", "attention.png"]
    assert [path.name for path in second] == ["attention-2.svg", "attention-2.png"]
    words = set(re.findall(r">([^<>]+)</", first[0].read_text(encoding="utf-8")))
    assert {"scaled", "mine", "d_k = 16", "d_k = 64", "time, ms", "a machine", "8", "32"} <= words
    assert "128" not in words
    assert first[1].read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_written(tmp_path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        save_figure([record("scaled", 8, 16, 1.0)], tmp_path / "nowhere", "a machine")
