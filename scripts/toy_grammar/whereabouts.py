"""Random clauses about where somebody goes, where a thing is put, and where it then is."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.adjectives import adjectives_for
from toy_grammar.dice import Dice
from toy_grammar.nominals import object_phrase, subject_for, suitable_verb
from toy_grammar.nouns import NOUNS, nouns_matching
from toy_grammar.places import AT_HOME, GOALS, HOME, INSTRUMENTS, MANNERS, beside, goal, location, visit
from toy_grammar.syntax import Clause, Gap, Nominal, NounPhrase, PrepositionalPhrase
from toy_grammar.verbs import GO, LIE, PUT_FLAT, PUT_UPRIGHT, RUN, SIT, STAND, STAY, TRAVEL
from toy_grammar.words import Adjective, Adverb, Noun

_RUN_GOALS = ("house", "garden", "forest", "park", "school", "bridge", "kitchen")
_TRAVEL_GOALS = ("city", "village", "museum", "market", "station", "school")
_HOSTS = nouns_matching(("near", "old_kin", "sibling", "doctor"))
_STAY_PLACES = ("garden", "village", "city", "room")
_SIT_PLACES = ("garden", "kitchen", "park", "bus", "church")
_SEATS = (
    ("on", "chair bed bridge"),
    ("under", "tree"),
    ("in front of", "house"),
    ("next to", "door window"),
)

# Where things of a class are put or are: (preposition, nouns).
_SPOTS = {
    "vehicle": (
        ("in front of", "house school station museum church"),
        ("behind", "house school station church"),
        ("next to", "house church tree"),
    ),
    "chair": (("next to", "bed door window"), ("in front of", "door window"), ("behind", "door"), ("under", "window")),
    "container": (
        ("next to", "bed door window"),
        ("in front of", "door window"),
        ("behind", "door house"),
        ("on", "table chair"),
        ("under", "table bed"),
    ),
    "upright": (("on", "table chair"), ("next to", "bed window door"), ("in front of", "window")),
    "flat": (("on", "table bed chair"), ("under", "table bed chair"), ("in", "bag box"), ("next to", "lamp bed")),
    "animal": (("on", "bed chair"), ("under", "table bed tree"), ("behind", "door house"), ("next to", "bed door")),
}


def motion(dice: Dice, subject: Nominal | None = None) -> Clause:
    """The boy runs into the house; my aunt travels to the city by train; he goes home."""
    verb = suitable_verb(dice, (GO, GO, RUN, TRAVEL, TRAVEL), subject)
    subject = subject or subject_for(dice, verb)
    clause = Clause(subject, verb, place=_destination(dice, verb is RUN, GOALS if verb is GO else _TRAVEL_GOALS))
    if verb is TRAVEL and dice.chance(0.6):
        clause = replace(clause, instrument=INSTRUMENTS[dice.pick(tuple(INSTRUMENTS))])
    if verb is RUN and dice.chance(0.3):
        clause = replace(clause, manner=MANNERS[dice.pick(verb.manners)])
    return clause


def _destination(dice: Dice, running: bool, goals: tuple[str, ...]) -> PrepositionalPhrase | Adverb:
    kind = dice.weighted({"place": 60, "person": 0 if running else 22, "home": 18})
    if kind == "home":
        return HOME
    if kind == "person":
        host = dice.pick(_HOSTS)
        return visit(host, dice.pick(("my", "our")) if host.is_a("related") else dice.pick(("the", "my")))
    name = dice.pick(_RUN_GOALS if running else goals)
    return goal(name, adjective=_sometimes_adjective(dice, NOUNS[name]))


def put(dice: Dice, subject: Nominal | None = None) -> Clause:
    """She puts the key into her bag (legt); he puts the cup on the table (stellt)."""
    verb = dice.pick((PUT_FLAT, PUT_UPRIGHT))
    subject = subject or subject_for(dice, verb)
    thing = object_phrase(dice, dice.pick(nouns_matching(verb.objects)), "specific", subject)
    return Clause(subject, verb, direct=thing, place=spot(dice, thing.noun, is_goal=True))


def position(dice: Dice, subject: Nominal | None = None) -> Clause:
    """The book lies on the table; the cat sits under the chair; my aunt stays at home."""
    verb = suitable_verb(dice, (LIE, STAND, SIT, STAY), subject)
    subject = subject or subject_for(dice, verb)
    if verb is STAY:
        return Clause(subject, verb, place=AT_HOME if dice.chance(0.6) else some_place(dice, _STAY_PLACES))
    if verb is SIT:
        return Clause(subject, verb, place=some_place(dice, _SIT_PLACES) if dice.chance(0.5) else _beside(dice, _SEATS))
    if not isinstance(subject, (NounPhrase, Gap)) or subject.noun is None:
        raise ValueError("only things lie and stand")
    return Clause(subject, verb, place=spot(dice, subject.noun))


def spot(dice: Dice, thing: Noun, is_goal: bool = False) -> PrepositionalPhrase:
    """Where a thing is put or lies: on the table, into the box, behind the house."""
    return _beside(dice, next(spots for name, spots in _SPOTS.items() if thing.is_a(name)), is_goal)


def _beside(dice: Dice, spots: tuple[tuple[str, str], ...], is_goal: bool = False) -> PrepositionalPhrase:
    preposition, names = dice.pick(spots)
    return beside(preposition, object_phrase(dice, NOUNS[dice.pick(names.split())], "specific", None, 0.2), is_goal)


def some_place(dice: Dice, names: tuple[str, ...]) -> PrepositionalPhrase:
    """Where something happens, sometimes with an adjective: in the old garden."""
    name = dice.pick(names)
    if name.startswith("from_"):
        return location(name)
    return location(name, adjective=_sometimes_adjective(dice, NOUNS[name]))


def _sometimes_adjective(dice: Dice, noun: Noun) -> Adjective | None:
    choices = adjectives_for(noun)
    return dice.pick(choices) if choices and dice.chance(0.15) else None
