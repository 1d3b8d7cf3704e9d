"""German noun phrases: articles, adjective endings in three declensions, contractions of preposition and article."""

from __future__ import annotations

from toy_grammar.syntax import Gap, NounPhrase

# One row a case; columns masculine, feminine, neuter, plural.
_GENDERS = ("m", "f", "n", "pl")


def _paradigm(nom: str, acc: str, dat: str, gen: str) -> dict[tuple[str, str], str]:
    rows = {"nom": nom, "acc": acc, "dat": dat, "gen": gen}
    return {
        (case, gender): "" if ending == "-" else ending
        for case, row in rows.items()
        for gender, ending in zip(_GENDERS, row.split(), strict=True)
    }


_ARTICLE = _paradigm("der die das die", "den die das die", "dem der dem den", "des der des der")
_DER_WORD = _paradigm("er e es e", "en e es e", "em er em en", "es er es er")  # dieser, welcher
_EIN_WORD = _paradigm("- e - e", "en e - e", "em er em en", "es er es er")  # ein, kein, mein
_WEAK = _paradigm("e e e en", "en e e en", "en en en en", "en en en en")
_MIXED = _paradigm("er e es en", "en e es en", "en en en en", "en en en en")
_STRONG = _paradigm("er e es e", "en e es e", "em er em en", "en er en er")

_DER_STEMS = {"this": "dies", "which": "welch"}
_EIN_STEMS = {"a": "ein", "no": "kein", "my": "mein", "our": "unser", "his": "sein", "her": "ihr", "their": "ihr"}
_NUMERALS = {"two": "zwei", "three": "drei"}

_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
}

_RELATIVE_DATIVE_PLURAL = "denen"


def noun_phrase(phrase: NounPhrase, case: str) -> list[str]:
    """Determiner, adjective, noun and genitive owner, in one of the cases nom, acc, dat, gen; no relative clause."""
    gender = "pl" if phrase.plural else phrase.noun.gender
    determiner, endings = _determiner("the" if phrase.owner else phrase.determiner, case, gender)
    adjective = [phrase.adjective.stem + endings[case, gender]] if phrase.adjective else []
    owner = noun_phrase(phrase.owner, "gen") if phrase.owner else []
    return [*determiner, *adjective, phrase.noun.german_form(case, phrase.plural), *owner]


def _determiner(word: str, case: str, gender: str) -> tuple[list[str], dict[tuple[str, str], str]]:
    """The determiner in German, and the adjective endings that it calls for."""
    if word == "the":
        return [_ARTICLE[case, gender]], _WEAK
    if word in _DER_STEMS:
        return [_DER_STEMS[word] + _DER_WORD[case, gender]], _WEAK
    if word in _EIN_STEMS:
        return [_EIN_STEMS[word] + _EIN_WORD[case, gender]], _MIXED
    if word in _NUMERALS:
        return [_NUMERALS[word]], _STRONG
    if word == "many":
        return ["vielen" if case == "dat" else "viele"], _STRONG
    if word == "":
        return [], _STRONG
    raise ValueError(f"no German for the determiner {word!r}")


def relative_pronoun(gap: Gap, case: str) -> str:
    """der, die, das and their cases, agreeing with the noun before the clause."""
    if gap.noun is None:
        raise ValueError("a relative pronoun needs the noun it stands for")
    if gap.plural and case == "dat":
        return _RELATIVE_DATIVE_PLURAL
    return _ARTICLE[case, "pl" if gap.plural else gap.noun.gender]


def contracted(preposition: str, words: list[str]) -> list[str]:
    """in dem Garten -> im Garten, zu der Schule -> zur Schule."""
    short = _CONTRACTIONS.get((preposition, words[0]))
    return [short, *words[1:]] if short else [preposition, *words]
