"""What `minitx data check` finds in splits."""

import json
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from minitx.data.alignment import Slip
from minitx.data.characters import Characters
from minitx.data.check import Report, check, slip_in_words
from minitx.data.check_tables import print_report
from minitx.data.sources import Pair, TextFiles
from minitx.data.survey import Survey
from minitx.errors import UserError

LABELS = ("en", "de")


def numbered(*pairs: tuple[str, str]) -> list[Pair]:
    return [Pair(*pair, line) for line, pair in enumerate(pairs, start=1)]


def report(**splits: Iterable[Pair]) -> Report:
    return check(splits.items(), LABELS, "train")


def test_d7_counts_of_the_real_text(multi30k: Path) -> None:
    survey = Survey("train", TextFiles(multi30k, "en", "de").pairs("train"))
    odd = survey.target.characters.by_code_point()
    assert {code: facts["count"] for code, facts in odd.items()} == {"U+0009": 1, "U+00A0": 47}
    assert survey.target.edge_blanks == 40
    assert (survey.num_pairs, survey.blank, survey.slips()) == (29_000, 0, [])
    text = StringIO()
    print_report(Report(LABELS, {"train": survey}, "train"), Console(file=text, width=120))
    lines = [line.split() for line in text.getvalue().splitlines()]
    assert ["train", "de", "U+00A0", "NO-BREAK", "SPACE", "47", "5169"] in lines
    assert ["train", "de", "U+0009", "TAB", "1", "7366"] in lines
    assert ["train", "de", "322,383", *["5", "11", "23", "39", "30", "67", "144", "254", "0", "40", "0"]] in lines


def test_counts() -> None:
    survey = Survey(
        "train",
        numbered(
            ("one two", "eins zwei"),
            ("", "leer"),
            ("  edge", "Rand "),
            ("one two", "eins zwei"),
            ("same", "same"),
            (" ", ""),
        ),
    )
    assert (survey.num_pairs, survey.blank, survey.copies) == (6, 2, 1)
    assert (survey.source.blank, survey.target.blank) == (2, 1)
    assert (survey.source.edge_blanks, survey.target.edge_blanks) == (1, 1)
    assert survey.duplicates() == {"pairs": 1, "sources": 2, "targets": 1}
    assert survey.as_data()["source"]["words"] == 6


def test_percentiles() -> None:
    data = Survey("train", numbered(*[("w " * n, "x") for n in range(1, 102)])).as_data()
    assert data["source"]["word_percentiles"] == {
        "0": 1, "1": 2, "5": 6, "25": 26, "50": 51, "75": 76, "95": 96, "99": 100, "100": 101,
    }  # fmt: skip


def test_numbers_that_differ_and_unusual_lengths() -> None:
    pairs = [(f"A house with {i} doors in it.", f"Ein Haus mit {i} Türen darin.") for i in range(100)]
    pairs[17] = ("It was 1999 in the house.", "Es war 1998 in dem Haus.")
    pairs[42] = ("A house with 42 doors in it.", "Ein Haus mit 42 Türen darin, " + "und noch viel mehr davon " * 8)
    survey = Survey("train", numbered(*pairs))
    assert (survey.numbers_differ, survey.numbers_differ_lines) == (1, [18])
    assert survey.unusual_ratios() == [43]


def test_overlap_with_the_training_text() -> None:
    found = report(
        train=numbered(("a", "A"), ("b", "B"), ("c", "C")),
        test=numbered(("a", "A"), ("b", "X"), ("y", "C"), ("z", "Z")),
    )
    assert found.overlaps() == {"test": {"pairs": 1, "sources": 2, "targets": 2}}
    assert check([("pairs", numbered(("a", "A")))], LABELS, None).overlaps() == {}


def test_odd_characters_and_traces() -> None:
    characters = Characters()
    for line, text in enumerate(
        [
            "plain äöü €",
            "a\u00a0b\u00a0c",
            "\u200bzero",
            "U\u0308ber",
            "FÃ¼r",
            "Tom &amp; <b>Jerry</b>",
            "a\u2028b\u00a0",
        ],
        start=1,
    ):
        characters.add(text, line)
    odd = {code: (facts["count"], facts["first_line"]) for code, facts in characters.by_code_point().items()}
    assert odd == {"U+00A0": (3, 2), "U+200B": (1, 3), "U+2028": (1, 7)}
    assert characters.by_code_point()["U+200B"]["name"] == "ZERO WIDTH SPACE"
    assert characters.not_nfc == 1
    assert list(characters.traces.values()) == [1, 1]


@pytest.mark.parametrize(
    "text", ["Für Ärger über Öl", "Il était à Évry", "Pâté «château»", "x < y & z", "Ăn Äpfel", "日本語"]
)
def test_ordinary_letters_leave_no_trace(text: str) -> None:
    characters = Characters()
    characters.add(text, 1)
    assert not characters.traces
    assert not characters.counts


def test_faults_are_what_would_stop_a_run() -> None:
    sound = numbered(("a", "A"))
    assert report(train=numbered(("", "A")), val=sound).faults() == []
    assert report(train=sound, val=numbered(("", "A"), ("a", "A"))).faults() == [
        "val: 1 pairs have a blank side, which evaluation refuses."
    ]

    def broken() -> Iterable[Pair]:
        yield Pair("a", "A", 1)
        raise UserError("train.de, line 2: invalid UTF-8")

    found = report(train=broken())
    assert found.faults() == ["train.de, line 2: invalid UTF-8"]
    assert found.splits["train"].num_pairs == 1


def test_slips_in_words() -> None:
    said = slip_in_words(Slip(403, 1013, -1), LABELS)
    assert said.startswith("lines 403-1013 of en seem to belong to the de 1 line before: a line may be missing in de")
    said = slip_in_words(Slip(1, 50, 2), LABELS)
    assert "the de 2 lines after: 2 lines may be missing in en, or too many in de" in said
    assert "translations of each other" in slip_in_words(Slip(1, 50, None), LABELS)


def test_plain_data_for_json() -> None:
    data = json.loads(json.dumps(report(train=numbered(("a\u00a0", "A")), test=numbered(("a", "A"))).as_data()))
    assert data["splits"]["train"]["source"]["odd_characters"]["U+00A0"]["count"] == 1
    assert data["also_in_train"]["test"]["pairs"] == 1
    assert report(train=[]).as_data()["splits"]["train"]["pairs"] == 0
