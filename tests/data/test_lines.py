"""Lines end at \\n and nowhere else."""

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minitx.data.lines import content_hash, read_lines, sentence
from minitx.errors import UserError

INSIDE_A_LINE = "\u2028\u2029\u0085\v\f\x1c\x1d\x1e"
lines_of_text = st.lists(
    st.text(alphabet=st.one_of(st.characters(codec="utf-8", exclude_characters="\n\r"), st.sampled_from(INSIDE_A_LINE)))
)


def without_mark(lines: list[str]) -> list[str]:
    return [line.removeprefix("\ufeff") if position == 0 else line for position, line in enumerate(lines)]


@given(lines=lines_of_text, ended=st.booleans(), end=st.sampled_from(["\n", "\r\n"]))
def test_d1_every_line_ended_by_newline_and_a_last_one_without(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ended: bool, end: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    ended = ended or bool(lines and not lines[-1])  # an empty last line exists only if it is ended
    path.write_bytes((end.join(lines) + (end if ended and lines else "")).encode())
    assert list(read_lines(path)) == without_mark(lines)


def test_d4_invalid_utf8_names_file_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "train.de"
    content = "Ein Haus.\nZwei Häuser.\n".encode() + b"Drei H\xe4user.\n"
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        list(read_lines(path))
    assert str(path) in str(error.value)
    assert "line 3" in str(error.value)
    assert f"byte offset {content.index(0xE4, 20)}:" in str(error.value)


def test_d4_offset_counts_the_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "train.de"
    path.write_bytes(b"\xef\xbb\xbfab\xff\n")
    with pytest.raises(UserError, match="line 1, byte offset 5:"):
        list(read_lines(path))


def test_d4_utf16_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "train.de"
    path.write_bytes("Ein Haus.\n".encode("utf-16"))
    with pytest.raises(UserError, match="UTF-16"):
        list(read_lines(path))


def test_d5_byte_order_mark_and_carriage_returns_vanish(tmp_path: Path) -> None:
    path = tmp_path / "train.de"
    path.write_bytes(b"\xef\xbb\xbfEin Haus.\r\nZwei H\xc3\xa4user.\r\n")
    assert list(read_lines(path)) == ["Ein Haus.", "Zwei Häuser."]


def test_d11_gz_as_plain(tmp_path: Path) -> None:
    text = "Ein\u2028Haus.\r\nZwei.".encode()
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(text[:7]) + gzip.compress(text[7:]))
    assert (
        list(read_lines(tmp_path / "packed.gz")) == list(read_lines(tmp_path / "plain")) == ["Ein\u2028Haus.", "Zwei."]
    )


@pytest.mark.parametrize(
    "content",
    [b"no gzip at all\n", gzip.compress(b"Ein Haus.\n" * 99)[:-9], b"\x1f\x8b\x08broken"],
    ids=["plain", "cut off", "broken"],
)
def test_damaged_gz_is_the_files_fault(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "train.de.gz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"train\.de\.gz is damaged or not gzip"):
        list(read_lines(path))


def test_missing_file(tmp_path: Path) -> None:
    for read in (content_hash, lambda path: list(read_lines(path))):
        with pytest.raises(UserError, match=r"nowhere\.de: No such file"):
            read(tmp_path / "nowhere.de")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  Ein Haus.\t", "Ein Haus."),
        ("\u00a0Ein\u00a0Haus.", "Ein\u00a0Haus."),
        ("Ein\u2028Haus.", "Ein\u2028Haus."),
        ("Ein\nHaus\r\nam\rSee", "Ein Haus am See"),
        ("u\u0308ber", "über"),
        (" \u2003\n", ""),
    ],
)
def test_sentence(line: str, expected: str) -> None:
    assert sentence(line) == expected


def test_what_can_be_read_only_once_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(UserError, match="save its lines in a file"):
            content_hash(path)
