"""Lines that slipped against each other are found where they slipped, and sound text raises no alarm."""

import random
from pathlib import Path

import numpy as np
import pytest

from minitx.data.alignment import Evidence, Slip
from minitx.data.sources import Pair, TextFiles

NEAR = 10
"""Lines by which the place of a slip may be missed."""


def slips(sources: list[str], targets: list[str]) -> list[Slip]:
    evidence = Evidence()
    for number, (source, target) in enumerate(zip(sources, targets, strict=False), start=1):
        evidence.add(Pair(source, target, number))
    return evidence.slips()


def invented(number: int, seed: int = 1) -> tuple[list[str], list[str]]:
    """Sentences in two made-up languages that share nothing but lengths, names and numbers."""
    generator = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    for _ in range(number):
        length = max(3, round(generator.lognormvariate(2.3, 0.4)))
        name = generator.choice(["", "", f" Name{generator.randrange(200)}", f" {generator.randrange(1000)}"])
        for side, letters in enumerate(("abcdefg", "tuvwxyz")):
            words = max(2, length + generator.choice([-1, 0, 0, 1]))
            text = " ".join("".join(generator.choices(letters, k=generator.randint(2, 8))) for _ in range(words))
            sides[side].append(text + name + ".")
    return sides


@pytest.fixture(scope="module", params=["invented", "multi30k en-de", "multi30k fr-en"])
def text(request: pytest.FixtureRequest) -> tuple[list[str], list[str]]:
    """A thousand aligned pairs."""
    if request.param == "invented":
        return invented(1000)
    directory: Path = request.getfixturevalue("multi30k")
    pairs = list(TextFiles(directory, *request.param.split()[1].split("-")).pairs("val"))
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def test_sound_text_raises_no_alarm(text: tuple[list[str], list[str]]) -> None:
    assert slips(*text) == []


@pytest.mark.parametrize(("dropped", "offset"), [(1, -1), (2, -2)])
@pytest.mark.parametrize("place", [0, 500])
def test_lines_missing_in_the_target(text: tuple[list[str], list[str]], place: int, dropped: int, offset: int) -> None:
    sources, targets = text
    (slip,) = slips(sources, targets[:place] + targets[place + dropped :])
    assert slip.offset == offset
    assert abs(slip.first - (place + 1)) <= NEAR
    assert slip.last == len(targets) - dropped


def test_a_line_missing_in_the_source(text: tuple[list[str], list[str]]) -> None:
    sources, targets = text
    (slip,) = slips(sources[:500] + sources[501:], targets)
    assert slip.offset == 1
    assert abs(slip.first - 501) <= NEAR


def test_a_slip_that_is_made_good_again(text: tuple[list[str], list[str]]) -> None:
    sources, targets = text
    (slip,) = slips(sources, [*targets[:300], *targets[301:400], "Noch ein Satz.", *targets[400:]])
    assert slip.offset == -1
    assert abs(slip.first - 301) <= NEAR
    assert abs(slip.last - 400) <= NEAR


def test_a_stretch_of_unrelated_lines(text: tuple[list[str], list[str]]) -> None:
    sources, targets = text
    shuffled = targets[200:320]
    random.Random(0).shuffle(shuffled)
    (slip,) = slips(sources, targets[:200] + shuffled + targets[320:])
    assert slip.offset is None
    assert abs(slip.first - 201) <= NEAR
    assert abs(slip.last - 320) <= NEAR


@pytest.mark.parametrize("evidence", ["numbers", "end marks"])
def test_words_or_end_marks_tell_where_lengths_do_not(evidence: str) -> None:
    generator = random.Random(3)
    shared = [
        str(generator.randrange(1000, 9999)) if evidence == "numbers" else generator.choice(".?!:") for _ in range(600)
    ]
    sides = [[f"{word} {piece}" for piece in shared] for word in ("abcdef", "uvwxyz")]
    assert slips(*sides) == []
    (slip,) = slips(sides[0], sides[1][:300] + sides[1][301:])
    assert slip.offset == -1
    assert abs(slip.first - 301) <= NEAR


def test_false_alarms_are_rare() -> None:
    """Ten invented texts of 2,000 sound pairs each: not one alarm."""
    assert not [alarm for seed in range(10, 20) for alarm in slips(*invented(2000, seed))]


def test_too_little_to_tell() -> None:
    sources, targets = invented(63)
    assert slips(sources, targets[1:]) == []
    assert slips([], []) == []
    assert slips(["same"] * 200, ["gleich"] * 200) == []
    assert slips([""] * 200, [""] * 200) == []


def test_every_weight_is_finite() -> None:
    sources, targets = invented(200)
    evidence = Evidence()
    for number, (source, target) in enumerate(zip(sources, ["", *targets[1:]], strict=True), start=1):
        evidence.add(Pair(source, target, number))
    assert np.isfinite(evidence._weights(200)).all()
