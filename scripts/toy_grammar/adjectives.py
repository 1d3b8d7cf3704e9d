"""The adjectives, and the nouns (or classes of nouns) each goes with."""

from __future__ import annotations

from toy_grammar.nouns import NOUNS
from toy_grammar.words import Adjective, Noun, rows

_TABLE = """
old        alt         -    | adult old_kin parent friend student animal vehicle building bridge tower tree city
    village table chair coat hat lamp picture book bag bed door | older älter
young      jung        -    | adult student animal | younger jünger
small      klein       -    | young_person pet bird building village garden room kitchen city bag box table ball cup
    bottle lamp flower car ship tree park window picture key | - -
big        groß        -    | pet horse building vehicle city village garden room kitchen park forest tree table
    bed box bag apple cake window door lamp tower bottle | bigger größer
new        neu         -    | vehicle clothes dress ware house bridge school key ball teacher neighbour student bed
    door song | - -
beautiful  schön       -    | weather woman horse bird bridge building city village garden park forest flower dress
    hat coat picture song story tree lamp | more_beautiful schöner
red        rot         -    | car bicycle bus clothes dress bag ball apple flower box chair cup lamp door | - -
blue       blau        -    | car bicycle bus clothes dress bag ball flower box chair cup door bird | - -
black      schwarz     -    | pet horse bird car bicycle clothes dress bag box chair | - -
good       gut         -    | weather book story song picture friend teacher doctor student neighbour cake soup
    coffee bread tea | - -
bad        schlecht    -    | weather book story coffee | - -
expensive  teuer       teur | own_vehicle house clothes dress lamp picture table bag bed fish | more_expensive
    teurer
heavy      schwer      -    | box bag table chair book bed | heavier schwerer
dark       dunkel      dunkl | forest room kitchen house church museum | - -
tall       hoch        hoh  | tower tree church house | taller höher
long       lang        -    | letter story song bridge train coat dress book | longer länger
warm       warm        -    | soup milk water coat bread room kitchen shirt | - -
cold       kalt        -    | soup milk water tea coffee room | - -
fresh      frisch      -    | bread egg fish milk apple water | - -
hungry     hungrig     -    | young_person man student sibling animal | - -
tired      müde        müd  | adult young_person student kin horse dog | - -
sick       krank       -    | young_person man woman farmer student kin pet horse bird | - -
friendly   freundlich  -    | adult student kin dog | - -
happy      glücklich   -    | young_person man woman farmer student kin friend | - -
empty      leer        -    | bottle cup box bag room house bus church | - -
"""


def _adjective(line: str) -> Adjective:
    forms, nouns, comparatives = line.split("|")
    lemma, german, stem = forms.split()
    english_comparative, german_comparative = comparatives.split()
    return Adjective(
        lemma=lemma,
        german=german,
        stem=german if stem == "-" else stem,
        nouns=tuple(nouns.split()),
        comparative="" if english_comparative == "-" else english_comparative.replace("_", " "),
        german_comparative="" if german_comparative == "-" else german_comparative,
    )


ADJECTIVES = {adjective.lemma: adjective for adjective in map(_adjective, rows(_TABLE))}


def suits(adjective: Adjective, noun: Noun) -> bool:
    """Whether "adjective noun" makes sense."""
    return any(noun.is_a(name) for name in adjective.nouns)


# Qualities that exclude or repeat each other: "the old house is new".
_RIVALS = (
    ("old", "young", "new"),
    ("small", "big", "long", "tall"),
    ("red", "blue", "black", "dark"),
    ("warm", "cold", "fresh"),
    ("good", "bad", "beautiful"),
    ("hungry", "tired", "sick", "happy"),
)


def rivals(adjective: Adjective) -> tuple[str, ...]:
    """The adjectives that nobody would say of a thing already called `adjective`, itself among them."""
    return next((group for group in _RIVALS if adjective.lemma in group), (adjective.lemma,))


_BY_NOUN = {
    noun.lemma: tuple(adjective for adjective in ADJECTIVES.values() if suits(adjective, noun))
    for noun in NOUNS.values()
}


def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    """The adjectives that go with the noun, in the order of the table."""
    return _BY_NOUN[noun.lemma]
