"""The bundled corpus as text: made by the script as it stands, distinct pairs, combinations kept for the test split."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from toy_grammar.adjectives import ADJECTIVES
from toy_grammar.corpus import LONGEST, SHORTEST, make_corpus, words
from toy_grammar.held_out import PAIRS
from toy_grammar.nouns import NOUNS
from toy_grammar.verbs import DITRANSITIVE, INTRANSITIVE, OBLIQUE, TRANSITIVE

ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = ROOT / "data" / "toy_en_de"
SPLITS = {"train": 10_000, "val": 500, "test": 500}

LINES = {
    (split, language): (DIRECTORY / f"{split}.{language}").read_text(encoding="utf-8").split("\n")[:-1]
    for split in SPLITS
    for language in ("en", "de")
}
ENGLISH = [line for split in SPLITS for line in LINES[split, "en"]]
GERMAN = [line for split in SPLITS for line in LINES[split, "de"]]


def test_script_writes_the_files_as_they_are(tmp_path):
    script = ROOT / "scripts" / "make_toy_corpus.py"
    # A hash seed of its own: nothing may depend on the order of a set.
    subprocess.run([sys.executable, script, "--out", tmp_path], check=True, env={"PYTHONHASHSEED": "7"})
    for split, language in LINES:
        name = f"{split}.{language}"
        assert (tmp_path / name).read_bytes() == (DIRECTORY / name).read_bytes(), f"{name}: run {script.name} again"


def test_the_seed_decides():
    first, again, other = (make_corpus(seed, {"train": 50})["train"] for seed in (1, 1, 2))
    assert first == again
    assert len(set(first) & set(other)) < 5


@pytest.mark.parametrize("split", SPLITS)
def test_both_sides_have_as_many_lines_as_promised(split):
    assert len(LINES[split, "en"]) == len(LINES[split, "de"]) == SPLITS[split]


@pytest.mark.parametrize("texts", [ENGLISH, GERMAN], ids=["en", "de"])
def test_no_sentence_occurs_twice_in_any_split(texts):
    assert len(set(texts)) == len(texts) == sum(SPLITS.values())


@pytest.mark.parametrize("texts", [ENGLISH, GERMAN], ids=["en", "de"])
def test_lines_are_plain_sentences(texts):
    for text in texts:
        assert re.fullmatch(r"[A-ZÄÖÜ]\w*(,? [\w']+)+[.?]", text), text
        assert SHORTEST <= len(words(text)) <= LONGEST, text


def test_questions_are_questions_on_both_sides():
    assert [line[-1] for line in ENGLISH] == [line[-1] for line in GERMAN]
    assert sum(line.endswith("?") for line in ENGLISH) > 1000


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("split", ["val", "test"])
def test_every_word_is_known_from_training(split, language):
    known = {word for line in LINES["train", language] for word in words(line)}
    assert {word for line in LINES[split, language] for word in words(line)} <= known


def forms(lemma):
    """The English forms of a word, as a pattern."""
    if lemma in NOUNS:
        found = [lemma, NOUNS[lemma].plural]
    elif lemma in ADJECTIVES:
        found = [lemma, ADJECTIVES[lemma].comparative]
    else:
        verbs = (*TRANSITIVE, *OBLIQUE, *DITRANSITIVE, *INTRANSITIVE)
        found = next(verb.forms for verb in verbs if verb.lemma == lemma)
    return re.compile(r"\b(" + "|".join(form for form in found if form) + r")\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def lines_with():
    """For each word of a held-out pair, the numbers of the lines of each split that hold it in any form."""
    patterns = {lemma: forms(lemma) for pair in PAIRS for lemma in pair}
    return {
        (split, lemma): {i for i, line in enumerate(LINES[split, "en"]) if pattern.search(line)}
        for split in SPLITS
        for lemma, pattern in patterns.items()
    }


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_held_out_pair_stands_in_the_test_split_alone(pair, lines_with):
    first, second = pair
    for split in ("train", "val"):
        assert not lines_with[split, first] & lines_with[split, second]
    assert len(lines_with["test", first] & lines_with["test", second]) >= 3
    assert min(len(lines_with["train", first]), len(lines_with["train", second])) >= 40


def test_every_test_sentence_holds_a_pair(lines_with):
    covered = set().union(*(lines_with["test", first] & lines_with["test", second] for first, second in PAIRS))
    assert covered == set(range(SPLITS["test"]))


def test_readme_names_every_held_out_pair():
    readme = " ".join((ROOT / "data" / "README.md").read_text(encoding="utf-8").split())
    assert [pair for pair in PAIRS if f"{pair[0]} · {pair[1]}" not in readme] == []


def test_adjectives_after_dative_and_masculine_accusative_articles_end_in_en():
    """dem alten Mann, im alten Haus, einen alten Mann; the word before a noun, with one exception by chance."""
    articles = r"(?:dem|einem|keinem|meinem|unserem|seinem|ihrem|diesem|im|zum|vom|einen|keinen|meinen|seinen)"
    found = Counter(match for line in GERMAN for match in re.findall(rf"\b{articles} (\w+) [A-ZÄÖÜ]", line))
    # After a relative pronoun: der Junge, dem unser Onkel hilft.
    other = {"der", "die", "das", "ein", "eine", "mein", "meine", "unser", "unsere", "sein", "seine", "ihr", "ihre"}
    adjectives = Counter({word: n for word, n in found.items() if word[0].islower() and word not in other})
    assert sum(adjectives.values()) > 300
    assert [word for word in adjectives if not word.endswith("en")] == []


SINGULAR = {noun.german: noun.gender for noun in NOUNS.values() if noun.german != noun.german_plural}


def test_nominative_articles_agree_with_their_nouns():
    """A sentence that begins with an article begins with its subject."""
    gender = {"Ein": "mn", "Eine": "f", "Dieser": "m", "Dieses": "n", "Der": "m", "Das": "n"}
    seen = Counter()
    for line in GERMAN:
        article, *rest = words(line)
        noun = next((word for word in rest[:2] if word[0].isupper()), "")
        if article in gender and noun in SINGULAR:
            assert SINGULAR[noun] in gender[article], line
            seen[article] += 1
    assert set(seen) == set(gender)


CONJUNCTIONS = {
    "because": "weil",
    "although": "obwohl",
    "if": "wenn",
    "when": "als|wann",
    "before": "bevor",
    "while": "während",
    "whether": "ob",
    "says that": "sagt, dass",
}


@pytest.mark.parametrize("english", CONJUNCTIONS)
def test_subordinate_clauses_end_with_the_finite_verb(english):
    """What is finite in a main clause stands last: compare the verbs that end in -t, and the auxiliaries."""
    german = re.compile(rf"\b({CONJUNCTIONS[english]}) ([^,.?]+)[,.?]", re.IGNORECASE)
    clauses = []
    for source, target in zip(ENGLISH, GERMAN, strict=True):
        if re.search(rf"\b{english}\b", source, re.IGNORECASE) and source.endswith("."):
            found = german.search(target)
            assert found, target
            clauses.append(found.group(2).split())
    assert len(clauses) >= 50
    auxiliaries = {"hat", "haben", "ist", "sind", "war", "waren", "kann", "können", "will", "wollen", "wird", "werden"}
    assert sum(clause[-1] in auxiliaries for clause in clauses) >= 5
    assert [clause for clause in clauses if auxiliaries & set(clause[:-1])] == []
