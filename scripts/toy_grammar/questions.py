"""Random questions, and the clauses with a gap that indirect questions share with them."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.clauses import any_clause, is_simple, transitive, with_circumstances
from toy_grammar.dice import Dice
from toy_grammar.states import copula
from toy_grammar.syntax import Clause, Gap, NounPhrase, Question, Sentence, agreement
from toy_grammar.verbs import OBLIQUE, TRANSITIVE

_VERBS_WITH_OBJECT = (*TRANSITIVE, *OBLIQUE)
# Only these begin a question with a form of their own: each then begins enough of them to be learnt.
_ASKED_FIRST = ("be", "have", "go", "read", "eat", "drink", "buy", "live", "sleep", "play", "know", "love", "help")


def yes_no_question(dice: Dice) -> Sentence:
    """Does the old man read the book?"""
    if dice.chance(0.15):
        return Question(replace(copula(dice), negated=False))
    simple = dice.chance(0.5)
    while True:
        clause = any_clause(dice)
        about_me = agreement(clause.subject) == "1sg" and clause.tense not in ("can", "must", "should")
        if is_simple(clause) == simple and not about_me and (not simple or clause.verb.lemma in _ASKED_FIRST):
            return Question(replace(clause, negated=False, frequency=None))


def wh_question(dice: Dice) -> Sentence:
    """Who helps the child? What does the boy buy? Where does she live? Which book does the girl read?"""
    kind = dice.weighted({"subject": 20, "thing": 20, "person": 20, "place": 20, "time": 8, "reason": 12, "which": 14})
    clause, gap = clause_with_gap(dice, kind)
    return Question(clause, gap)


def clause_with_gap(dice: Dice, kind: str) -> tuple[Clause, Gap | None]:
    """A clause that a question word of this kind completes."""
    if kind == "subject":
        gap = Gap("person")
        clause = any_clause(dice, gap)
        return replace(clause, negated=False, frequency=None, subject=gap), gap
    if kind == "reason":
        return replace(any_clause(dice), time=None, frequency=None), Gap(kind)
    if kind == "time":
        clause = any_clause(dice)
        while clause.verb.has("present") or clause.verb.frame == "home" or clause.verb.lemma in ("have", "stay"):
            clause = any_clause(dice)
        return replace(clause, time=None, frequency=None, negated=False), Gap(kind)
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
        clause = with_circumstances(dice, transitive(dice, dice.pick(_VERBS_WITH_OBJECT)))
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
