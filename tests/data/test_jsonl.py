"""JSON Lines."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from minitx.data.jsonl import Jsonl
from minitx.data.sources import Pair
from minitx.errors import UserError

Write = Callable[..., Path]


def lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_flat_and_nested_in_either_direction(write_text: Write) -> None:
    records = lines({"en": "A", "de": "Ein", "id": 7}, {"translation": {"de": "Zwei", "en": "Two"}})
    directory = write_text({"train.jsonl": records})
    assert list(Jsonl(directory, "en", "de").pairs("train")) == [Pair("A", "Ein", 1), Pair("Two", "Zwei", 2)]
    assert list(Jsonl(directory, "de", "en").pairs("train")) == [Pair("Ein", "A", 1), Pair("Zwei", "Two", 2)]


def test_d1_separators_raw_and_escaped(write_text: Write) -> None:
    texts = [f"Ein{separator}Haus" for separator in "\u2028\u2029\u0085\v\f"]
    raw = "".join(
        json.dumps({"en": "A", "de": text}, ensure_ascii=raw) + "\n" for text in texts for raw in (True, False)
    )
    pairs = list(Jsonl(write_text({"train.jsonl": raw}), "en", "de").pairs("train"))
    assert [pair.target for pair in pairs] == [text for text in texts for _ in range(2)]
    assert [pair.line for pair in pairs] == list(range(1, 11))


def test_d2_null_and_empty_are_blank(write_text: Write) -> None:
    directory = write_text({"train.jsonl": lines({"en": None, "de": "Ein"}, {"en": "A", "de": ""})})
    assert list(Jsonl(directory, "en", "de").pairs("train")) == [Pair("", "Ein", 1), Pair("A", "", 2)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"en": "A", "de": "Ein"', "no JSON"),
        ("", "no JSON"),
        ('["A", "Ein"]', "a JSON object is needed"),
        ('{"en": "A", "fr": "Un"}', "no key 'de'; there are 'en', 'fr'"),
        ('{"en": "A", "de": "Ein", "de": "Zwei"}', "the key 'de' stands twice"),
        ('{"translation": {"en": "A", "en": "B", "de": "Ein"}}', "the key 'en' stands twice"),
        ('{"en": "A", "de": "half \\ud83d only"}', r"half a surrogate pair \(\\ud83d\)"),
        ('{"en": "A", "de": 7}', "'de' is no text but 7"),
        ('{"en": "A", "de": "Ein"} {}', "no JSON"),
        ("[" * 100_000, "line 2"),
    ],
)
def test_a_bad_line_is_named(write_text: Write, bad: str, reason: str) -> None:
    directory = write_text({"train.jsonl": lines({"en": "A", "de": "Ein"}) + bad + "\n"})
    with pytest.raises(UserError, match=rf"train\.jsonl, line 2: .*{reason}" if reason != "line 2" else "line 2"):
        list(Jsonl(directory, "en", "de").pairs("train"))


def test_a_whole_surrogate_pair_is_text(write_text: Write) -> None:
    directory = write_text({"train.jsonl": '{"en": "A", "de": "\\ud83d\\ude00"}\n'})
    assert next(Jsonl(directory, "en", "de").pairs("train")).target == "😀"
