"""What the lexicon says about a word: its English forms, its German forms, and what it may be combined with."""

from __future__ import annotations

from dataclasses import dataclass


def rows(table: str) -> list[str]:
    """The rows of a lexicon table; an indented line goes on with the row above it."""
    return table.strip().replace("\n    ", " ").splitlines()


@dataclass(frozen=True)
class Noun:
    """A noun. `weak` is the ending-bearing singular of the n-declension (den Jungen), empty for every other noun."""

    lemma: str
    plural: str
    gender: str
    german: str
    german_plural: str
    genitive: str
    weak: str
    classes: tuple[str, ...]

    def is_a(self, name: str) -> bool:
        """Whether the noun belongs to the class `name`, or is itself called so."""
        return name == self.lemma or name in self.classes

    def english_form(self, plural: bool) -> str:
        return self.plural if plural else self.lemma

    def german_form(self, case: str, plural: bool) -> str:
        """The noun in one of the cases nom, acc, dat, gen."""
        if plural:
            needs_n = case == "dat" and not self.german_plural.endswith(("n", "s"))
            return self.german_plural + ("n" if needs_n else "")
        if case != "nom" and self.weak:
            return self.weak
        return self.genitive if case == "gen" and self.gender != "f" else self.german


@dataclass(frozen=True)
class Adjective:
    """An adjective. `stem` takes the endings (hoh-e, teur-e); `german` stands alone (hoch, teuer)."""

    lemma: str
    german: str
    stem: str
    nouns: tuple[str, ...]
    comparative: str = ""
    german_comparative: str = ""


@dataclass(frozen=True)
class Verb:
    """A verb with its three English forms, its German forms and the company it keeps.

    `forms` holds base, third person and past; `german` holds infinitive, third person and participle, without the
    separable prefix. `frame` names the arguments it takes; `preposition` is the German (preposition, case) of a
    prepositional object, whose English preposition is part of `forms` ("wait for").
    """

    forms: tuple[str, str, str]
    german: tuple[str, str, str]
    frame: str
    objects: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ("person",)
    places: tuple[str, ...] = ()
    manners: tuple[str, ...] = ()
    prefix: str = ""
    auxiliary: str = "haben"
    preposition: tuple[str, str] | None = None
    traits: tuple[str, ...] = ()
    name: str = ""

    @property
    def lemma(self) -> str:
        """The English base form: "put" names both legen and stellen."""
        return self.forms[0]

    def has(self, trait: str) -> bool:
        return trait in self.traits

    @property
    def participle(self) -> str:
        return self.prefix + self.german[2]

    @property
    def infinitive(self) -> str:
        return self.prefix + self.german[0]

    @property
    def zu_infinitive(self) -> str:
        """zu lesen, but aufzumachen in one word."""
        return f"{self.prefix}zu{self.german[0]}" if self.prefix else f"zu {self.german[0]}"


@dataclass(frozen=True)
class Adverb:
    """An adverbial whose words never change. `kind`: time, frequency, manner, instrument or place."""

    english: str
    german: str
    kind: str
    lemmas: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun. `agreement` is 1sg, 3sg, 1pl or 3pl."""

    key: str
    english: tuple[str, str]
    german: tuple[str, str, str]
    agreement: str
    possessive: str


PRONOUNS = {
    pronoun.key: pronoun
    for pronoun in (
        Pronoun("I", ("I", "me"), ("ich", "mich", "mir"), "1sg", "my"),
        Pronoun("he", ("he", "him"), ("er", "ihn", "ihm"), "3sg", "his"),
        Pronoun("she", ("she", "her"), ("sie", "sie", "ihr"), "3sg", "her"),
        Pronoun("we", ("we", "us"), ("wir", "uns", "uns"), "1pl", "our"),
        Pronoun("they", ("they", "them"), ("sie", "sie", "ihnen"), "3pl", "their"),
        # "it" stands for a thing named before, and German asks for the gender of that thing's noun.
        Pronoun("it_m", ("it", "it"), ("er", "ihn", "ihm"), "3sg", ""),
        Pronoun("it_f", ("it", "it"), ("sie", "sie", "ihr"), "3sg", ""),
        Pronoun("it_n", ("it", "it"), ("es", "es", "ihm"), "3sg", ""),
    )
}
