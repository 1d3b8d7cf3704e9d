"""Lines translated by several processes: the same translations, in the same order."""

import pytest

from minitx.errors import UserError
from minitx.translation_pool import Lines, TranslationPool
from minitx.translator import Translator

TEXTS = ["A dog runs.", "", "Two men are reading a book.", "The woman sings.", "Three dogs sleep."]


def test_two_processes_translate_like_one_and_name_lines_as_one_does(make_run):
    path = make_run()
    alone = Translator.from_run(path, device="cpu", n_best=2)
    parts = [Lines("in.txt", 1 + 2 * i, TEXTS[2 * i : 2 * i + 2]) for i in range(3)]
    with TranslationPool(2, path, device="cpu", n_best=2) as pool:
        results = list(pool.translate(iter(parts)))
        assert [part for part, _ in results] == parts
        found = [found for _, some in results for found in some]
        for one, other in zip(found, alone.hypotheses(TEXTS), strict=True):
            assert [translation.text for translation in one] == [translation.text for translation in other]
            assert [translation.score for translation in one] == pytest.approx([t.score for t in other], abs=1e-5)
        with pytest.raises(UserError, match=r"in\.txt, line 9 has \d+ tokens"):
            list(pool.translate([Lines("in.txt", 8, ["A dog runs.", "dog " * 50])]))
