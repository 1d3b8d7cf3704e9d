"""Random sentences: statements, questions, and main clauses with a subordinate or relative clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from toy_grammar.clauses import any_clause, transitive
from toy_grammar.dice import Dice
from toy_grammar.motives import activity, contrast, intention, reason
from toy_grammar.nominals import can_be_subject, object_phrase, person, pronoun_for, subject_phrase
from toy_grammar.nouns import NOUNS, nouns_matching
from toy_grammar.places import location
from toy_grammar.questions import clause_with_gap, wh_question, yes_no_question
from toy_grammar.relatives import relative
from toy_grammar.states import comparison, copula
from toy_grammar.syntax import (
    PLURAL_DETERMINERS,
    Clause,
    Coordination,
    Existence,
    Nominal,
    NounPhrase,
    Sentence,
    Statement,
    Subordination,
)
from toy_grammar.verbs import (
    ASK,
    FORGET_TO,
    HOPE,
    HOPE_TO,
    KNOW_THAT,
    OBLIQUE,
    SAY,
    THINK,
    TRANSITIVE,
    TRY,
)
from toy_grammar.words import Pronoun

_VERBS_WITH_OBJECT = (*TRANSITIVE, *OBLIQUE)
_UNDERTAKINGS = {
    TRY: ("open", "close", "repair", "find", "read", "write", "sell", "call", "cook", "bake", "paint", "carry", "help"),
    FORGET_TO: ("open", "close", "turn off", "tidy up", "wash", "call", "invite", "thank", "pick up"),
    HOPE_TO: ("find", "buy", "sell", "visit", "help", "see"),
}
_EMBEDDED = ("place", "thing", "person", "reason", "time")


def statement(dice: Dice) -> Sentence:
    """The old man reads a book in the garden. Yesterday he read a letter."""
    clause = any_clause(dice)
    return Statement(clause, time_first=clause.time is not None and dice.chance(0.6))


def description(dice: Dice) -> Sentence:
    """The garden is beautiful. The train is longer than the bus."""
    if dice.chance(0.2):
        return Statement(comparison(dice))
    clause = copula(dice)
    return Statement(clause, time_first=clause.time is not None and dice.chance(0.5))


def existence(dice: Dice) -> Sentence:
    """There is an old church in the village."""
    place = dice.pick(("village", "city", "park", "forest"))
    things = ("tree", "house", "bridge") if place in ("park", "forest") else (
        "church", "museum", "bridge", "tower", "school", "market", "park", "station")  # fmt: skip
    what = object_phrase(dice, NOUNS[dice.pick(things)], "indefinite", adjective_chance=0.6)
    if what.determiner == "a" and dice.chance(0.2):
        what = replace(what, determiner="no")
    return Existence(what, location(place))


def subordination(dice: Dice) -> Sentence:
    """because, although, if, when, before, while."""
    kind = dice.weighted({"because": 30, "although": 14, "if": 18, "when": 8, "before": 12, "while": 14})
    first = kind in ("if", "when") or dice.chance(0.25)
    if kind == "while":
        main, subordinate = activity(dice, person(dice)), activity(dice, _somebody_else(dice))
    elif kind == "before":
        main, subordinate = _before(dice)
    else:
        main, subordinate = contrast(dice) if kind == "although" else reason(dice, kind)
    if kind == "when" or (kind != "if" and subordinate.tense == "present" and dice.chance(0.25)):
        main, subordinate = replace(main, tense="past"), replace(subordinate, tense="past")
    if isinstance(main.direct, NounPhrase) and subordinate.subject == pronoun_for(main.direct):
        first = False  # "it" follows what it stands for
    if first:
        main, subordinate = _swapped_subjects(main, subordinate)
    return Subordination(main, kind, subordinate, first)


def _somebody_else(dice: Dice) -> NounPhrase:
    """A person who cannot be taken for the one before, as a pronoun could."""
    return subject_phrase(dice, dice.pick(nouns_matching(("person",))))


def _before(dice: Dice) -> tuple[Clause, Clause]:
    main = activity(dice, person(dice))
    pronoun = pronoun_for(main.subject)
    return main, activity(dice, pronoun if pronoun is not None else person(dice))


def _swapped_subjects(main: Clause, subordinate: Clause) -> tuple[Clause, Clause]:
    """The noun belongs in whichever clause comes first, the pronoun in the second."""
    if isinstance(subordinate.subject, Pronoun) and subordinate.subject == pronoun_for(main.subject):
        return replace(main, subject=subordinate.subject), replace(subordinate, subject=main.subject)
    return main, subordinate


def report(dice: Dice) -> Sentence:
    """The teacher says that ...; I do not know whether ...; she asks where ..."""
    verb = dice.pick((SAY, THINK, HOPE, KNOW_THAT, KNOW_THAT, ASK))
    subject = person(dice)
    doubtful = verb is ASK or (verb is KNOW_THAT and dice.chance(0.6))
    matrix = Clause(subject, verb, negated=verb is KNOW_THAT and doubtful and dice.chance(0.75))
    if doubtful and (dice.chance(0.5) or (not matrix.negated and verb is KNOW_THAT)):
        clause, gap = clause_with_gap(dice, dice.pick(_EMBEDDED))
        return Subordination(matrix, "", clause, gap=gap)
    clause = _reported(dice, subject, certain=not doubtful and verb is not HOPE)
    if doubtful:
        clause = replace(clause, negated=False)
    if verb is HOPE and clause.tense in ("past", "must", "should", "want", "like"):
        clause = replace(clause, tense="future")
    return Subordination(matrix, "whether" if doubtful else "that", clause)


def _reported(dice: Dice, subject: Nominal, certain: bool) -> Clause:
    own = pronoun_for(subject)
    inner = own if own is not None and certain and dice.chance(0.3) else None
    clause = copula(dice, inner) if certain and dice.chance(0.25) else any_clause(dice, inner)
    return replace(clause, frequency=None)


def infinitive(dice: Dice) -> Sentence:
    """The man tries to open the window; she forgot to close the door; he goes to the park to play."""
    if dice.chance(0.4):
        main, purpose = intention(dice)
        return Statement(replace(main, complement=replace(purpose, subject=None), purpose=True))
    verb = dice.pick(tuple(_UNDERTAKINGS))
    subject = person(dice)
    inner = transitive(
        dice,
        dice.pick(
            tuple(v for v in _VERBS_WITH_OBJECT if v.lemma in _UNDERTAKINGS[verb] and can_be_subject(v, subject))
        ),
        subject,
    )
    inner = replace(inner, place=None, subject=None)
    tense = "present" if verb is HOPE_TO else dice.pick(("present", "past"))
    return Statement(Clause(subject, verb, tense, complement=inner))


def coordination(dice: Dice) -> Sentence:
    """The father cooks and the mother reads a book."""
    conjunction = dice.pick(("and", "but"))
    first = activity(dice, person(dice))
    second = activity(dice, _somebody_else(dice))
    if conjunction == "and":
        return Coordination(first, conjunction, second)
    if dice.chance(0.5):
        second = replace(first, subject=second.subject)
    return Coordination(first, conjunction, _denied(second))


def _denied(clause: Clause) -> Clause:
    """The clause negated: she does not read the book, she reads no books."""
    direct = clause.direct
    if isinstance(direct, NounPhrase) and direct.determiner in PLURAL_DETERMINERS:
        direct = replace(direct, determiner="")
    subject = clause.subject
    if isinstance(subject, NounPhrase) and subject.determiner in ("a", *PLURAL_DETERMINERS):
        subject = replace(subject, determiner="the")
    place = clause.place if direct is None else None
    return replace(clause, subject=subject, direct=direct, place=place, negated=True, manner=None)


PATTERNS: dict[Callable[[Dice], Sentence], float] = {
    statement: 39,
    description: 6,
    existence: 2,
    yes_no_question: 9,
    wh_question: 10,
    subordination: 12,
    report: 8,
    infinitive: 4,
    coordination: 3,
    relative: 8,
}


def sentence(dice: Dice) -> Sentence:
    """A sentence of any pattern."""
    return dice.weighted(PATTERNS)(dice)
