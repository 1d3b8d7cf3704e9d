"""The word pairs that only the test split combines.

Each pair is an adjective with a noun or a verb with an object. No training or validation sentence contains both words
of a pair, in any form or relation; every test sentence contains at least one pair in its relation.
"""

from __future__ import annotations

from toy_grammar.syntax import Sentence, lemmas, relations

ADJECTIVE_NOUN = (
    ("old", "church"),
    ("young", "doctor"),
    ("small", "village"),
    ("big", "dog"),
    ("new", "bicycle"),
    ("beautiful", "garden"),
    ("red", "dress"),
    ("blue", "coat"),
    ("black", "cat"),
    ("good", "story"),
    ("expensive", "car"),
    ("heavy", "box"),
    ("dark", "forest"),
    ("long", "letter"),
    ("warm", "soup"),
    ("cold", "water"),
    ("fresh", "bread"),
    ("hungry", "boy"),
    ("tired", "student"),
    ("sick", "horse"),
    ("friendly", "teacher"),
    ("happy", "girl"),
    ("empty", "bottle"),
)
VERB_OBJECT = (
    ("eat", "cake"),
    ("buy", "coffee"),
    ("read", "newspaper"),
    ("buy", "lamp"),
    ("sell", "hat"),
    ("see", "train"),
    ("find", "ball"),
    ("look for", "key"),
    ("visit", "grandmother"),
    ("open", "window"),
    ("close", "bag"),
    ("call", "sister"),
    ("invite", "neighbour"),
    ("put on", "shirt"),
    ("repair", "chair"),
    ("carry", "table"),
    ("thank", "uncle"),
    ("know", "policeman"),
    ("help", "child"),
    ("follow", "woman"),
    ("wait for", "bus"),
    ("talk to", "mother"),
    ("think of", "aunt"),
    ("give", "flower"),
    ("show", "picture"),
    ("send", "book"),
)
PAIRS = (*ADJECTIVE_NOUN, *VERB_OBJECT)


def held_out_pairs(sentence: Sentence) -> list[tuple[str, str]]:
    """The held-out pairs that the sentence combines."""
    found = relations(sentence)
    return [pair for pair in PAIRS if pair in found]


def mentions_held_out(sentence: Sentence) -> bool:
    """Whether both words of a held-out pair occur at all: not for training."""
    found = lemmas(sentence)
    return any(first in found and second in found for first, second in PAIRS)
