"""Why people do things: pairs of clauses that make sense together."""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.adjectives import ADJECTIVES, suits
from toy_grammar.clauses import intransitive, may_be_negated, motion, subject_for, tense_weights, transitive
from toy_grammar.dice import Dice
from toy_grammar.nominals import SUN, WEATHER, object_phrase, person, pronoun_for
from toy_grammar.nouns import nouns_matching
from toy_grammar.places import AT_HOME, HOME, goal, location
from toy_grammar.syntax import Clause, Nominal, NounPhrase, Predicate
from toy_grammar.verbs import BE, GO, INTRANSITIVE, RAIN, SHINE, STAY, TRANSITIVE
from toy_grammar.words import PRONOUNS, Verb

_VERBS = {verb.lemma: verb for verb in (*INTRANSITIVE, *TRANSITIVE)} | {
    verb.lemma + " it": verb for verb in TRANSITIVE if verb.lemma in ("cook", "sing")
}

# What somebody does who is hungry, tired, sick or happy; "!" for what he does not do.
_THEREFORE = {
    "hungry": ("eat", "eat", "buy:food", "cook:food", "bake"),
    "tired": ("sleep", "go home", "stay at home", "drink:coffee tea", "dance!", "work!", "fall asleep"),
    "sick": ("sleep", "stay at home", "drink:tea water", "work!", "call:doctor", "visit!", "dance!"),
    "happy": ("sing", "dance", "laugh", "sing:song"),
}
_NEVERTHELESS = {
    "hungry": ("sleep", "work", "eat!", "read", "sell:egg apple banana"),
    "tired": ("work", "dance", "read", "repair", "tidy up", "visit", "write", "sleep!"),
    "sick": ("work", "sing", "travel", "visit", "eat", "clean", "dance"),
    "happy": ("sing!", "dance!", "laugh!"),
}
# Deeds with a quality of the object that speaks for them or, in the second table, against them.
_ATTRACTIVE = {
    "buy": ("beautiful", "good", "fresh", "new", "sweet"),
    "sell": ("old", "too big", "too little"),
    "read": ("good", "beautiful"),
    "eat": ("fresh", "sweet", "good", "warm"),
    "drink": ("warm", "cold", "fresh"),
    "put on": ("warm", "new", "beautiful"),
    "repair": ("old",),
    "love": ("beautiful",),
}
_UNATTRACTIVE = {
    "buy": ("expensive", "old", "too expensive"),
    "carry": ("heavy",),
    "read": ("long", "old"),
    "eat": ("cold",),
    "drink": ("cold",),
    "put on": ("old",),
    "repair": ("old",),
    "sell": ("beautiful", "new"),
}
# Places one goes to, and what for.
_PURPOSES = {
    "kitchen": ("cook:soup egg fish", "drink:tea water coffee milk", "bake", "eat", "clean:window"),
    "garden": ("play", "read", "eat:apple cake", "sleep", "sing", "paint:tree flower bird", "wash:car dog"),
    "park": ("play", "read:book newspaper", "paint:tree bird", "dance", "sing", "look for:dog cat"),
    "market": ("buy:food flower", "sell:egg apple cow cake"),
    "city": ("buy:clothes ware", "visit:museum church kin near", "work", "sell:bicycle picture"),
    "village": ("visit:kin church", "buy:horse egg cheese"),
    "station": ("wait for:train", "pick up"),
    "room": ("sleep", "read", "write", "tidy up:room", "look for:key bag book"),
    "forest": ("look for:dog ball", "paint:tree", "sing"),
    "museum": ("see:picture", "paint:picture"),
}
_FAIR, _FOUL = ("sun", "good weather"), ("rain", "cold", "bad weather")


def deed(dice: Dice, code: str, subject: Nominal | None) -> Clause:
    """The clause that a table entry stands for: a verb, perhaps its possible objects after a colon, "!" for not."""
    negated = code.endswith("!")
    name, _, objects = code.removesuffix("!").partition(":")
    if name == "go home":
        return Clause(subject, GO, place=HOME)
    if name == "stay at home":
        return Clause(subject, STAY, place=AT_HOME)
    if name == "travel":
        return motion(dice, subject)
    verb = _VERBS[name + " it" if objects and name + " it" in _VERBS else name]
    return replace(_deed(dice, verb, objects, subject), negated=negated)
