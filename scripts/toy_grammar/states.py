"""Random clauses with "be": what somebody or something is like, and comparisons."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.adjectives import ADJECTIVES, adjectives_for, rivals, suits
from toy_grammar.dice import Dice
from toy_grammar.nominals import person, subject_phrase
from toy_grammar.nouns import NOUNS
from toy_grammar.places import TIMES
from toy_grammar.syntax import Clause, Gap, Nominal, NounPhrase, Predicate
from toy_grammar.verbs import BE
from toy_grammar.words import Adjective

STATES = ("hungry", "tired", "sick", "happy")
_PASSING = (*STATES, "warm", "cold", "empty", "dark")
_EXCESSIVE = ("old", "young", "small", "big", "expensive", "heavy", "dark", "tall", "long", "cold", "warm", "tired")
_DESCRIBED = tuple(noun for noun in NOUNS.values() if adjectives_for(noun))
_COMPARABLE = tuple(noun for noun in NOUNS.values() if not noun.is_a("food") and not noun.is_a("drink"))


def copula(dice: Dice, subject: Nominal | None = None) -> Clause:
    """The garden is very beautiful; the children were tired."""
    if subject is None:
        noun = dice.pick(_DESCRIBED)
        subject = person(dice) if noun.is_a("person") and dice.chance(0.4) else subject_phrase(dice, noun, 0.15)
        if isinstance(subject, NounPhrase) and subject.determiner == "a":
            subject = replace(subject, determiner="the")
    adjective = dice.pick(predicates(subject))
    graded = adjective.lemma not in ("red", "blue", "black", "empty", "new")
    degree = dice.weighted({"": 6, "very": 3 if graded else 0, "too": 1 if adjective.lemma in _EXCESSIVE else 0})
    passing = adjective.lemma in _PASSING
    tense = "past" if passing and dice.chance(0.35) else "present"
    negated = degree != "too" and not _is_number(subject) and dice.chance(0.15)
    clause = Clause(subject, BE, tense, negated, predicate=Predicate(adjective, degree))
    if passing and dice.chance(0.25):
        clause = replace(clause, time=dice.pick(TIMES["past"]) if tense == "past" else TIMES["present"][0])
    return clause


def _is_number(subject: Nominal) -> bool:
    return isinstance(subject, NounPhrase) and subject.determiner in ("a", "two", "three", "many")


def predicates(subject: Nominal) -> tuple[Adjective, ...]:
    """The adjectives that may be said of the subject."""
    if isinstance(subject, NounPhrase):
        taken = rivals(subject.adjective) if subject.adjective else ()
        choices = adjectives_for(subject.noun)
        found = tuple(adjective for adjective in choices if adjective.lemma not in taken) or choices
    elif isinstance(subject, Gap) and subject.noun is not None:
        found = adjectives_for(subject.noun)
    else:
        found = ()
    return found or tuple(ADJECTIVES[name] for name in (*STATES, "friendly"))


def comparison(dice: Dice) -> Clause:
    """The train is longer than the bus."""
    adjective = dice.pick(tuple(adjective for adjective in ADJECTIVES.values() if adjective.comparative))
    nouns = tuple(noun for noun in _COMPARABLE if suits(adjective, noun))
    first = dice.pick(nouns)
    alike = tuple(noun for noun in nouns if noun.classes[0] == first.classes[0] and noun is not first)
    one, other = _plain(dice, NounPhrase(first)), _plain(dice, NounPhrase(dice.pick(alike or nouns)))
    return Clause(one, BE, predicate=Predicate(adjective, than=other))


def _plain(dice: Dice, phrase: NounPhrase) -> NounPhrase:
    """The noun with a definite determiner: the, my, our or this."""
    found = subject_phrase(dice, phrase.noun, 0.0)
    kept = found.determiner in ("the", "my", "our", "this") and not found.plural
    return found if kept or phrase.noun.is_a("related") else phrase
