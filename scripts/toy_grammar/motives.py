"""Why people do things: pairs of clauses that make sense together."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.adjectives import ADJECTIVES, suits
from toy_grammar.clauses import intransitive, transitive
from toy_grammar.dice import Dice
from toy_grammar.nominals import SUN, WEATHER, can_be_subject, object_phrase, person, pronoun_for
from toy_grammar.nouns import nouns_matching
from toy_grammar.places import AT_HOME, HOME, goal, location
from toy_grammar.syntax import Clause, Nominal, NounPhrase, Predicate
from toy_grammar.verbs import BE, GO, INTRANSITIVE, OBLIQUE, RAIN, SHINE, STAY, TRANSITIVE
from toy_grammar.whereabouts import motion
from toy_grammar.words import PRONOUNS, Verb

_WITH_OBJECT = {verb.lemma: verb for verb in (*TRANSITIVE, *OBLIQUE)}
_WITHOUT_OBJECT = {verb.lemma: verb for verb in INTRANSITIVE}

# What somebody does who is hungry, tired, sick or happy; "!" for what he does not do.
_THEREFORE = {
    "hungry": ("eat:food", "eat:food", "buy:food", "cook:soup egg fish", "bake:bread cake"),
    "tired": ("sleep", "go home", "stay at home", "drink:coffee tea", "dance!", "sleep", "fall asleep"),
    "sick": ("sleep", "stay at home", "drink:tea water", "call:doctor", "visit:kin near!", "dance!"),
    "happy": ("sing", "dance", "laugh", "sing:song"),
}
_NEVERTHELESS = {
    "hungry": ("sleep", "work", "eat:food!", "read:reading", "sell:egg apple"),
    "tired": ("work", "dance", "read:reading", "repair:car", "tidy up:room kitchen", "visit:kin", "sleep!"),
    "sick": ("work", "sing", "travel", "visit:kin near", "wash:car", "dance"),
    "happy": ("sing!", "dance!", "laugh!"),
}
# Deeds with a quality of the object that speaks for them or, in the second table, against them.
_ATTRACTIVE = {
    "buy": ("beautiful", "good", "fresh", "new"),
    "sell": ("old", "too big", "too small"),
    "read": ("good", "beautiful"),
    "eat": ("fresh", "good", "warm"),
    "drink": ("warm", "cold", "fresh"),
    "put on": ("warm", "new", "beautiful"),
    "repair": ("old",),
    "love": ("beautiful",),
}
_UNATTRACTIVE = {
    "buy": ("expensive", "old", "too expensive"),
    "carry": ("heavy", "too heavy"),
    "read": ("long", "old"),
    "eat": ("cold",),
    "drink": ("cold",),
    "put on": ("old",),
    "repair": ("old",),
    "sell": ("beautiful", "new"),
}
# Places one goes to, and what for.
_PURPOSES = {
    "kitchen": ("cook:soup egg fish", "drink:drink", "bake:cake bread", "eat:food", "open:window"),
    "garden": ("play", "read:reading", "eat:apple cake", "sleep", "sing", "paint:tree flower bird", "wash:car dog"),
    "park": ("play", "read:book newspaper", "paint:tree bird", "dance", "sing", "look for:pet", "play with:ball pet"),
    "market": ("buy:food flower", "sell:egg apple cake"),
    "city": ("buy:clothes ware", "visit:museum church kin near", "work", "sell:bicycle picture"),
    "village": ("visit:kin church", "buy:horse egg"),
    "station": ("wait for:train", "pick up:kin near"),
    "room": ("sleep", "read:reading", "write:letter story", "tidy up:room", "look for:key bag book"),
    "forest": ("look for:dog ball", "paint:tree", "sing"),
    "museum": ("see:picture", "paint:picture"),
}
_FAIR, _FOUL = ("sun", "good", "beautiful"), ("rain", "cold", "bad")
_OUTDOORS = ("play@garden", "play@park", "read:book@garden", "go@park", "go@forest", "eat:cake@garden", "sing@garden")
_INDOORS = ("stay at home", "play@room", "read:book@room", "go home", "work!@garden", "cook:soup", "drink:tea@kitchen")


def deed(dice: Dice, code: str, subject: Nominal) -> Clause | None:
    """The clause that a table entry stands for: verb, ":" and its objects, "!" for not, "@" and a place.

    None where the verb does not suit the subject.
    """
    code, _, place = code.partition("@")
    negated, code = code.endswith("!"), code.removesuffix("!")
    name, _, objects = code.partition(":")
    if name in ("go home", "go", "stay at home"):
        where = {"go home": HOME, "stay at home": AT_HOME}.get(name) or goal(place)
        return Clause(subject, STAY if name == "stay at home" else GO, place=where, negated=negated)
    if name == "travel":
        return motion(dice, subject)
    verb = (_WITH_OBJECT if objects else _WITHOUT_OBJECT)[name]
    if not can_be_subject(verb, subject):
        return None
    clause = _with_object(dice, verb, objects, subject, negated) if objects else Clause(subject, verb)
    return replace(clause, negated=negated, place=location(place) if place else None)


def _with_object(dice: Dice, verb: Verb, objects: str, subject: Nominal, negated: bool) -> Clause:
    noun = dice.pick(nouns_matching(tuple(objects.split())))
    style = "specific" if verb.has("specific") or verb.preposition else "general" if negated else "any"
    return Clause(subject, verb, direct=object_phrase(dice, noun, style, subject, 0.2))


def activity(dice: Dice, subject: Nominal, tense: str = "present") -> Clause:
    """Something that goes on for a while and may be watched."""
    verbs = tuple(v for v in (*INTRANSITIVE, *TRANSITIVE, *OBLIQUE) if v.has("activity") and can_be_subject(v, subject))
    verb = dice.pick(verbs)
    clause = intransitive(dice, verb, subject) if verb.frame == "intransitive" else transitive(dice, verb, subject)
    return replace(clause, tense=tense)


def _somebody(dice: Dice) -> Nominal:
    """A person whom a pronoun can take up again, without an adjective."""
    while True:
        subject = person(dice)
        if pronoun_for(subject) is not None:
            return replace(subject, adjective=None) if isinstance(subject, NounPhrase) else subject


def _being(dice: Dice, state: str, subject: Nominal | None) -> Clause:
    degree, _, name = state.rpartition(" ")
    return Clause(subject, BE, predicate=Predicate(ADJECTIVES[name], degree))


def reason(dice: Dice, kind: str) -> tuple[Clause, Clause]:
    """What somebody does, and the cause ("because") or condition ("if", "when") of it."""
    if kind == "when":
        return _by_state(dice, _THEREFORE)
    if kind == "if":
        return _by_state(dice, _THEREFORE) if dice.chance(0.5) else _by_weather(dice, against=False)
    choice = dice.weighted({"state": 30, "object": 30, "intention": 25, "weather": 15})
    if choice == "state":
        return _by_state(dice, _THEREFORE)
    if choice == "object":
        return _by_object(dice, _ATTRACTIVE)
    if choice == "weather":
        return _by_weather(dice, against=False)
    main, purpose = intention(dice)
    return main, replace(purpose, subject=pronoun_for(main.subject), tense="want")


def contrast(dice: Dice) -> tuple[Clause, Clause]:
    """What somebody does, and what speaks against it ("although")."""
    choice = dice.weighted({"state": 40, "object": 40, "weather": 20})
    if choice == "state":
        return _by_state(dice, _NEVERTHELESS)
    return _by_object(dice, _UNATTRACTIVE) if choice == "object" else _by_weather(dice, against=True)


def _by_state(dice: Dice, table: dict[str, tuple[str, ...]]) -> tuple[Clause, Clause]:
    while True:
        subject, state = _somebody(dice), dice.pick(tuple(table))
        main = deed(dice, dice.pick(table[state]), subject)
        if main is not None:
            return main, _being(dice, state, pronoun_for(subject))


def _by_object(dice: Dice, table: dict[str, tuple[str, ...]]) -> tuple[Clause, Clause]:
    while True:
        verb = _WITH_OBJECT[dice.pick(tuple(table))]
        state = dice.pick(table[verb.lemma])
        adjective = ADJECTIVES[state.rpartition(" ")[2]]
        nouns = tuple(noun for noun in nouns_matching(verb.objects) if suits(adjective, noun) and not noun.is_a("kin"))
        subject = _somebody(dice)
        if nouns and can_be_subject(verb, subject):
            thing = object_phrase(dice, dice.pick(nouns), dice.pick(("specific", "any")), subject, 0.0)
            if thing.determiner != "":
                return Clause(subject, verb, direct=thing), _being(dice, state, pronoun_for(thing))


def _by_weather(dice: Dice, against: bool) -> tuple[Clause, Clause]:
    fair = dice.chance(0.5)
    sky = dice.pick(_FAIR if fair else _FOUL)
    while True:
        main = deed(dice, dice.pick(_OUTDOORS if fair != against else _INDOORS), person(dice))
        if main is not None:
            return main, _weather(dice, sky)


def _weather(dice: Dice, sky: str) -> Clause:
    if sky == "sun":
        return Clause(SUN, SHINE)
    if sky == "rain":
        return Clause(PRONOUNS["it_n"], RAIN)
    return _being(dice, sky, PRONOUNS["it_n"] if sky == "cold" else WEATHER)


def intention(dice: Dice) -> tuple[Clause, Clause]:
    """Where somebody goes, and what for."""
    while True:
        subject, place = person(dice), dice.pick(tuple(_PURPOSES))
        purpose = deed(dice, dice.pick(_PURPOSES[place]), subject)
        if purpose is not None and pronoun_for(subject) is not None:
            return Clause(subject, GO, place=goal(place)), purpose
