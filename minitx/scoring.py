"""Translation quality as the field reports it: sacreBLEU's BLEU and chrF of detokenised text, with signatures."""

from collections.abc import Sequence

from sacrebleu.metrics import BLEU, CHRF

from minitx.errors import UserError


def score_translations(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, float | str]:
    """Corpus BLEU (cased, and lowercased, both tokenised by 13a) and chrF, each with its signature.

    Raises:
        UserError: if there are not as many hypotheses as references, or none.
    """
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} translations stand against {len(references)} references: "
            "a score needs one translation for each reference."
        )
    if not references:
        raise UserError("There is no sentence to score.")
    scores: dict[str, float | str] = {}
    metrics = {"bleu": BLEU(), "bleu_lowercase": BLEU(lowercase=True), "chrf": CHRF()}
    for name, metric in metrics.items():
        scores[name] = round(metric.corpus_score(list(hypotheses), [list(references)]).score, 4)
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores
