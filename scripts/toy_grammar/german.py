"""Realisation in German: three clause types around one middle field.

Verb second (statements), verb first (questions) and verb last (subordinate clauses) differ only in where the finite
verb goes; participle, infinitive and separable prefix stay at the end, and what comes between keeps its order.
"""

from __future__ import annotations

from dataclasses import replace

from toy_grammar.german_declension import contracted, noun_phrase, relative_pronoun
from toy_grammar.german_verbs import verb_parts
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
)
from toy_grammar.words import Adverb, Pronoun

_CONJUNCTIONS = {
    "because": "weil",
    "although": "obwohl",
    "if": "wenn",
    "when": "als",
    "before": "bevor",
    "while": "während",
    "that": "dass",
    "whether": "ob",
    "and": "und",
    "but": "aber",
}
_QUESTION_WORDS = {"place": "wo", "goal": "wohin", "time": "wann", "reason": "warum", "thing": "was"}
_WHO = {"nom": "wer", "acc": "wen", "dat": "wem"}
_PRONOUN_CASES = {"nom": 0, "acc": 1, "dat": 2}
_DEGREES = {"": [], "very": ["sehr"], "too": ["zu"]}
_INDEFINITE = ("a", "", "two", "three", "many")


def realise(sentence: Sentence) -> str:
    """The sentence in German."""
    mark = "?" if isinstance(sentence, Question) else "."
    match sentence:
        case Statement(clause=clause, time_first=time_first):
            words = _verb_second(clause, time_first)
        case Question(clause=clause, gap=gap):
            words = _question(clause, gap)
        case Subordination():
            words = _subordination(sentence)
        case Coordination(first=first, conjunction=conjunction, second=second):
            comma = [","] if conjunction == "but" else []
            words = [*_verb_second(first), *comma, _CONJUNCTIONS[conjunction], *_verb_second(second)]
        case Existence(what=what, place=place):
            words = [*_place(place), "gibt", "es", *noun_phrase(what, "acc")]
    text = _punctuated(words)
    return text[0].upper() + text[1:] + mark


def _punctuated(words: list[str]) -> str:
    """Words joined, with one comma where two clauses end at once and none before the final mark."""
    kept = [
        word for word, following in zip(words, [*words[1:], ","], strict=True) if not (word == "," and following == ",")
    ]
    return " ".join(kept).replace(" ,", ",")


def _subordination(sentence: Subordination) -> list[str]:
    if sentence.gap is not None:
        introduction = _question_word(sentence.subordinate, sentence.gap)
    else:
        introduction = [_CONJUNCTIONS[sentence.conjunction]]
    subordinate = [*introduction, *_verb_last(sentence.subordinate)]
    if sentence.subordinate_first:
        return [*subordinate, ",", *_verb_first(sentence.main)]
    return [*_verb_second(sentence.main), ",", *subordinate]


def _question(clause: Clause, gap: Gap | None) -> list[str]:
    if isinstance(clause.direct, NounPhrase) and clause.direct.determiner == "which":
        return [*_object(clause), *_verb_first(replace(clause, direct=None))]
    opening = _question_word(clause, gap) if gap is not None else []
    return [*opening, *_verb_first(clause)]


def _question_word(clause: Clause, gap: Gap) -> list[str]:
    """wer, wen, wem, "auf wen", was, wo, wohin, wann, warum."""
    if gap.kind != "person":
        return [_QUESTION_WORDS[gap.kind]]
    if clause.subject is gap:
        return [_WHO["nom"]]
    if clause.indirect is gap:
        return [_WHO["dat"]]
    preposition, case = clause.verb.preposition or ("", "acc")
    return [*([preposition] if preposition else []), _WHO[case]]


def _verb_second(clause: Clause, time_first: bool = False) -> list[str]:
    if time_first:
        return [*_adverb(clause.time), *_verb_first(replace(clause, time=None))]
    parts = verb_parts(clause)
    subject = _nominal(clause.subject, "nom")
    return [*subject, parts.finite, *_middle(clause), *parts.right_bracket, *_after(clause)]


def _verb_first(clause: Clause) -> list[str]:
    parts = verb_parts(clause)
    subject = _nominal(clause.subject, "nom")
    return [parts.finite, *subject, *_middle(clause), *parts.right_bracket, *_after(clause)]


def _verb_last(clause: Clause) -> list[str]:
    parts = verb_parts(clause)
    return [*_nominal(clause.subject, "nom"), *_middle(clause), *parts.verb_last, *_after(clause)]


def _middle(clause: Clause) -> list[str]:
    """The middle field: pronoun, recipient, time, object, nicht, manner, place.

    A definite object stands before the negation ("liest das Buch heute nicht"), an indefinite one takes it up
    ("liest heute kein Buch") and follows the place ("liest im Garten ein Buch"); what follows the object is negated
    from its left ("fährt nicht in die Stadt").
    """
    negator = _negator(clause)
    governed = bool(clause.verb.preposition and clause.verb.preposition[0])
    direct = _object(clause)
    early, late, last = [], [], []
    is_new = clause.tense != "like" and clause.verb.frame != "put" and not _is_definite(clause.direct)
    if governed or (is_new and clause.place is not None):
        last = direct
    elif isinstance(clause.direct, Pronoun) or (negator and _is_definite(clause.direct)):
        early = direct
    else:
        late = direct
    return [
        *_nominal(clause.indirect, "dat"),
        *early,
        *_adverb(clause.time),
        *([] if negator == ["nie"] else _adverb(clause.frequency)),
        *negator,
        *(["gern"] if clause.tense == "like" else []),
        *late,
        *_adverb(clause.manner),
        *_adverb(clause.instrument),
        *_place(clause.place),
        *last,
        *_predicate(clause),
    ]


def _after(clause: Clause) -> list[str]:
    """What follows the right bracket: the object's relative clause, an infinitive clause with zu."""
    words: list[str] = []
    if isinstance(clause.direct, NounPhrase) and clause.direct.relative is not None:
        words += [",", *_relative(clause.direct)]
    if clause.complement is not None:
        inner = clause.complement
        words += [",", *(["um"] if clause.purpose else []), *_middle(inner), inner.verb.zu_infinitive, *_after(inner)]
    return words


def _negator(clause: Clause) -> list[str]:
    if clause.frequency is not None and clause.frequency.german == "nie":
        return ["nie"]
    return ["nicht"] if clause.negated and not _takes_kein(clause) else []


def _takes_kein(clause: Clause) -> bool:
    direct = clause.direct
    accusative = clause.verb.preposition is None and clause.tense != "like"
    return accusative and clause.negated and isinstance(direct, NounPhrase) and not _is_definite(direct)


def _is_definite(nominal: Nominal | None) -> bool:
    return not (isinstance(nominal, NounPhrase) and nominal.owner is None and nominal.determiner in _INDEFINITE)


def _object(clause: Clause) -> list[str]:
    """The direct object in the case, and with the preposition, that the verb asks for; its relative clause apart."""
    direct = clause.direct
    if direct is None or (isinstance(direct, Gap)):
        return []
    if isinstance(direct, NounPhrase):
        direct = replace(direct, relative=None, determiner="no" if _takes_kein(clause) else direct.determiner)
    preposition, case = clause.verb.preposition or ("", "acc")
    words = _nominal(direct, case)
    return contracted(preposition, words) if preposition else words


def _predicate(clause: Clause) -> list[str]:
    predicate = clause.predicate
    if predicate is None:
        return []
    if predicate.than is not None:
        return [predicate.adjective.german_comparative, "als", *_nominal(predicate.than, "nom")]
    return [*_DEGREES[predicate.degree], predicate.adjective.german]


def _adverb(adverb: Adverb | None) -> list[str]:
    return [adverb.german] if adverb is not None else []


def _place(place: PrepositionalPhrase | Adverb | Gap | None) -> list[str]:
    if isinstance(place, PrepositionalPhrase):
        words = _nominal(place.object, place.case)
        if isinstance(place.object, NounPhrase) and place.object.relative is not None:
            return [place.german, *words]
        return contracted(place.german, words)
    return _adverb(place) if isinstance(place, Adverb) else []


def _nominal(nominal: Nominal | None, case: str) -> list[str]:
    match nominal:
        case NounPhrase(relative=relative):
            words = noun_phrase(nominal, case)
            return [*words, ",", *_relative(nominal), ","] if relative is not None else words
        case Name(text=text):
            return [text]
        case Both(first=first, second=second):
            return [*noun_phrase(first, case), "und", *noun_phrase(second, case)]
        case Pronoun(german=forms):
            return [forms[_PRONOUN_CASES[case]]]
    return []


def _relative(phrase: NounPhrase) -> list[str]:
    """die in der Stadt wohnt / den das Mädchen liebt / auf den er wartet."""
    clause = phrase.relative
    if clause is None:
        return []
    preposition, governed_case = clause.verb.preposition or ("", "acc")
    if isinstance(clause.subject, Gap):
        opening = [relative_pronoun(clause.subject, "nom")]
    elif isinstance(clause.direct, Gap):
        opening = [*([preposition] if preposition else []), relative_pronoun(clause.direct, governed_case)]
    elif isinstance(clause.indirect, Gap):
        opening = [relative_pronoun(clause.indirect, "dat")]
    else:
        raise ValueError("a relative clause needs a gap")
    return [*opening, *_verb_last(clause)]
