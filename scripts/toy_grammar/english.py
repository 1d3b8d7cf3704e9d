"""Realisation in English: subject, verb, objects; do-support in questions and negations."""

from __future__ import annotations

from toy_grammar.syntax import (
    Both,
    Clause,
    Coordination,
    Existence,
    Gap,
    Name,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Question,
    Sentence,
    Statement,
    Subordination,
    agreement,
)
from toy_grammar.words import Adverb, Pronoun

_BE = {
    "present": {"1sg": "am", "3sg": "is", "1pl": "are", "3pl": "are"},
    "past": {"1sg": "was", "3sg": "was", "1pl": "were", "3pl": "were"},
}
_AUXILIARIES = {"future": "will", "can": "can", "must": "must", "should": "should"}
_TO_VERBS = {"want": ("want", "wants"), "like": ("like", "likes")}
_QUESTION_WORDS = {
    "person": "who",
    "thing": "what",
    "place": "where",
    "goal": "where",
    "time": "when",
    "reason": "why",
}


def realise(sentence: Sentence) -> str:
    """The sentence in English."""
    match sentence:
        case Statement(clause=clause, time_first=time_first):
            words, mark = _statement(clause, time_first), "."
        case Question(clause=clause, gap=gap):
            words, mark = _question(clause, gap), "?"
        case Subordination():
            words, mark = _subordination(sentence), "."
        case Coordination(first=first, conjunction=conjunction, second=second):
            comma = [","] if conjunction == "but" else []
            words, mark = [*_statement(first), *comma, conjunction, *_statement(second)], "."
        case Existence(what=what, place=place):
            verb = "are" if what.plural else "is"
            words, mark = ["there", verb, *_nominal(what), *_place(place)], "."
    text = " ".join(words).replace(" ,", ",").replace(" '", "'")
    return text[0].upper() + text[1:] + mark


def _subordination(sentence: Subordination) -> list[str]:
    introduction = sentence.conjunction or _QUESTION_WORDS[sentence.gap.kind]  # type: ignore[union-attr]
    subordinate = [introduction, *_statement(sentence.subordinate)]
    main = _statement(sentence.main)
    return [*subordinate, ",", *main] if sentence.subordinate_first else [*main, *subordinate]


def _statement(clause: Clause, time_first: bool = False) -> list[str]:
    finite, rest = _verb(clause, inverted=False)
    time = _adverb(clause.time)
    ending = _after_verb(clause)
    if time_first:
        return [*time, *_nominal(clause.subject), *finite, *rest, *ending]
    return [*_nominal(clause.subject), *finite, *rest, *ending, *time, *_complement(clause)]


def _question(clause: Clause, gap: Gap | None) -> list[str]:
    ending = [*_after_verb(clause), *_adverb(clause.time)]
    if gap is not None and clause.subject is gap:
        finite, rest = _verb(clause, inverted=False)
        return [_QUESTION_WORDS[gap.kind], *finite, *rest, *ending]
    finite, rest = _verb(clause, inverted=True)
    if isinstance(clause.direct, NounPhrase) and clause.direct.determiner == "which":
        return [*_nominal(clause.direct), *finite, *_nominal(clause.subject), *rest, *_adverb(clause.time)]
    opening = [_QUESTION_WORDS[gap.kind]] if gap is not None else []
    return [*opening, *finite, *_nominal(clause.subject), *rest, *ending]


def _after_verb(clause: Clause) -> list[str]:
    """Objects, manner, place, instrument; "gives the child an apple" or "gives an apple to the child"."""
    direct, indirect = _nominal(clause.direct, "object"), _nominal(clause.indirect, "object")
    if isinstance(clause.direct, NounPhrase) and clause.direct.determiner == "which":
        direct = []
    objects = [*direct, "to", *indirect] if clause.recipient_last else [*indirect, *direct]
    return [
        *objects,
        *_predicate(clause),
        *_adverb(clause.manner),
        *_place(clause.place),
        *_adverb(clause.instrument),
    ]


def _complement(clause: Clause) -> list[str]:
    if clause.complement is None:
        return []
    inner = clause.complement
    return ["to", inner.verb.lemma, *_after_verb(inner)]


def _verb(clause: Clause, inverted: bool) -> tuple[list[str], list[str]]:
    """The word that changes places with the subject in a question, and the rest of the verb group."""
    person, tense = agreement(clause.subject), clause.tense
    base, third, past = clause.verb.forms
    frequency, negation = _adverb(clause.frequency), ["not"] if clause.negated else []
    if tense in _AUXILIARIES:
        if tense == "can" and clause.negated and not inverted:
            return ["cannot"], [base]
        return [_AUXILIARIES[tense]], [*negation, base]
    if clause.verb.lemma == "be":
        return [_BE[tense][person]], [*negation, *frequency]
    if tense in _TO_VERBS:
        plain, singular = _TO_VERBS[tense]
        after, form = ["to", base], (plain, singular, "")
    else:
        after, form = [], (base, third, past)
    if inverted or clause.negated:
        do = "did" if tense == "past" else "does" if person == "3sg" else "do"
        return [do], [*negation, *frequency, form[0], *after]
    finite = form[2] if tense == "past" else form[1] if person == "3sg" else form[0]
    return [], [*frequency, finite, *after]


def _predicate(clause: Clause) -> list[str]:
    predicate = clause.predicate
    if predicate is None:
        return []
    if predicate.than is not None:
        return [predicate.adjective.comparative, "than", *_nominal(predicate.than)]
    return [*([predicate.degree] if predicate.degree else []), predicate.adjective.lemma]


def _adverb(adverb: Adverb | None) -> list[str]:
    return [adverb.english] if adverb is not None else []


def _place(place: PrepositionalPhrase | Adverb | Gap | None) -> list[str]:
    if isinstance(place, PrepositionalPhrase):
        return [place.english, *_nominal(place.object, "object")]
    return _adverb(place) if isinstance(place, Adverb) else []


def _nominal(nominal: Nominal | None, role: str = "subject") -> list[str]:
    match nominal:
        case NounPhrase():
            return _noun_phrase(nominal)
        case Name(text=text):
            return [text]
        case Both(first=first, second=second):
            return [*_noun_phrase(first), "and", *_noun_phrase(second)]
        case Pronoun(english=(subject, objective)):
            return [subject if role == "subject" else objective]
    return []


def _noun_phrase(phrase: NounPhrase) -> list[str]:
    noun = phrase.noun.english_form(phrase.plural)
    words = [*([phrase.adjective.lemma] if phrase.adjective else []), noun]
    if phrase.owner is not None:
        return [*_noun_phrase(phrase.owner), "'s", *words]
    determiner = phrase.determiner
    if determiner == "a" and words[0][0] in "aeiou":
        determiner = "an"
    if determiner == "this" and phrase.plural:
        determiner = "these"
    return [*([determiner] if determiner else []), *words, *_relative(phrase)]


def _relative(phrase: NounPhrase) -> list[str]:
    clause = phrase.relative
    if clause is None:
        return []
    if isinstance(clause.subject, Gap):
        pronoun = "who" if phrase.noun.is_a("person") else "that"
    else:
        pronoun = "whom" if phrase.noun.is_a("person") else "that"
    return [pronoun, *_statement(clause)]
