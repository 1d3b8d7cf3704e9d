"""Random clauses: a verb, arguments that suit it, a tense, perhaps a negation, and adverbials."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.adjectives import ADJECTIVES, adjectives_for, suits
from toy_grammar.dice import Dice
from toy_grammar.nominals import object_phrase, object_pronoun, person, subject_phrase
from toy_grammar.nouns import NOUNS, nouns_matching
from toy_grammar.places import (
    AT_HOME,
    FREQUENCIES,
    GOALS,
    HOME,
    INSTRUMENTS,
    MANNERS,
    TIMES,
    beside,
    goal,
    location,
    visit,
)
from toy_grammar.syntax import Both, Clause, Gap, Name, Nominal, NounPhrase, Predicate, PrepositionalPhrase
from toy_grammar.verbs import (
    BE,
    DITRANSITIVE,
    GO,
    INTRANSITIVE,
    LIE,
    OBLIQUE,
    PUT_FLAT,
    PUT_UPRIGHT,
    RUN,
    SIT,
    STAND,
    STAY,
    TRANSITIVE,
    TRAVEL,
)
from toy_grammar.words import Adverb, Noun, Pronoun, Verb

_STATES_OF_PEOPLE = ("hungry", "tired", "sick", "happy")
_PASSING = (*_STATES_OF_PEOPLE, "warm", "cold", "empty", "dark")
_RUN_GOALS = ("house", "garden", "forest", "park", "school", "river", "bridge", "kitchen")
_TRAVEL_GOALS = ("city", "village", "museum", "market", "station", "school")
_HOSTS = nouns_matching(("near", "old_kin", "sibling", "doctor"))
_SIT_PLACES = ("garden", "kitchen", "park", "bus", "church")

_TENSES = {"present": 45.0, "past": 27, "can": 6, "must": 6, "should": 5, "want": 6, "future": 8}
_LIKING = _TENSES | {"like": 9}
_UNWILLING = {"present": 50.0, "past": 30, "future": 10}  # things want and must nothing
_STATE = {"present": 70.0, "past": 30}


def any_clause(dice: Dice, subject: Nominal | None = None) -> Clause:
    """A clause of any kind; with `subject`, one that suits it: a person, unless only persons' verbs are wanted."""
    family = dice.weighted(
        {"intransitive": 17, "transitive": 39, "oblique": 15, "ditransitive": 9, "motion": 8, "put": 4, "position": 4}
    )
    return with_circumstances(dice, _FAMILIES[family](dice, subject))


def subject_for(dice: Dice, verb: Verb) -> Nominal:
    """Somebody or something that can do what the verb says."""
    if verb.subjects == ("person",):
        return person(dice)
    nouns = nouns_matching(verb.subjects)
    noun = dice.pick(nouns)
    return (
        person(dice, nouns=tuple(n for n in nouns if n.is_a("person")))
        if noun.is_a("person")
        else subject_phrase(dice, noun)
    )


def can_be_subject(verb: Verb, subject: Nominal | None) -> bool:
    """Whether the verb may have the subject; names and pronouns stand for grown-ups."""
    match subject:
        case NounPhrase(noun=noun) | Gap(noun=Noun() as noun):
            return any(noun.is_a(name) for name in verb.subjects)
        case Both(first=first, second=second):
            return can_be_subject(verb, first) and can_be_subject(verb, second)
        case Name() | Pronoun():
            return bool({"person", "adult"} & set(verb.subjects))
    return True


def _pick_verb(dice: Dice, verbs: tuple[Verb, ...], subject: Nominal | None) -> Verb:
    return dice.pick(tuple(verb for verb in verbs if can_be_subject(verb, subject)) or verbs)


def _intransitive(dice: Dice, subject: Nominal | None) -> Clause:
    return intransitive(dice, _pick_verb(dice, INTRANSITIVE, subject), subject)


def intransitive(dice: Dice, verb: Verb, subject: Nominal | None = None) -> Clause:
    """The man works well in the garden."""
    clause = Clause(subject or subject_for(dice, verb), verb)
    if verb.manners and dice.chance(0.35):
        clause = replace(clause, manner=MANNERS[dice.pick(verb.manners)])
    if verb.places and (verb.frame == "home" or dice.chance(0.5)):
        clause = replace(clause, place=some_place(dice, verb.places))
    elif verb.frame == "home":
        clause = replace(clause, place=some_place(dice, ("city",)))
    if "pet" in verb.subjects and verb.lemma == "sleep" and dice.chance(0.3):
        clause = replace(clause, place=_furniture_place(dice, goal=False))
    return clause


def _transitive(dice: Dice, subject: Nominal | None) -> Clause:
    return transitive(dice, _pick_verb(dice, TRANSITIVE, subject), subject)


def _oblique(dice: Dice, subject: Nominal | None) -> Clause:
    return transitive(dice, _pick_verb(dice, OBLIQUE, subject), subject)


def transitive(dice: Dice, verb: Verb, subject: Nominal | None = None, style: str = "") -> Clause:
    """The man reads the book; he helps the child; they wait for the bus."""
    subject = subject or subject_for(dice, verb)
    direct: Nominal
    if verb.has("animate_pronouns") and dice.chance(0.2):
        direct = object_pronoun(dice, subject)
    else:
        chosen = style or next((trait for trait in verb.traits if trait in ("specific", "indefinite")), "any")
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


def motion(dice: Dice, subject: Nominal | None = None) -> Clause:
    """The boy runs into the house; my aunt travels to the city by train; he goes home."""
    verb = _pick_verb(dice, (GO, GO, RUN, TRAVEL, TRAVEL), subject)
    subject = subject or subject_for(dice, verb)
    place: PrepositionalPhrase | Adverb
    if verb is RUN:
        place = HOME if dice.chance(0.2) else _goal(dice, _RUN_GOALS)
    else:
        kind = dice.weighted({"place": 60, "person": 22, "home": 18})
        host = dice.pick(_HOSTS)
        place = _goal(dice, GOALS if verb is GO else _TRAVEL_GOALS)
        if kind == "person":
            place = visit(host, dice.pick(("my", "our")) if host.is_a("kin") else dice.pick(("the", "my")))
        elif kind == "home":
            place = HOME
    clause = Clause(subject, verb, place=place)
    if verb is TRAVEL and dice.chance(0.6):
        clause = replace(clause, instrument=INSTRUMENTS[dice.pick(tuple(INSTRUMENTS))])
    if verb is RUN and dice.chance(0.3):
        clause = replace(clause, manner=MANNERS[dice.pick(verb.manners)])
    return clause


def _put(dice: Dice, subject: Nominal | None) -> Clause:
    verb = dice.pick((PUT_FLAT, PUT_UPRIGHT))
    subject = subject or subject_for(dice, verb)
    thing = object_phrase(dice, dice.pick(nouns_matching(verb.objects)), "specific", subject)
    return Clause(subject, verb, direct=thing, place=_furniture_place(dice, goal=True, thing=thing.noun))


def position(dice: Dice, subject: Nominal | None = None) -> Clause:
    """The book lies on the table; the cat sits under the chair; my aunt stays at home."""
    verb = _pick_verb(dice, (LIE, STAND, SIT, STAY), subject)
    subject = subject or subject_for(dice, verb)
    if verb is STAY:
        return Clause(
            subject,
            verb,
            place=AT_HOME if dice.chance(0.6) else some_place(dice, ("garden", "village", "city", "room")),
        )
    if verb is SIT:
        there = dice.chance(0.5)
        return Clause(subject, verb, place=some_place(dice, _SIT_PLACES) if there else _seat(dice))
    return Clause(subject, verb, place=_furniture_place(dice, goal=False, thing=_noun_of(subject)))


def _noun_of(nominal: Nominal | None) -> Noun | None:
    return nominal.noun if isinstance(nominal, (NounPhrase, Gap)) else None


def _seat(dice: Dice) -> PrepositionalPhrase:
    preposition, name = dice.pick(
        (
            ("on", "chair"),
            ("on", "bed"),
            ("under", "tree"),
            ("in front of", "house"),
            ("next to", "door"),
            ("on", "bridge"),
        )
    )
    return beside(preposition, object_phrase(dice, NOUNS[name], "specific", None, 0.2), goal=False)


def _furniture_place(dice: Dice, goal: bool, thing: Noun | None = None) -> PrepositionalPhrase:
    """Where a thing is put or lies: on the table, into the box, behind the house."""
    if thing is not None and thing.is_a("vehicle"):
        choices = (
            ("in front of", "house school station museum church"),
            ("behind", "house school station church"),
            ("next to", "house church tree"),
        )
    elif thing is not None and (thing.is_a("container") or thing.is_a("chair")):
        choices = (
            ("next to", "bed door window"),
            ("in front of", "door window"),
            ("behind", "door house"),
            ("under", "window"),
        )
        if not thing.is_a("chair"):
            choices += (("on", "table chair"), ("under", "table bed"))
    elif thing is not None and thing.is_a("upright"):
        choices = (("on", "table chair"), ("next to", "bed window door"), ("in front of", "window"))
    elif thing is not None and thing.is_a("flat"):
        choices = (("on", "table bed chair"), ("under", "table bed chair"), ("in", "bag box"), ("next to", "lamp bed"))
    else:
        choices = (("on", "bed chair"), ("under", "table bed tree"), ("behind", "door house"), ("next to", "bed door"))
    preposition, names = dice.pick(choices)
    return beside(preposition, object_phrase(dice, NOUNS[dice.pick(names.split())], "specific", None, 0.2), goal)


def copula(dice: Dice, subject: Nominal | None = None, noun: Noun | None = None) -> Clause:
    """The garden is very beautiful; the children were tired."""
    if subject is None:
        noun = noun or dice.pick(tuple(candidate for candidate in NOUNS.values() if adjectives_for(candidate)))
        subject = person(dice) if noun.is_a("person") and dice.chance(0.4) else subject_phrase(dice, noun, 0.15)
    choices = predicates(subject)
    degree = dice.weighted({"": 6, "very": 3, "too": 1})
    adjective = dice.pick(choices)
    if degree == "too" and adjective not in (
        "old",
        "young",
        "little",
        "big",
        "expensive",
        "heavy",
        "dark",
        "high",
        "long",
        "cold",
        "warm",
        "tired",
    ):
        degree = "very"
    tense = "past" if dice.chance(0.3 if adjective in _PASSING else 0.08) else "present"
    clause = Clause(
        subject,
        BE,
        tense,
        negated=degree != "too" and dice.chance(0.15),
        predicate=Predicate(ADJECTIVES[adjective], degree),
    )
    if adjective in _PASSING and dice.chance(0.25):
        times = [time for time in TIMES[tense] if time.english != "every day"]
        clause = replace(clause, time=dice.pick(times))
    return clause


def predicates(subject: Nominal | None) -> tuple[str, ...]:
    """The adjectives that may be said of the subject."""
    if isinstance(subject, (NounPhrase, Gap)) and subject.noun is not None:
        used = subject.adjective.lemma if isinstance(subject, NounPhrase) and subject.adjective else ""
        found = tuple(adjective.lemma for adjective in adjectives_for(subject.noun) if adjective.lemma != used)
        if found:
            return found
    return (*_STATES_OF_PEOPLE, "friendly", "old", "young")


def comparison(dice: Dice) -> Clause:
    """The train is longer than the bus."""
    adjective = dice.pick(tuple(adjective for adjective in ADJECTIVES.values() if adjective.comparative))
    nouns = tuple(noun for noun in NOUNS.values() if suits(adjective, noun) and noun.classes[0] != "food")
    first = dice.pick(nouns)
    alike = tuple(noun for noun in nouns if noun.classes[0] == first.classes[0] and noun is not first)
    second = dice.pick(alike or nouns)
    plain = subject_phrase(dice, first, 0.0), subject_phrase(dice, second, 0.0)
    one, other = (
        replace(phrase, determiner=phrase.determiner if phrase.determiner in ("my", "our", "this") else "the")
        for phrase in plain
    )
    return Clause(one, BE, "present", predicate=Predicate(adjective, than=other))


def some_place(dice: Dice, names: tuple[str, ...]) -> PrepositionalPhrase:
    """Where something happens, sometimes with an adjective: in the old garden."""
    name = dice.pick(names)
    choices = adjectives_for(NOUNS[name.removeprefix("from_")])
    if not dice.chance(0.15) or name.startswith("from_"):
        return location(name)
    return location(name, adjective=dice.pick(choices))


def _goal(dice: Dice, names: tuple[str, ...]) -> PrepositionalPhrase:
    name = dice.pick(names)
    choices = adjectives_for(NOUNS[name])
    return goal(name, adjective=dice.pick(choices) if choices and dice.chance(0.15) else None)


def with_circumstances(dice: Dice, clause: Clause) -> Clause:
    """The clause in some tense, perhaps negated, perhaps with a time or a frequency."""
    verb = clause.verb
    tense = dice.weighted(tense_weights(clause))
    clause = replace(clause, tense=tense)
    if tense == "like":
        return replace(clause, manner=None, direct=_general(dice, clause))
    if may_be_negated(clause) and dice.chance(0.16):
        clause = replace(clause, negated=True, manner=None)
    repeated = verb.has("activity") or verb.frame in ("intransitive", "motion")
    if verb.has("present"):
        return clause
    if repeated and tense == "present" and not clause.negated and dice.chance(0.2):
        return replace(clause, frequency=dice.pick(FREQUENCIES))
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


def tense_weights(clause: Clause) -> dict[str, float]:
    """The tenses that suit the verb and its subject."""
    verb = clause.verb
    if verb.has("present"):
        return {"present": 1.0}
    if verb.lemma in ("have", "need"):
        return _STATE
    noun = clause.subject.noun if isinstance(clause.subject, (NounPhrase, Gap)) else None
    if noun is not None and not noun.is_a("person"):
        return _UNWILLING
    return _LIKING if verb.has("activity") else _TENSES


def may_be_negated(clause: Clause) -> bool:
    """Not with an indefinite subject or a number of objects, nor with a place besides an object."""
    subject, direct = clause.subject, clause.direct
    if isinstance(subject, NounPhrase) and subject.determiner in ("a", "two", "three", "many"):
        return False
    if isinstance(direct, NounPhrase):
        if direct.determiner in ("two", "three", "many"):
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
    "put": _put,
    "position": position,
}
