"""The abstract structure of a sentence, shared by both languages.

A structure says who does what to whom, when and where. `english` and `german` each turn it into words, so the two
sides of a pair mean the same by construction, and each keeps to the word order of its own language.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from toy_grammar.words import Adjective, Adverb, Noun, Pronoun, Verb

PLURAL_DETERMINERS = ("two", "three", "many")


@dataclass(frozen=True)
class NounPhrase:
    """Determiner, adjective, noun; then an owner ("the teacher's dog", genitive) or a relative clause.

    `determiner` is the English word in its singular form, "" for none. The relative clause holds one `Gap`.
    """

    noun: Noun
    determiner: str = "the"
    plural: bool = False
    adjective: Adjective | None = None
    owner: NounPhrase | None = None
    relative: Clause | None = None


@dataclass(frozen=True)
class Name:
    """A first name, the same in both languages."""

    text: str
    gender: str


@dataclass(frozen=True)
class Both:
    """Two noun phrases joined by "and"."""

    first: NounPhrase
    second: NounPhrase


@dataclass(frozen=True)
class Gap:
    """The place in a clause that a question word or a relative pronoun fills.

    `kind`: person, thing, place, goal, time or reason in a question; relative in a relative clause, which takes the
    number and gender of the noun before it.
    """

    kind: str
    noun: Noun | None = None
    plural: bool = False


Nominal = NounPhrase | Name | Both | Pronoun | Gap


@dataclass(frozen=True)
class PrepositionalPhrase:
    """A preposition of each language, and the case that the German one governs here."""

    english: str
    german: str
    case: str
    object: Nominal


@dataclass(frozen=True)
class Predicate:
    """An adjective after "be"; with `than`, a comparison. `degree`: "", very or too."""

    adjective: Adjective
    degree: str = ""
    than: NounPhrase | None = None


@dataclass(frozen=True)
class Clause:
    """A verb with its arguments and adverbials.

    `tense`: present, past, future, can, must, should, want ("wants to read", "will lesen"), like ("likes to read",
    "liest gern"). `direct` is also the object of a verb that governs the dative or a preposition. `complement` is a
    clause without a subject: "to" + infinitive, or with `purpose` "to" in the sense of "um ... zu".
    """

    subject: Nominal | None
    verb: Verb
    tense: str = "present"
    negated: bool = False
    indirect: Nominal | None = None
    direct: Nominal | None = None
    predicate: Predicate | None = None
    time: Adverb | None = None
    frequency: Adverb | None = None
    manner: Adverb | None = None
    instrument: Adverb | None = None
    place: PrepositionalPhrase | Adverb | Gap | None = None
    complement: Clause | None = None
    purpose: bool = False
    recipient_last: bool = False


@dataclass(frozen=True)
class Statement:
    """A main clause; with `time_first` its time adverbial comes first, and German inverts."""

    clause: Clause
    time_first: bool = False


@dataclass(frozen=True)
class Question:
    """A yes/no question, or a wh-question about the one gap of the clause."""

    clause: Clause
    gap: Gap | None = None


@dataclass(frozen=True)
class Subordination:
    """A main clause with a subordinate clause, introduced by an English conjunction or by the gap of the clause."""

    main: Clause
    conjunction: str
    subordinate: Clause
    subordinate_first: bool = False
    gap: Gap | None = None


@dataclass(frozen=True)
class Coordination:
    """Two main clauses joined by "and" or "but"."""

    first: Clause
    conjunction: str
    second: Clause


@dataclass(frozen=True)
class Existence:
    """There is something somewhere: "there is", "es gibt"."""

    what: NounPhrase
    place: PrepositionalPhrase


Sentence = Statement | Question | Subordination | Coordination | Existence


def agreement(subject: Nominal | None) -> str:
    """Person and number that the verb takes: 1sg, 3sg, 1pl or 3pl."""
    match subject:
        case Pronoun():
            return subject.agreement
        case Both():
            return "3pl"
        case NounPhrase() | Gap():
            return "3pl" if subject.plural else "3sg"
    return "3sg"


def walk(node: object) -> Iterator[object]:
    """Every node of a structure, the whole one first, down to the words."""
    yield node
    if is_dataclass(node) and not isinstance(node, (Noun, Verb, Adjective)):
        for field in fields(node):
            value = getattr(node, field.name)
            if is_dataclass(value):
                yield from walk(value)


def lemmas(sentence: object) -> frozenset[str]:
    """The lemmas of all nouns, verbs and adjectives in a sentence."""
    found: list[str] = []
    for node in walk(sentence):
        if isinstance(node, (Noun, Verb, Adjective)):
            found.append(node.lemma)
        elif isinstance(node, Adverb):
            found.extend(node.lemmas)
    return frozenset(found)


def relations(sentence: object) -> frozenset[tuple[str, str]]:
    """The (adjective, noun) and (verb, object) pairs of a sentence, by lemma.

    An adjective counts before its noun and as a predicate; an object counts in a relative clause too ("the book that
    he reads"). The subject of a relative clause is no object.
    """
    found: list[tuple[str, str]] = []
    for node in walk(sentence):
        if isinstance(node, NounPhrase) and node.adjective is not None:
            found.append((node.adjective.lemma, node.noun.lemma))
        if isinstance(node, Clause):
            for noun in (*_nouns_of(node.direct), *_nouns_of(node.indirect)):
                found.append((node.verb.lemma, noun.lemma))
            if node.predicate is not None:
                found.extend((node.predicate.adjective.lemma, noun.lemma) for noun in _nouns_of(node.subject))
    return frozenset(found)


def _nouns_of(nominal: Nominal | None) -> tuple[Noun, ...]:
    match nominal:
        case NounPhrase(noun=noun):
            return (noun,)
        case Both(first=first, second=second):
            return (first.noun, second.noun)
        case Gap(noun=Noun() as noun):
            return (noun,)
    return ()
