"""Tables parted by tabs."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from minitx.data.sources import Pair
from minitx.data.tsv import Tsv
from minitx.errors import UserError

Write = Callable[..., Path]


def test_columns_by_name_in_either_direction(write_text: Write) -> None:
    directory = write_text({"train.tsv": 'id\tde\ten\n1\tEin "Haus\tA "house\n2\tZwei\tTwo'})
    assert list(Tsv(directory, "en", "de").pairs("train")) == [Pair('A "house', 'Ein "Haus', 2), Pair("Two", "Zwei", 3)]
    assert list(Tsv(directory, "de", "en").pairs("train"))[1] == Pair("Zwei", "Two", 3)
    assert list(Tsv(directory, "english", "german", "en", "de").pairs("train"))[1] == Pair("Two", "Zwei", 3)


def test_columns_by_position_need_no_header(write_text: Write) -> None:
    directory = write_text({"train.tsv.gz": gzip.compress(b"A\tEin\nB\tZwei\n")})
    assert list(Tsv(directory, "en", "de", 1, 2).pairs("train")) == [Pair("A", "Ein", 1), Pair("B", "Zwei", 2)]
    assert next(iter(Tsv(directory, "en", "de", 2, 1).pairs("train"))) == Pair("Ein", "A", 1)


def test_d1_other_line_separators_stay_inside(write_text: Write) -> None:
    texts = [f"Ein{separator}Haus" for separator in "\u2028\u2029\u0085\v\f"]
    rows = "".join(f"A house\t{text}\n" for text in texts)
    pairs = list(Tsv(write_text({"train.tsv": f"en\tde\n{rows}"}), "en", "de").pairs("train"))
    assert [pair.target for pair in pairs] == texts


def test_d2_an_empty_cell_is_a_blank_sentence(write_text: Write) -> None:
    directory = write_text({"train.tsv": "en\tde\nA\t\n\tZwei\n"})
    assert list(Tsv(directory, "en", "de").pairs("train")) == [Pair("A", "", 2), Pair("", "Zwei", 3)]


def test_d5_byte_order_mark_and_crlf(write_text: Write) -> None:
    directory = write_text({"train.tsv": b"\xef\xbb\xbfen\tde\r\nA\tEin\r\n"})
    assert list(Tsv(directory, "en", "de").pairs("train")) == [Pair("A", "Ein", 2)]


@pytest.mark.parametrize(("row", "count"), [("A", 1), ("A\tEin\tmore", 3), ("", 1)])
def test_d6_wrong_number_of_columns(write_text: Write, row: str, count: int) -> None:
    directory = write_text({"train.tsv": f"en\tde\nA\tEin\n{row}\nB\tZwei\n"})
    with pytest.raises(UserError, match=rf"train\.tsv, line 3 has {count} columns; the first line has 2"):
        list(Tsv(directory, "en", "de").pairs("train"))


def test_columns_that_are_not_there(write_text: Write) -> None:
    directory = write_text({"train.tsv": "english\tgerman\nA\tEin\n", "twice.tsv": "en\ten\tde\n"})
    with pytest.raises(UserError, match=r"line 1 must name one column 'en'.*'english', 'german'.*data\.source_column"):
        list(Tsv(directory, "en", "de").pairs("train"))
    with pytest.raises(UserError, match="must name one column 'en'"):
        list(Tsv(directory, "en", "de").pairs("twice"))
    for position in (0, 3):
        with pytest.raises(UserError, match=f"no column {position}"):
            list(Tsv(directory, "en", "de", position, 1).pairs("train"))
    with pytest.raises(UserError, match="two names or two positions"):
        list(Tsv(directory, "en", "de", 1).pairs("train"))
