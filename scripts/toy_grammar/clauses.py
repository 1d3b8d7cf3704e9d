"""Random clauses: a verb, arguments that suit it, a tense, perhaps a negation, and adverbials."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.dice import Dice
from toy_grammar.nominals import object_phrase, object_pronoun, subject_for, suitable_verb
from toy_grammar.nouns import nouns_matching
from toy_grammar.places import FREQUENCIES, MANNERS, TIMES
from toy_grammar.syntax import PLURAL_DETERMINERS, Clause, Gap, Nominal, NounPhrase
from toy_grammar.verbs import DITRANSITIVE, INTRANSITIVE, OBLIQUE, TRANSITIVE
from toy_grammar.whereabouts import motion, position, put, some_place, spot
from toy_grammar.words import Pronoun, Verb

_TENSES = {"present": 45.0, "past": 27, "can": 6, "must": 6, "should": 5, "want": 6, "future": 8}
_LIKING = _TENSES | {"like": 16}
_UNWILLING = {"present": 50.0, "past": 30, "future": 10}  # things want and must nothing
_STATE = {"present": 70.0, "past": 30}


def any_clause(dice: Dice, subject: Nominal | None = None) -> Clause:
    """A clause of any kind; with `subject`, one that suits it: a person, unless only persons' verbs are wanted."""
    family = dice.weighted(
        {"intransitive": 17, "transitive": 39, "oblique": 15, "ditransitive": 9, "motion": 8, "put": 4, "position": 4}
    )
    return with_circumstances(dice, _FAMILIES[family](dice, subject))


def _intransitive(dice: Dice, subject: Nominal | None) -> Clause:
    return intransitive(dice, suitable_verb(dice, INTRANSITIVE, subject), subject)


def intransitive(dice: Dice, verb: Verb, subject: Nominal | None = None) -> Clause:
    """The man works well in the garden."""
    clause = Clause(subject or subject_for(dice, verb), verb)
    if verb.manners and dice.chance(0.35):
        clause = replace(clause, manner=MANNERS[dice.pick(verb.manners)])
    if verb.places and (verb.frame == "home" or dice.chance(0.5)):
        clause = replace(clause, place=some_place(dice, verb.places))
    if verb.lemma == "sleep" and isinstance(clause.subject, NounPhrase) and clause.subject.noun.is_a("pet"):
        clause = replace(clause, place=spot(dice, clause.subject.noun))
    return clause


def _transitive(dice: Dice, subject: Nominal | None) -> Clause:
    return transitive(dice, suitable_verb(dice, TRANSITIVE, subject), subject)


def _oblique(dice: Dice, subject: Nominal | None) -> Clause:
    return transitive(dice, suitable_verb(dice, OBLIQUE, subject), subject)


def transitive(dice: Dice, verb: Verb, subject: Nominal | None = None, style: str = "") -> Clause:
    """The man reads the book; he helps the child; they wait for the bus."""
    subject = subject or subject_for(dice, verb)
    direct: Nominal
    if verb.has("pronoun") and dice.chance(0.2):
        direct = object_pronoun(dice, subject)
    else:
        chosen = style or next((trait for trait in verb.traits if trait in ("specific", "made", "worn")), "any")
        direct = object_phrase(dice, dice.pick(nouns_matching(verb.objects)), chosen, subject)
    clause = Clause(subject, verb, direct=direct)
    if verb.places and dice.chance(0.22):
        clause = replace(clause, place=some_place(dice, verb.places))
    return clause


def _ditransitive(dice: Dice, subject: Nominal | None) -> Clause:
    verb = dice.pick(DITRANSITIVE)
    subject = subject or subject_for(dice, verb)
    recipient: Nominal
    if dice.chance(0.25):
        recipient = object_pronoun(dice, subject)
    else:
        recipient = object_phrase(dice, dice.pick(nouns_matching(("person",))), "specific", subject, 0.15)
    thing = object_phrase(dice, dice.pick(nouns_matching(verb.objects)), "any", subject)
    last = not isinstance(recipient, Pronoun) and thing.determiner in ("the", "this", "my") and dice.chance(0.6)
    return Clause(subject, verb, indirect=recipient, direct=thing, recipient_last=last)


def with_circumstances(dice: Dice, clause: Clause) -> Clause:
    """The clause in some tense, perhaps negated, perhaps with a time or a frequency."""
    verb = clause.verb
    tense = dice.weighted(tense_weights(clause))
    clause = replace(clause, tense=tense)
    if tense == "like":
        return replace(clause, manner=None, direct=_general(dice, clause))
    if may_be_negated(clause) and dice.chance(0.35 if tense == "must" else 0.16):
        clause = replace(clause, negated=True, manner=None)
    repeated = verb.has("activity") or verb.frame in ("intransitive", "motion")
    if verb.has("present") or verb.frame == "home" or verb.lemma == "have":
        return clause
    if repeated and tense == "present" and not clause.negated and dice.chance(0.2):
        counted = isinstance(clause.direct, NounPhrase) and clause.direct.determiner in PLURAL_DETERMINERS
        return replace(clause, frequency=dice.pick(FREQUENCIES[:-1] if counted else FREQUENCIES))  # never: the last
    if dice.chance(0.27) and not (clause.negated and verb.frame == "ditransitive"):
        times = TIMES[tense if tense in ("present", "past") else "future"]
        times = tuple(t for t in times if t.english != "every day" or (repeated and not clause.negated))
        clause = replace(clause, time=dice.pick(times))
    return clause


def _general(dice: Dice, clause: Clause) -> Nominal | None:
    """What somebody likes to do is done to things in general: liest gern Bücher."""
    direct = clause.direct
    if not isinstance(direct, NounPhrase) or clause.verb.frame != "transitive":
        return direct
    return object_phrase(dice, direct.noun, "general", adjective_chance=0.2)


def is_simple(clause: Clause) -> bool:
    """Whether the German verb stands alone, without an auxiliary or a modal verb."""
    return clause.tense in ("present", "like")


def tense_weights(clause: Clause) -> dict[str, float]:
    """The tenses that suit the verb and its subject."""
    verb = clause.verb
    if verb.has("present"):
        return {"present": 1.0}
    if verb.has("chance"):
        return _UNWILLING
    if verb.lemma == "have":
        return _STATE
    noun = clause.subject.noun if isinstance(clause.subject, (NounPhrase, Gap)) else None
    if noun is not None and not noun.is_a("person"):
        return _UNWILLING
    return _LIKING if verb.has("activity") else _TENSES


def may_be_negated(clause: Clause) -> bool:
    """Not with an indefinite subject or a number of objects, nor with a place besides an object."""
    subject, direct = clause.subject, clause.direct
    if isinstance(subject, NounPhrase) and subject.determiner in ("a", *PLURAL_DETERMINERS):
        return False
    if isinstance(direct, NounPhrase):
        if direct.determiner in PLURAL_DETERMINERS:
            return False
        if clause.verb.preposition is not None and direct.determiner in ("a", ""):
            return False
        if clause.place is not None and clause.verb.frame != "put":
            return False
    return True


_FAMILIES = {
    "intransitive": _intransitive,
    "transitive": _transitive,
    "oblique": _oblique,
    "ditransitive": _ditransitive,
    "motion": motion,
    "put": put,
    "position": position,
}
