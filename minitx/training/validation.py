"""BLEU of the validation set during training: real decoding, shared out among the processes."""

from typing import Any

import lightning.pytorch as pl
import torch.distributed

from minitx.data.corpus import Corpus
from minitx.evaluation import translate_dataset
from minitx.scoring import score_translations
from minitx.training.run_directory import RunDirectory


class TranslateValidation:
    """Translates the validation set, keeps the translations in the run directory and gives their BLEU.

    Args:
        corpus: its `validation` split is translated.
        run: where `translations/validation.*.txt` go.
        search: options of `minitx.decoding.translate_ids`; greedy unless `beam_size` says otherwise.
    """

    def __init__(self, corpus: Corpus, run: RunDirectory, **search: Any) -> None:
        self.corpus = corpus
        self.run = run
        self.search = search

    def __call__(self, trainer: pl.Trainer, model: torch.nn.Module) -> dict[str, int | float]:
        """`validation_bleu` of the model as it is now: cased sacreBLEU of detokenised text."""
        dataset = self.corpus.validation
        mine = range(trainer.global_rank, len(dataset), trainer.world_size)
        hypotheses = translate_dataset(model, self.corpus.tokenizer, dataset, mine, **self.search)
        if trainer.world_size > 1:
            hypotheses = _interleave(hypotheses, trainer.world_size)
        references = dataset.references()
        if trainer.is_global_zero:
            self.run.write_translations("validation", hyp=hypotheses, ref=references, src=dataset.sources())
        return {"validation_bleu": float(score_translations(hypotheses, references)["bleu"])}


def _interleave(mine: list[str], world_size: int) -> list[str]:
    """All processes' sentences in the order of the split, of which each translated every `world_size`-th."""
    shares: list[list[str]] = [[] for _ in range(world_size)]
    torch.distributed.all_gather_object(shares, mine)
    whole = [""] * sum(map(len, shares))
    for rank, share in enumerate(shares):
        whole[rank::world_size] = share
    return whole
