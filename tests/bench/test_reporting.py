"""Numbers that can be read."""

import pytest

from minitx.bench.reporting import count, duration, json_lines, mebibytes, milliseconds, positives, ratio
from minitx.bench.timing import Spread


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (999, "999"), (1_234, "1.23 k"), (1_234_567, "1.23 M"), (17_179_869_184, "17.2 G"), (3e14, "300 T")],
)
def test_counts(number: float, words: str) -> None:
    assert count(number) == words


def test_times_have_quartiles_if_there_are_several() -> None:
    assert milliseconds(Spread(0.00123, 0.0012, 0.0131, 5)) == "1.23 (1.20–13.1)"
    assert milliseconds(Spread(1.5, 1.5, 1.5, 1)) == "1,500 (once)"


def test_bytes_ratios_durations() -> None:
    assert [mebibytes(2**20 * n) for n in (0.0625, 1, 12.34, 4096)] == ["0.062", "1.00", "12.3", "4,096"]
    assert [ratio(number) for number in (0.123, 1.0, 9.96, 27.18, 99.6)] == ["0.12", "1.00", "10.0", "27.2", "100"]
    assert [duration(seconds) for seconds in (0.2, 89, 90, 5300, 9000)] == ["1 s", "89 s", "2 min", "88 min", "2.5 h"]


def test_lists_of_numbers() -> None:
    assert positives("64,16,64") == [16, 64]


def test_records_are_added_to_what_a_file_holds(tmp_path) -> None:
    file = tmp_path / "records.jsonl"
    for number in (1, 2):
        with json_lines(str(file)) as write:
            write({"number": number})
    with json_lines(str(file)):
        pass  # as when the measurement fails
    assert file.read_text() == '{"number": 1}\n{"number": 2}\n'
