"""Random noun phrases, names and pronouns that make sense where they stand."""

from __future__ import annotations

from toy_grammar.adjectives import adjectives_for
from toy_grammar.dice import Dice
from toy_grammar.nouns import NOUNS, nouns_matching
from toy_grammar.syntax import Both, Gap, Name, Nominal, NounPhrase
from toy_grammar.words import PRONOUNS, Noun, Pronoun, Verb

NAMES = (Name("Anna", "f"), Name("Maria", "f"), Name("Peter", "m"), Name("Paul", "m"))

_OWNABLE = (
    "near", "kin", "pet", "horse", "ware", "clothes", "reading", "small", "upright", "container", "own_vehicle",
    "bed", "house", "garden", "room", "kitchen", "child",
)  # fmt: skip
_OWNERS = nouns_matching(("teacher", "doctor", "neighbour", "farmer", "related", "man", "woman", "student", "boy"))
_OWNED = ("pet", "horse", "own_vehicle", "house", "garden", "clothes", "bag", "key", "book", "picture", "room")
_PERSONS = nouns_matching(("person",))
_PLAIN_PERSONS = tuple(noun for noun in _PERSONS if not noun.is_a("related"))

# What nobody would call the thing that is just being made.
_NOT_OF_THE_NEW = ("old", "cold", "bad", "expensive", "heavy", "empty")

_POSSESSIVES = {"m": "his", "f": "her"}


def possessive_of(subject: Nominal | None) -> str:
    """The possessive that refers back to the subject; "" for a child or a girl, of whom the two languages differ."""
    match subject:
        case Pronoun(possessive=word):
            return word
        case Name(gender=gender):
            return _POSSESSIVES[gender]
        case NounPhrase(plural=True) | Both():
            return "their"
        case NounPhrase(noun=noun) if noun.is_a("person"):
            return _POSSESSIVES.get(noun.gender, "")
    return ""


def pronoun_for(nominal: Nominal | None) -> Pronoun | None:
    """The personal pronoun that takes up a nominal again, or None where the two languages would differ."""
    match nominal:
        case Pronoun():
            return nominal
        case Name(gender=gender):
            return PRONOUNS["he" if gender == "m" else "she"]
        case NounPhrase(plural=True) | Both():
            return PRONOUNS["they"]
        case NounPhrase(noun=noun):
            return _singular_pronoun(noun)
    return None


def _singular_pronoun(noun: Noun) -> Pronoun | None:
    if not noun.is_a("person"):
        return PRONOUNS["it_" + noun.gender]
    if noun.gender == "n":
        return None
    return PRONOUNS["he" if noun.gender == "m" else "she"]


def person(dice: Dice, nouns: tuple[Noun, ...] = _PERSONS) -> Nominal:
    """A person or several as the subject of a sentence, out of `nouns`."""
    everyone = nouns == _PERSONS
    kind = dice.weighted({"phrase": 66, "pronoun": 20 if everyone else 6, "name": 9 if everyone else 3, "both": 3})
    if kind == "pronoun":
        return PRONOUNS[dice.weighted({"I": 2, "he": 1, "she": 1, "we": 1, "they": 1})]
    if kind == "name":
        return dice.pick(NAMES)
    if kind == "both":
        first, second = dice.pick(_PLAIN_PERSONS), dice.pick(_PLAIN_PERSONS)
        if everyone and first is not second:
            return Both(NounPhrase(first), NounPhrase(second))
    return subject_phrase(dice, dice.pick(nouns))


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
        case Name() | Pronoun() | Gap():
            return bool({"person", "adult"} & set(verb.subjects))
    return True


def suitable_verb(dice: Dice, verbs: tuple[Verb, ...], subject: Nominal | None) -> Verb:
    """One of the verbs that may have the subject."""
    return dice.pick(tuple(verb for verb in verbs if can_be_subject(verb, subject)))


def subject_phrase(dice: Dice, noun: Noun, adjective_chance: float = 0.3) -> NounPhrase:
    """A noun phrase to begin a sentence with: mostly definite."""
    if noun.is_a("related"):
        plural = bool(noun.plural) and dice.chance(0.2)
        determiner = dice.weighted({"my": 5, "our": 3, "his": 1, "her": 1})
        adjective_chance /= 2
    elif noun.is_a("mass"):
        determiner, plural = "the", False
    else:
        choices = {"the": 46.0, "a": 5, "this": 7, "the+": 20, "this+": 6, "two+": 3, "three+": 3, "many+": 4}
        if _ownable(noun):
            choices |= {"my": 10, "our": 6, "my+": 3}
        determiner, plural = _split(dice.weighted(choices), noun)
    return _with_adjective(dice, NounPhrase(noun, determiner, plural), adjective_chance)


def object_phrase(
    dice: Dice, noun: Noun, style: str = "any", subject: Nominal | None = None, adjective_chance: float = 0.3
) -> NounPhrase:
    """A noun phrase for an object; `style` is any, made (any, but not "my"), worn (a single one), specific ("the",
    "my"), indefinite ("a") or general (no article).
    """
    own = possessive_of(subject)
    if noun.is_a("related"):
        choices: dict[str, float] = {"my": 4, "our": 3} | ({own: 5} if own else {})
        plural = bool(noun.plural) and dice.chance(0.15)
        return _with_adjective(dice, NounPhrase(noun, dice.weighted(choices), plural), adjective_chance / 2)
    if style == "specific" and any(noun.is_a(name) for name in _OWNED) and dice.chance(0.2):
        owner = dice.pick(_OWNERS)
        phrase = NounPhrase(noun, owner=NounPhrase(owner, dice.pick(("my", "our")) if owner.is_a("related") else "the"))
    else:
        phrase = NounPhrase(noun, *_split(dice.weighted(_determiners(noun, style, own)), noun))
    return _with_adjective(dice, phrase, adjective_chance, _NOT_OF_THE_NEW if style == "made" else ())


def _determiners(noun: Noun, style: str, own: str) -> dict[str, float]:
    """Determiners with their weights; a plus sign asks for the plural."""
    if style == "general":
        return {"": 1} if noun.is_a("mass") else {"+": 1}
    if noun.is_a("mass"):
        return {"the": 3, "this": 1} if style == "specific" else {"": 6, "the": 2}
    if style == "indefinite":
        return {"a": 8, "two+": 1, "three+": 1, "many+": 1}
    if style == "worn":
        return {"the": 4, "this": 1, "a": 3} | ({own: 5.0} if own else {})
    definite: dict[str, float] = {"the": 38, "this": 8, "the+": 13, "this+": 6}
    if _ownable(noun):
        definite |= ({} if style == "made" else {"my": 7, "our": 5}) | ({own: 18.0} if own else {})
    if style == "specific":
        return definite
    return definite | {"a": 45.0, "+": 8, "two+": 5, "three+": 5, "many+": 5}


def _split(choice: str, noun: Noun) -> tuple[str, bool]:
    """ "two+" -> two, plural; a noun without a plural takes "the"."""
    plural = choice.endswith("+")
    if plural and not noun.plural:
        return "the", False
    return choice.removesuffix("+"), plural


def _ownable(noun: Noun) -> bool:
    return any(noun.is_a(name) for name in _OWNABLE)


def _with_adjective(dice: Dice, phrase: NounPhrase, chance: float, without: tuple[str, ...] = ()) -> NounPhrase:
    choices = tuple(adjective for adjective in adjectives_for(phrase.noun) if adjective.lemma not in without)
    if not choices or not dice.chance(chance):
        return phrase
    return NounPhrase(phrase.noun, phrase.determiner, phrase.plural, dice.pick(choices), phrase.owner)


def object_pronoun(dice: Dice, subject: Nominal | None) -> Pronoun:
    """me, him, her, us or them, but nobody the subject takes part in."""
    own = pronoun_for(subject)
    first_person = ("I", "we")
    choices = ["I", "he", "she", "we", "they"]
    if own is not None:
        choices = [key for key in choices if key != own.key and not (own.key in first_person and key in first_person)]
    return PRONOUNS[dice.pick(choices)]


def gap_for(kind: str, phrase: NounPhrase) -> Gap:
    """The gap that a relative clause about the phrase has."""
    return Gap(kind, phrase.noun, phrase.plural)


WEATHER = NounPhrase(NOUNS["weather"])
SUN = NounPhrase(NOUNS["sun"])
