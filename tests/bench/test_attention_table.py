"""What the table says in words."""

from minitx.bench.attention_table import sentences


def record(variant: str, length: int, time_ratio: float, **further) -> dict:
    ratios = {"time_ratio": time_ratio, "memory_ratio": 2 * time_ratio}
    return {"variant": variant, "form": "packed", "d_k": 4, "length": length, "multiply_adds": 10} | ratios | further


def test_each_series_is_a_sentence() -> None:
    records = [
        record("scaled", 8, 1.0),
        record("additive", 8, 3.0, multiply_adds=15),
        record("mine", 8, 1.5),
        record("scaled", 16, 1.0),
        record("additive", 16, 40.0, multiply_adds=20),
        {"variant": "mine", "form": "packed", "d_k": 4, "length": 16},  # left out
        record("scaled", 16, 100.0, form="one query at a time"),
    ]
    del records[2]["multiply_adds"]
    assert sentences(records) == [
        "additive: 3.00 to 40.0 × the time and 6.00 to 80.0 × the memory of scaled, "
        "for 1.50 to 2.00 × the multiply-adds.",
        "mine: 1.50 × the time and 3.00 × the memory of scaled.",
        "scaled, query by query: 100 × the time and 200 × the memory of scaled, for 1.00 × the multiply-adds.",
    ]
