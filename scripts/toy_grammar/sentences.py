"""Random sentences: statements, questions, and main clauses with a subordinate or relative clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from toy_grammar.clauses import any_clause, intransitive, tense_weights, transitive, with_circumstances
from toy_grammar.dice import Dice
from toy_grammar.motives import activity, contrast, intention, reason
from toy_grammar.nominals import can_be_subject, gap_for, object_phrase, person, pronoun_for, subject_phrase
from toy_grammar.nouns import NOUNS, nouns_matching
from toy_grammar.places import location
from toy_grammar.states import comparison, copula
from toy_grammar.syntax import (
    Clause,
    Coordination,
    Existence,
    Gap,
    Nominal,
    NounPhrase,
    Question,
    Sentence,
    Statement,
    Subordination,
)
from toy_grammar.verbs import (
    ASK,
    FORGET_TO,
    HOPE,
    HOPE_TO,
    INTRANSITIVE,
    KNOW_THAT,
    OBLIQUE,
    SAY,
    THINK,
    TRANSITIVE,
    TRY,
)
from toy_grammar.words import Pronoun

_WH_VERBS = (*TRANSITIVE, *OBLIQUE)
_DELIBERATE = (
    "open",
    "close",
    "repair",
    "find",
    "read",
    "write",
    "sell",
    "buy",
    "pick up",
    "call",
    "invite",
    "visit",
    "turn off",
    "tidy up",
    "wash",
    "clean",
    "cook",
    "bake",
    "paint",
    "carry",
    "help",
    "thank",
    "answer",
    "talk to",
)
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
    things = ("tree", "river", "house", "bridge") if place in ("park", "forest") else (
        "church", "museum", "bridge", "tower", "school", "market", "park", "station", "river")  # fmt: skip
    what = object_phrase(dice, NOUNS[dice.pick(things)], "indefinite", adjective_chance=0.6)
    if what.determiner == "a" and dice.chance(0.2):
        what = replace(what, determiner="no")
    return Existence(what, location(place))


def yes_no_question(dice: Dice) -> Sentence:
    """Does the old man read the book?"""
    if dice.chance(0.15):
        return Question(replace(copula(dice), negated=False))
    clause = any_clause(dice)
    return Question(replace(clause, negated=False, frequency=None))


def wh_question(dice: Dice) -> Sentence:
    """Who helps the child? What does the boy buy? Where does she live? Which book does the girl read?"""
    kind = dice.weighted({"subject": 20, "thing": 20, "person": 20, "place": 20, "time": 8, "reason": 12, "which": 14})
    clause, gap = _clause_with_gap(dice, kind)
    return Question(clause, gap)


def _clause_with_gap(dice: Dice, kind: str) -> tuple[Clause, Gap | None]:
    """A clause that a question word of this kind completes."""
    if kind == "subject":
        gap = Gap("person")
        clause = any_clause(dice, gap)
        return replace(clause, negated=False, frequency=None, subject=gap), gap
    if kind in ("time", "reason"):
        clause = replace(any_clause(dice), time=None, frequency=None)
        return replace(clause, negated=clause.negated and kind == "reason"), Gap(kind)
    if kind == "place":
        return _clause_without_place(dice)
    clause = _transitive_clause(dice, "person" if kind == "person" else "thing")
    clause = replace(clause, negated=False, frequency=None, place=None)
    direct = clause.direct
    if kind == "which" and isinstance(direct, NounPhrase):
        return replace(clause, direct=NounPhrase(direct.noun, "which", direct.plural, direct.adjective)), None
    gap = Gap(kind)
    return replace(clause, direct=gap), gap


def _transitive_clause(dice: Dice, kind: str) -> Clause:
    """A clause whose object is a person, or a thing in the accusative."""
    while True:
        clause = with_circumstances(dice, transitive(dice, dice.pick(_WH_VERBS)))
        direct = clause.direct
        if not isinstance(direct, NounPhrase) or direct.noun.is_a("mass") or clause.tense == "like":
            continue
        if kind == "person" and direct.noun.is_a("person"):
            return clause
        thing = not direct.noun.is_a("person") and not direct.noun.is_a("animal")
        if kind == "thing" and thing and clause.verb.preposition is None:
            return clause


def _clause_without_place(dice: Dice) -> tuple[Clause, Gap]:
    while True:
        clause = replace(any_clause(dice), negated=False, frequency=None)
        if clause.place is not None and clause.verb.frame != "put" and clause.verb.lemma not in ("stay", "pick up"):
            gap = Gap("goal" if clause.verb.frame == "motion" else "place")
            return replace(clause, place=gap), gap


def subordination(dice: Dice) -> Sentence:
    """because, although, if, when, before, while."""
    kind = dice.weighted({"because": 30, "although": 14, "if": 18, "when": 8, "before": 12, "while": 14})
    first = kind in ("if", "when") or dice.chance(0.25)
    if kind == "while":
        main, subordinate = activity(dice, person(dice)), activity(dice, person(dice))
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
        clause, gap = _clause_with_gap(dice, dice.pick(_EMBEDDED))
        return Subordination(matrix, "", clause, gap=gap)
    clause = _reported(dice, subject)
    if verb is HOPE and clause.tense in ("past", "must", "should", "want", "like"):
        clause = replace(clause, tense="future")
    return Subordination(matrix, "whether" if doubtful else "that", clause)


def _reported(dice: Dice, subject: Nominal) -> Clause:
    own = pronoun_for(subject)
    inner = own if own is not None and dice.chance(0.3) else None
    clause = copula(dice, inner) if dice.chance(0.2) else any_clause(dice, inner)
    return replace(clause, frequency=None)


def infinitive(dice: Dice) -> Sentence:
    """The man tries to open the window; she forgot to close the door; he goes to the park to play."""
    if dice.chance(0.4):
        main, purpose = intention(dice)
        return Statement(replace(main, complement=replace(purpose, subject=None), purpose=True))
    verb = dice.pick((TRY, FORGET_TO, HOPE_TO))
    subject = person(dice)
    inner = transitive(
        dice, dice.pick(tuple(v for v in _WH_VERBS if v.lemma in _DELIBERATE and can_be_subject(v, subject))), subject
    )
    inner = replace(inner, place=None, subject=None)
    tense = "present" if verb is HOPE_TO else dice.pick(("present", "past"))
    return Statement(Clause(subject, verb, tense, complement=inner))


def coordination(dice: Dice) -> Sentence:
    """The father cooks and the mother reads a book."""
    conjunction = dice.pick(("and", "but"))
    first, second = activity(dice, person(dice)), activity(dice, person(dice))
    if conjunction == "but":
        second = replace(second, negated=True, manner=None, place=None if second.direct else second.place)
    return Coordination(first, conjunction, second)


def relative(dice: Dice) -> Sentence:
    """The woman who lives in the city reads a book. I know the boy whom the teacher helps."""
    if dice.chance(0.5):
        subject = _described(dice, subject_phrase(dice, dice.pick(nouns_matching(_RELATIVE_HEADS)), 0.15))
        if not subject.noun.is_a("person") or dice.chance(0.3):
            return Statement(replace(copula(dice, subject), time=None))
        clause = any_clause(dice, subject)
        return Statement(replace(clause, frequency=None, time=None))
    while True:
        clause = with_circumstances(dice, transitive(dice, dice.pick(_WH_VERBS)))
        phrase = clause.direct
        if (
            isinstance(phrase, NounPhrase)
            and phrase.owner is None
            and not phrase.noun.is_a("kin")
            and clause.tense != "like"
        ):
            break
    clause = replace(clause, negated=False, time=None, frequency=None, place=None)
    return Statement(replace(clause, direct=_described(dice, phrase)))


_RELATIVE_HEADS = ("person", "animal", "reading", "vehicle", "clothes", "cake", "soup", "bag", "picture", "key", "song")


def _described(dice: Dice, phrase: NounPhrase) -> NounPhrase:
    """The phrase with a relative clause, in which it is the subject or the object."""
    phrase = replace(phrase, determiner="the") if phrase.determiner in ("this", "many", "") else phrase
    gap = gap_for("relative", phrase)
    if phrase.noun.is_a("person") and dice.chance(0.6):
        clause = any_clause(dice, gap)
    elif dice.chance(0.3) and (doers := tuple(v for v in INTRANSITIVE if can_be_subject(v, gap))):
        clause = with_circumstances(dice, intransitive(dice, dice.pick(doers), gap))
    else:
        verbs = tuple(
            v for v in _WH_VERBS if any(phrase.noun.is_a(name) for name in v.objects) and "person" in v.subjects
        )
        verb = dice.pick(verbs)
        clause = replace(transitive(dice, verb), direct=gap)
        clause = replace(clause, tense=dice.weighted(tense_weights(clause)), place=None)
        if clause.tense == "like":
            clause = replace(clause, tense="past")
    return replace(phrase, relative=replace(clause, negated=False, time=None, frequency=None, manner=None))


PATTERNS: dict[Callable[[Dice], Sentence], float] = {
    statement: 40,
    description: 6,
    existence: 2,
    yes_no_question: 9,
    wh_question: 10,
    subordination: 12,
    report: 8,
    infinitive: 4,
    coordination: 3,
    relative: 7,
}


def sentence(dice: Dice) -> Sentence:
    """A sentence of any pattern."""
    return dice.weighted(PATTERNS)(dice)
