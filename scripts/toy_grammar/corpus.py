"""The three splits: distinct pairs, test sentences apart from training by the word pairs they combine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from toy_grammar import english, german
from toy_grammar.clauses import is_simple
from toy_grammar.dice import Dice
from toy_grammar.held_out import held_out_pairs, mentions_held_out
from toy_grammar.sentences import sentence
from toy_grammar.syntax import (
    PLURAL_DETERMINERS,
    Clause,
    Coordination,
    NounPhrase,
    Predicate,
    Sentence,
    agreement,
    walk,
)
from toy_grammar.words import Adverb, Pronoun

SIZES = {"train": 10_000, "val": 500, "test": 500}
SHORTEST, LONGEST = 4, 16
# Without a limit, a few held-out combinations would fill the test split.
MOST_OF_A_COMBINATION = 13

# Only these verbs occur in the first person with a form of their own: each then occurs often enough to be learnt.
_SAID_BY_ME = (
    "be", "have", "go", "see", "know", "love", "read", "eat", "drink", "buy", "help", "think", "hope", "visit", "look for",
)  # fmt: skip


class Pair(NamedTuple):
    """A sentence and its translation."""

    english: str
    german: str


def words(text: str) -> list[str]:
    """The words of a sentence, without punctuation."""
    return re.findall(r"[\w']+", text)


def make_corpus(seed: int, sizes: Mapping[str, int] = SIZES) -> dict[str, list[Pair]]:
    """The pairs of each split, train first. No English sentence occurs twice in all splits, and no German one."""
    dice = Dice(seed)
    seen: set[str] = set()
    vocabulary: set[str] = set()
    used: Counter[tuple[str, str]] = Counter()
    corpus: dict[str, list[Pair]] = {split: [] for split in sizes}
    for split, pairs in corpus.items():
        while len(pairs) < sizes[split]:
            candidate = sentence(dice)
            held_out = held_out_pairs(candidate) if split == "test" else []
            if split == "test":
                wanted = bool(held_out) and all(used[combination] < MOST_OF_A_COMBINATION for combination in held_out)
            else:
                wanted = not mentions_held_out(candidate)
            pair = _translated(candidate) if wanted and is_acceptable(candidate) else None
            if pair is None or not seen.isdisjoint(pair):
                continue
            forms = {*words(pair.english), *words(pair.german)}
            if split == "train":
                vocabulary |= forms
            elif not forms <= vocabulary:
                continue
            pairs.append(pair)
            seen.update(pair)
            used.update(held_out)
    return corpus


def _translated(candidate: Sentence) -> Pair | None:
    """The sentence in both languages, or None where it is too short or too long."""
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
                if _hides_its_tense(node) or _is_rare_form(node) or _is_clumsy(node):
                    return False
    if isinstance(candidate, Coordination):
        verbs.clear()  # "he sings, but she does not sing"
    return all(count == 1 for counter in (nouns, verbs, adjectives) for count in counter.values())


def _belongs_to_a_man(phrase: NounPhrase) -> bool:
    return phrase.owner is not None and phrase.owner.noun.gender != "f"


def _is_rare_form(clause: Clause) -> bool:
    return is_simple(clause) and agreement(clause.subject) == "1sg" and clause.verb.lemma not in _SAID_BY_ME


def _is_clumsy(clause: Clause) -> bool:
    """Whether nobody would say it: morgen besucht ein Mann mich; wem gehört ein Tisch? Am Abend steht er auf."""
    if clause.verb.lemma == "get up" and clause.time is not None and clause.time.english == "in the evening":
        return True
    subject = clause.subject
    indefinite = isinstance(subject, NounPhrase) and subject.determiner in ("a", *PLURAL_DETERMINERS)
    before_pronoun = any(isinstance(argument, Pronoun) for argument in (clause.direct, clause.indirect))
    return indefinite and (before_pronoun or clause.verb.lemma == "belong to")


def _hides_its_tense(clause: Clause) -> bool:
    """Whether the past looks like the present: "they read", "we put"."""
    base, _, past = clause.verb.forms
    return clause.tense == "past" and base == past and agreement(clause.subject) != "3sg"
