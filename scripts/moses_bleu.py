"""BLEU as papers report it that give lowercased, Moses-tokenised multi-bleu on Multi30k (Wu et al. 2021 and before).

    pip install sacremoses
    python scripts/moses_bleu.py runs/RUN/translations/test.hyp.txt runs/RUN/translations/test.ref.txt --language de

Hypotheses and references are lowercased and tokenised by Moses' rules (sacremoses), then scored by sacreBLEU without a
tokeniser of its own. Figures of this kind are not comparable with those of `minitx evaluate`, which are cased, of
detokenised text.
"""

import argparse
from pathlib import Path

from sacrebleu.metrics import BLEU


def main() -> None:
    """Print the score and its signature."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hypotheses", type=Path)
    parser.add_argument("references", type=Path)
    parser.add_argument("--language", default="de", help="of both files, for Moses' rules (de)")
    arguments = parser.parse_args()
    hypotheses, references = lines(arguments.hypotheses), lines(arguments.references)
    if len(hypotheses) != len(references):
        raise SystemExit(
            f"{arguments.hypotheses} has {len(hypotheses)} lines and {arguments.references} {len(references)}: "
            "a score compares them line by line."
        )
    score, signature = moses_bleu(hypotheses, references, arguments.language)
    print(f"BLEU {score:.2f}  (lowercased, sacremoses {arguments.language}, then {signature})")


def lines(file: Path) -> list[str]:
    """Lines ended by a line feed; no other character ends one."""
    return file.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def moses_bleu(hypotheses: list[str], references: list[str], language: str) -> tuple[float, str]:
    """The score and sacreBLEU's signature."""
    try:
        from sacremoses import MosesTokenizer
    except ImportError:
        raise SystemExit("sacremoses is missing: pip install sacremoses") from None
    moses = MosesTokenizer(lang=language)
    hypotheses, references = (
        [moses.tokenize(text.lower(), return_str=True, escape=False) for text in side]
        for side in (hypotheses, references)
    )
    bleu = BLEU(tokenize="none", force=True)
    return bleu.corpus_score(hypotheses, [references]).score, str(bleu.get_signature())


if __name__ == "__main__":
    main()
