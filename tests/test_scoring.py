"""BLEU and chrF against values worked out by hand, and E6."""

import pytest

from minitx.errors import UserError
from minitx.scoring import score_translations

REFERENCES = ["the cat sat on the mat", "Zwei Hunde laufen über die Straße."]


def test_perfect_translations():
    scores = score_translations(REFERENCES, REFERENCES)
    assert scores["bleu"] == scores["bleu_lowercase"] == scores["chrf"] == 100.0


def test_bleu_is_the_geometric_mean_of_the_precisions():
    """6 of 7 words, 5 of 6 pairs, 4 of 5 triples and 3 of 4 quadruples are right; no brevity penalty."""
    scores = score_translations(["the cat sat on the mat today"], ["the cat sat on the mat"])
    assert scores["bleu"] == pytest.approx(100 * (3 / 7) ** 0.25, abs=1e-3)


def test_bleu_punishes_brevity():
    """All that is there is right, but 5 words stand for 6: exp(1 - 6/5)."""
    scores = score_translations(["the cat sat on the"], ["the cat sat on the mat"])
    assert scores["bleu"] == pytest.approx(81.873, abs=1e-3)


def test_bleu_minds_the_case_and_bleu_lowercase_does_not():
    scores = score_translations(["The Cat sat on the mat"], ["the cat sat on the mat"])
    assert scores["bleu"] < 60
    assert scores["bleu_lowercase"] == 100.0


def test_text_is_tokenised_by_13a_and_not_by_blanks():
    scores = score_translations(["One, two (three) dogs run."], ["One , two ( three ) dogs run ."])
    assert scores["bleu"] == 100.0


def test_each_score_has_its_signature():
    scores = score_translations(REFERENCES, REFERENCES)
    assert "case:mixed" in scores["bleu_signature"]
    assert "tok:13a" in scores["bleu_signature"]
    assert "case:lc" in scores["bleu_lowercase_signature"]
    assert "nc:6" in scores["chrf_signature"]
    for name in ("bleu", "bleu_lowercase", "chrf"):
        assert "version:" in scores[f"{name}_signature"]


def test_an_empty_translation_is_scored_and_not_left_out():
    whole = score_translations(REFERENCES, REFERENCES)["bleu"]
    half = score_translations([REFERENCES[0], ""], REFERENCES)["bleu"]
    assert 0 < half < whole


@pytest.mark.parametrize("count", [0, 1, 3])
def test_e6_counts_that_differ_are_refused(count):
    with pytest.raises(UserError, match=f"{count} translations stand against 2 references"):
        score_translations(["a"] * count, REFERENCES)


def test_nothing_to_score_is_refused():
    with pytest.raises(UserError, match="no sentence"):
        score_translations([], [])
