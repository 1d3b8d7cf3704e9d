"""The common inputs, written once from a minitx run: ids as text, weights as NumPy arrays, facts as JSON.

Runs in minitx's own environment. All systems get the run's tokenizer, as lines of token strings that are minitx's ids,
so that "a token" is the same everywhere; decoding is done with the run's weights.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from peers.job import SOURCE, TARGET, Facts

SCALED = "minitx.nn.compatibility.ScaledDotProduct"
SITES = ("encoder_self_attention", "decoder_self_attention", "cross_attention")


class Unsuitable(Exception):
    """The run's model is not one that the peers can compute; says which setting."""


def prepare(work: Path, run: Path, corpus: Path, batch_tokens: int) -> Facts:
    """Write the inputs of every runner into `work`.

    Raises:
        Unsuitable: the peers have no such model.
        minitx.errors.UserError: the run or the corpus cannot be read.
    """
    import numpy as np

    from minitx.loading import load_run

    loaded = load_run(run, device="cpu")
    settings = loaded.config["model"]
    check_model(settings)
    work.mkdir(parents=True, exist_ok=True)
    data = loaded.corpus(corpus)
    for name, split in (("train", data.train), ("val", data.validation), ("test", data.split("test"))):
        examples = [split[i] for i in range(len(split))]
        write_ids(work / f"{name}.{SOURCE}", (example.source for example in examples))
        write_ids(work / f"{name}.{TARGET}", (example.target for example in examples))
    references = data.split("test").references()
    (work / "references.txt").write_text("".join(f"{text}\n" for text in references), encoding="utf-8")
    shutil.copy(run / "tokenizer.json", work / "tokenizer.json")
    weights = {name: weight.numpy() for name, weight in loaded.model.state_dict().items()}
    np.savez(work / "weights.npz", positions=loaded.model.embedding.positions.numpy(), **weights)
    sizes = {name: settings[name] for name in ("num_layers", "d_model", "d_ff", "num_heads", "dropout", "max_length")}
    facts = Facts(
        vocab_size=loaded.tokenizer.vocab_size,
        batch_tokens=batch_tokens,
        batch_sentences=sentences_in(batch_tokens, data.train.target_lengths.tolist()),
        run=str(run.resolve()),
        corpus=str(corpus.resolve()),
        **sizes,
    )
    (work / "facts.json").write_text(json.dumps(asdict(facts)), encoding="utf-8")
    return facts


def check_model(settings: Mapping[str, Any]) -> None:
    """See that fairseq, Joey NMT, transformers and CTranslate2 have this model.

    Raises:
        Unsuitable: they have not.
    """
    head = settings["d_model"] // settings["num_heads"]
    for key, allowed in {
        "norm": ("pre",),
        "num_decoder_layers": (None, settings["num_layers"]),
        "d_k": (None, head),
        "d_v": (None, head),
    }.items():
        if settings.get(key) not in allowed:
            raise Unsuitable(f"the run has model.{key}={settings[key]}, which the peers have not")
    for site in SITES:
        if settings[site]["_target_"] != SCALED:
            raise Unsuitable(f"the run has another attention than scaled at model.{site}, which the peers have not")


def write_ids(path: Path, sentences: Iterable[Iterable[int]]) -> None:
    """A line for each sentence, its end mark left out."""
    lines = (" ".join(map(str, list(ids)[:-1])) + "\n" for ids in sentences)
    path.write_text("".join(lines), encoding="utf-8")


def sentences_in(batch_tokens: int, target_lengths: list[int]) -> int:
    """How many pairs have about `batch_tokens` target tokens, end marks included."""
    return max(1, round(batch_tokens * len(target_lengths) / sum(target_lengths)))


def score(work: Path, output: Path) -> dict[str, float]:
    """BLEU and mean length of what a runner has translated, for each search; {} where it translated less than all."""
    from minitx.data.tokenizer import Tokenizer
    from minitx.scoring import score_translations

    tokenizer = Tokenizer.load(work / "tokenizer.json")
    references = (work / "references.txt").read_text(encoding="utf-8").split("\n")[:-1]
    figures: dict[str, float] = {}
    for search in ("greedy", "beam_5"):
        lines = (output / f"{search}.ids").read_text(encoding="utf-8").split("\n")[:-1]
        ids = [[int(token) for token in line.split()] for line in lines]
        figures[f"{search}_mean_length"] = round(sum(map(len, ids)) / max(1, len(ids)), 2)
        if len(ids) == len(references):
            bleu = score_translations([tokenizer.decode(row) for row in ids], references)["bleu"]
            figures[f"{search}_bleu"] = float(bleu)
    return figures


def agreement(ours: Path, theirs: Path) -> float:
    """The share of sentences that two systems translate alike."""
    pairs = list(zip(ours.read_text().splitlines(), theirs.read_text().splitlines(), strict=True))
    return round(sum(a == b for a, b in pairs) / max(1, len(pairs)), 4)
