"""Random sentences with a relative clause, about their subject or their object."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.clauses import any_clause, intransitive, tense_weights, transitive, with_circumstances
from toy_grammar.dice import Dice
from toy_grammar.nominals import can_be_subject, gap_for, subject_phrase
from toy_grammar.nouns import nouns_matching
from toy_grammar.states import copula
from toy_grammar.syntax import NounPhrase, Sentence, Statement
from toy_grammar.verbs import INTRANSITIVE, OBLIQUE, TRANSITIVE
from toy_grammar.words import PRONOUNS

_VERBS_WITH_OBJECT = (*TRANSITIVE, *OBLIQUE)
_RELATIVE_HEADS = tuple(
    noun
    for noun in nouns_matching(
        ("person", "animal", "reading", "vehicle", "clothes", "cake", "soup", "bag", "picture", "key", "song")
    )
    if not noun.is_a("related")
)


def relative(dice: Dice) -> Sentence:
    """The woman who lives in the city reads a book. I know the boy whom the teacher helps."""
    if dice.chance(0.5):
        subject = _described(dice, subject_phrase(dice, dice.pick(_RELATIVE_HEADS), 0.15))
        if not subject.noun.is_a("person") or dice.chance(0.3):
            return Statement(replace(copula(dice, subject), time=None))
        clause = any_clause(dice, subject)
        subject = _at_the_time(subject, clause.tense)
        return Statement(replace(clause, subject=subject, frequency=None, time=None))
    while True:
        clause = with_circumstances(dice, transitive(dice, dice.pick(_VERBS_WITH_OBJECT)))
        phrase = clause.direct
        if (
            isinstance(phrase, NounPhrase)
            and phrase.owner is None
            and not phrase.noun.is_a("related")
            and clause.tense in ("present", "past")
        ):
            break
    clause = replace(clause, negated=False, time=None, frequency=None, place=None)
    return Statement(replace(clause, direct=_at_the_time(_described(dice, phrase), clause.tense)))


def _at_the_time(phrase: NounPhrase, tense: str) -> NounPhrase:
    """The phrase, its relative clause in the past where the main clause is."""
    if tense == "past" and phrase.relative is not None and not phrase.relative.verb.has("present"):
        return replace(phrase, relative=replace(phrase.relative, tense="past"))
    return phrase


def _described(dice: Dice, phrase: NounPhrase) -> NounPhrase:
    """The phrase with a relative clause, in which it is the subject or the object."""
    phrase = phrase if phrase.determiner in ("a", "two", "three") else replace(phrase, determiner="the")
    gap = gap_for("relative", phrase)
    if phrase.noun.is_a("person") and dice.chance(0.6):
        clause = any_clause(dice, gap)
    elif dice.chance(0.3) and (doers := tuple(v for v in INTRANSITIVE if can_be_subject(v, gap))):
        clause = with_circumstances(dice, intransitive(dice, dice.pick(doers), gap))
    else:
        possible = (v for v in _VERBS_WITH_OBJECT if v.frame != "prepositional" and can_be_subject(v, PRONOUNS["he"]))
        verbs = tuple(v for v in possible if any(phrase.noun.is_a(name) for name in v.objects))
        verb = dice.pick(verbs)
        clause = replace(transitive(dice, verb), direct=gap)
        tense = dice.weighted(tense_weights(clause))
        finished = tense == "like" or (not verb.has("present") and dice.chance(0.6))
        clause = replace(clause, tense="past" if finished else tense, place=None)
    return replace(phrase, relative=replace(clause, negated=False, time=None, frequency=None, manner=None))
