"""German verb forms: the finite verb and the right bracket (participle, infinitive or separable prefix)."""

from __future__ import annotations

from dataclasses import dataclass

from toy_grammar.syntax import Clause, agreement
from toy_grammar.words import Verb

_IRREGULAR = {
    ("sein", "present"): {"1sg": "bin", "3sg": "ist", "1pl": "sind", "3pl": "sind"},
    ("sein", "past"): {"1sg": "war", "3sg": "war", "1pl": "waren", "3pl": "waren"},
    ("wissen", "present"): {"1sg": "weiß", "3sg": "weiß", "1pl": "wissen", "3pl": "wissen"},
    ("haben", "past"): {"1sg": "hatte", "3sg": "hatte", "1pl": "hatten", "3pl": "hatten"},
}
_MODALS = {
    "future": ("werde", "wird", "werden"),
    "can": ("kann", "kann", "können"),
    "must": ("muss", "muss", "müssen"),
    "may": ("darf", "darf", "dürfen"),
    "should": ("sollte", "sollte", "sollten"),
    "want": ("will", "will", "wollen"),
}
_AUXILIARIES = {"haben": ("habe", "hat", "haben"), "sein": ("bin", "ist", "sind")}
_COLUMN = {"1sg": 0, "3sg": 1, "1pl": 2, "3pl": 2}


@dataclass(frozen=True)
class VerbParts:
    """The finite verb, what closes the clause behind the middle field, and the prefix to rejoin when both meet."""

    finite: str
    bracket: tuple[str, ...] = ()
    prefix: str = ""

    @property
    def verb_last(self) -> list[str]:
        """weil er das Fenster aufmacht / aufgemacht hat / aufmachen will."""
        return [*self.bracket, self.prefix + self.finite]

    @property
    def right_bracket(self) -> list[str]:
        return [*self.bracket, *([self.prefix] if self.prefix else [])]


def verb_parts(clause: Clause) -> VerbParts:
    """How the clause's verb, in its tense, is spread over the two brackets. English past is the German perfect."""
    verb, person, tense = clause.verb, agreement(clause.subject), clause.tense
    if tense == "must" and clause.negated:
        tense = "may"  # must not: darf nicht
    if tense in _MODALS:
        return VerbParts(_MODALS[tense][_COLUMN[person]], (verb.infinitive,))
    irregular = _IRREGULAR.get((verb.german[0], tense))
    if irregular is not None:
        return VerbParts(irregular[person])
    if tense == "past":
        return VerbParts(_AUXILIARIES[verb.auxiliary][_COLUMN[person]], (verb.participle,))
    return VerbParts(_present(verb, person), prefix=verb.prefix)


def _present(verb: Verb, person: str) -> str:
    infinitive, third, _ = verb.german
    if person == "3sg":
        return third
    return infinitive.removesuffix("n") if person == "1sg" else infinitive
