"""A run's model on text: from strings to translated strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minitx.data.lines import one_line, sentence
from minitx.data.tokenizer import BOS_ID, EOS_ID
from minitx.decoding import Hypothesis, penalty, translate_ids
from minitx.errors import UserError
from minitx.heatmap import cross_attention_weights, draw_cross_attention
from minitx.loading import LoadedRun, load_run

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’»)\]])\s+|(?<=[。！？])")


@dataclass(frozen=True)
class Translation:
    """A translation as text.

    Attributes:
        text: detokenised, on one line.
        score: log P / lp(length) (`minitx.decoding.Hypothesis`).
        log_probability: log P of its tokens, end mark included.
    """

    text: str
    score: float
    log_probability: float


class Translator:
    """A run's model on text.

    Args:
        run: a loaded run.
        split_long: cut a text that is longer than the model's maximum at its sentence ends; else it is refused.
        search: options of `minitx.decoding.translate_ids`; beam size and length penalty are by default those that the
            run was tested with.
    """

    def __init__(self, run: LoadedRun, *, split_long: bool = False, **search: Any) -> None:
        self.run, self.split_long = run, split_long
        self.search = tested_with(run) | {name: value for name, value in search.items() if value is not None}

    @classmethod
    def from_run(
        cls, path: str | Path, *, checkpoint: str | None = None, device: str = "auto", **options: Any
    ) -> Translator:
        """The translator of a run directory; `options` as for the class.

        Raises:
            UserError: as `minitx.loading.load_run`.
        """
        return cls(load_run(path, checkpoint, device), **options)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The best translation of each text, in their order; an empty one for an empty or blank text.

        Raises:
            UserError: a text is longer than the model's maximum and may not or cannot be split.
        """
        return [found[0].text if found else "" for found in self.hypotheses(texts)]

    def hypotheses(
        self,
        texts: Sequence[str],
        name: Callable[[int], str] = "text {}".format,
        on_progress: Callable[[int], None] | None = None,
    ) -> list[list[Translation]]:
        """The `n_best` translations of each text, best first; none for an empty or blank text.

        Args:
            texts: any strings.
            name: what messages call the text of a number, counted from 1.
            on_progress: told how many pieces are translated, at the start and after each batch.

        Raises:
            UserError: as `translate`.
        """
        pieces = self.pieces(texts, name)
        flat = [ids for parts in pieces for ids in parts]
        found = iter(
            translate_ids(self.run.model, flat, bos_id=BOS_ID, eos_id=EOS_ID, on_progress=on_progress, **self.search)
        )
        return [self._join([next(found) for _ in parts]) for parts in pieces]

    def pieces(self, texts: Sequence[str], name: Callable[[int], str] = "text {}".format) -> list[list[list[int]]]:
        """The ids that stand for each text: one sequence, none for a blank text, several for one that is split.

        Raises:
            UserError: as `translate`.
        """
        clean = [sentence(text) for text in texts]
        encoded = self._encode(clean)
        return [
            self._fit(text, ids, name(number)) if text else []
            for number, (text, ids) in enumerate(zip(clean, encoded, strict=True), start=1)
        ]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [[*ids, EOS_ID] for ids in self.run.tokenizer.encode_batch(texts)]

    def _fit(self, text: str, ids: list[int], name: str) -> list[list[int]]:
        most = self.run.model.max_length
        if len(ids) <= most:
            return [ids]
        if not self.split_long:
            raise UserError(
                f"{name} has {len(ids)} tokens, more than the {most} that the model takes: shorten it, or let "
                "--split-long translate its sentences one by one."
            )
        parts = self._encode([part for part in SENTENCE_END.split(text) if part])
        if (longest := max(map(len, parts))) > most:
            raise UserError(
                f"{name} has a sentence of {longest} tokens, more than the {most} that the model takes, and no "
                "sentence end inside to split it at: shorten it."
            )
        return parts

    def _join(self, found: list[list[Hypothesis]]) -> list[Translation]:
        """The r-th best of each piece, together; the score is that of the whole."""
        ranks = max(map(len, found), default=0)
        return [self._translation([pool[min(rank, len(pool) - 1)] for pool in found]) for rank in range(ranks)]

    def _translation(self, pieces: list[Hypothesis]) -> Translation:
        text = " ".join(one_line(self.run.tokenizer.decode(piece.ids)) for piece in pieces)
        log_p = sum(piece.log_probability for piece in pieces)
        length = sum(len(piece.ids) + 1 for piece in pieces)
        return Translation(text, log_p / penalty(length, self.search["length_penalty"]), log_p)

    def draw_attention(self, text: str, path: Path, layer: int | None = None) -> None:
        """Draw the cross-attention of the best translation of `text` (`minitx.heatmap.draw_cross_attention`).

        Raises:
            UserError: the text is blank or too long, or the picture cannot be written.
        """
        pieces = self.pieces([text], lambda _: "The sentence to draw")[0]
        if len(pieces) != 1:
            raise UserError(
                "A heatmap needs one sentence that the model takes as a whole: give a shorter or longer one."
            )
        run = self.run
        best = translate_ids(run.model, pieces, bos_id=BOS_ID, eos_id=EOS_ID, **self.search)[0][0]
        target = [*best.ids, EOS_ID]
        weights = cross_attention_weights(run.model, pieces[0], target, BOS_ID)
        draw_cross_attention(weights, run.tokenizer.tokens(pieces[0]), run.tokenizer.tokens(target), path, layer)


def tested_with(run: LoadedRun) -> dict[str, Any]:
    """Beam size and length penalty of the run's own test."""
    usual = {"beam_size": 4, "length_penalty": 0.6}
    return {name: run.config["training"].get(name, value) for name, value in usual.items()}
