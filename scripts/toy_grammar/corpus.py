"""The three splits: distinct pairs, test sentences apart from training by the word pairs they combine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from toy_grammar import english, german
from toy_grammar.dice import Dice
from toy_grammar.held_out import combines_held_out, mentions_held_out
from toy_grammar.sentences import sentence
from toy_grammar.syntax import Clause, NounPhrase, Predicate, Sentence, agreement, walk
from toy_grammar.words import Adverb

SIZES = {"train": 10_000, "val": 500, "test": 500}
SHORTEST, LONGEST = 4, 16


class Pair(NamedTuple):
    """A sentence and its translation."""

    english: str
    german: str


def words(text: str) -> list[str]:
    """The words of a sentence, without punctuation."""
    return re.findall(r"\w+", text)


def make_corpus(seed: int) -> dict[str, list[Pair]]:
    """The pairs of each split. All English sentences are distinct over the splits, and so are all German ones."""
    dice = Dice(seed)
    seen: set[str] = set()
    vocabulary: set[str] = set()
    corpus: dict[str, list[Pair]] = {}
    for split, size in SIZES.items():
        wanted = combines_held_out if split == "test" else _is_free
        pairs: list[Pair] = []
        while len(pairs) < size:
            pair = _pair(dice, wanted)
            if pair is None or pair.english in seen or pair.german in seen:
                continue
            forms = {*words(pair.english), *words(pair.german)}
            if split == "train":
                vocabulary |= forms
            elif not forms <= vocabulary:
                continue
            pairs.append(pair)
            seen.update(pair)
        corpus[split] = pairs
    return corpus


def _is_free(candidate: Sentence) -> bool:
    return not mentions_held_out(candidate)


def _pair(dice: Dice, wanted: Callable[[Sentence], bool]) -> Pair | None:
    """The next sentence with its translation, or None where it is not wanted or not acceptable."""
    candidate = sentence(dice)
    if not wanted(candidate) or not is_acceptable(candidate):
        return None
    pair = Pair(english.realise(candidate), german.realise(candidate))
    return pair if all(SHORTEST <= len(words(text)) <= LONGEST for text in pair) else None


def is_acceptable(candidate: Sentence) -> bool:
    """Whether the sentence has one translation and does not repeat itself."""
    nouns, verbs, adjectives = Counter[str](), Counter[str](), Counter[str]()
    for node in walk(candidate):
        match node:
            case NounPhrase():
                nouns[node.noun.lemma] += 1
                adjectives.update([node.adjective.lemma] if node.adjective else [])
                if node.noun.lemma == "dress" and (node.determiner == "his" or _belongs_to_a_man(node)):
                    return False
            case Predicate():
                adjectives[node.adjective.lemma] += 1
            case Adverb():
                nouns.update(node.lemmas)
            case Clause():
                verbs.update([] if node.verb.lemma == "be" else [node.verb.lemma])
                if _hides_its_tense(node):
                    return False
    return all(count == 1 for counter in (nouns, verbs, adjectives) for count in counter.values())


def _belongs_to_a_man(phrase: NounPhrase) -> bool:
    return phrase.owner is not None and phrase.owner.noun.gender != "f"


def _hides_its_tense(clause: Clause) -> bool:
    """Whether the past looks like the present: "they read", "we put"."""
    base, _, past = clause.verb.forms
    return clause.tense == "past" and base == past and agreement(clause.subject) != "3sg"
