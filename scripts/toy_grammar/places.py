"""Where things happen and where people go: the prepositions that each place takes in English and in German."""

from __future__ import annotations

from toy_grammar.nouns import NOUNS
from toy_grammar.syntax import NounPhrase, PrepositionalPhrase
from toy_grammar.words import Adjective, Adverb, Noun

# noun: English and German preposition with the dative; English and German preposition, with its case, of a goal
_TABLE = """
house    in in    into in acc
garden   in in    into in acc
kitchen  in in    into in acc
room     in in    into in acc
forest   in in    into in acc
school   at in    to zu dat
city     in in    to in acc
village  in in    to in acc
park     in in    to in acc
station  at an    to zu dat
market   at auf   to auf acc
church   in in    to in acc
museum   in in    to in acc
bridge   on auf   to zu dat
bus      on in    - - -
tree     under unter - - -
"""

_LOCATIONS: dict[str, tuple[str, str]] = {}
_GOALS: dict[str, tuple[str, str, str]] = {}
for _line in _TABLE.strip().splitlines():
    _name, _english, _german, *_goal = _line.split()
    _LOCATIONS[_name] = (_english, _german)
    if _goal[0] != "-":
        _GOALS[_name] = (_goal[0], _goal[1], _goal[2])

GOALS = tuple(_GOALS)

TWO_WAY = {
    "on": "auf",
    "under": "unter",
    "behind": "hinter",
    "next to": "neben",
    "in front of": "vor",
    "in": "in",
}

HOME = Adverb("home", "nach Hause", "place")
AT_HOME = Adverb("at home", "zu Hause", "place")


def location(name: str, determiner: str = "the", adjective: Adjective | None = None) -> PrepositionalPhrase:
    """in the garden / im Garten; at the station / am Bahnhof; from the school / von der Schule."""
    if name.startswith("from_"):
        return PrepositionalPhrase("from", "von", "dat", NounPhrase(NOUNS[name.removeprefix("from_")]))
    english, german = _LOCATIONS[name]
    return PrepositionalPhrase(english, german, "dat", NounPhrase(NOUNS[name], determiner, adjective=adjective))


def goal(name: str, determiner: str = "the", adjective: Adjective | None = None) -> PrepositionalPhrase:
    """into the garden / in den Garten; to the station / zum Bahnhof."""
    english, german, case = _GOALS[name]
    return PrepositionalPhrase(english, german, case, NounPhrase(NOUNS[name], determiner, adjective=adjective))


def visit(person: Noun, determiner: str) -> PrepositionalPhrase:
    """to my aunt / zu meiner Tante."""
    return PrepositionalPhrase("to", "zu", "dat", NounPhrase(person, determiner))


def beside(preposition: str, phrase: NounPhrase, goal: bool) -> PrepositionalPhrase:
    """A two-way preposition: accusative for the goal of a movement, dative for a position."""
    english = "into" if preposition == "in" and goal else preposition
    return PrepositionalPhrase(english, TWO_WAY[preposition], "acc" if goal else "dat", phrase)


# English past tense goes with the first row, and so on; words that a sentence may open with.
TIMES = {
    "present": (
        Adverb("today", "heute", "time"),
        Adverb("every day", "jeden Tag", "time"),
        Adverb("in the morning", "am Morgen", "time"),
        Adverb("in the evening", "am Abend", "time"),
        Adverb("on Sunday", "am Sonntag", "time"),
    ),
    "past": (
        Adverb("yesterday", "gestern", "time"),
        Adverb("in the evening", "am Abend", "time"),
        Adverb("on Sunday", "am Sonntag", "time"),
        Adverb("last week", "letzte Woche", "time"),
    ),
    "future": (
        Adverb("tomorrow", "morgen", "time"),
        Adverb("today", "heute", "time"),
        Adverb("in the evening", "am Abend", "time"),
        Adverb("next week", "nächste Woche", "time"),
    ),
}
FREQUENCIES = (
    Adverb("often", "oft", "frequency"),
    Adverb("always", "immer", "frequency"),
    Adverb("sometimes", "manchmal", "frequency"),
    Adverb("never", "nie", "frequency"),
)
MANNERS = {
    english: Adverb(english, german, "manner")
    for english, german in (
        ("quickly", "schnell"),
        ("slowly", "langsam"),
        ("loudly", "laut"),
        ("quietly", "leise"),
        ("well", "gut"),
        ("early", "früh"),
        ("late", "spät"),
    )
}
INSTRUMENTS = {
    noun: Adverb(english, german, "instrument", (noun,))
    for noun, english, german in (
        ("car", "by car", "mit dem Auto"),
        ("bus", "by bus", "mit dem Bus"),
        ("train", "by train", "mit dem Zug"),
        ("bicycle", "by bicycle", "mit dem Fahrrad"),
    )
}
