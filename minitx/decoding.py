"""From source ids to target ids: greedy and beam search (§6.1), batched, with cached keys and values.

What a sentence is translated into depends on that sentence alone: its length limit comes from its own source, and
batches are only a way of doing many at once.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor, nn

from minitx.errors import UserError
from minitx.nn.mask import padding_mask
from minitx.nn.top_k import top_k

EncoderDecoder = Any
"""`minitx.models.transformer.Transformer`, or whatever else has its `encode`, `start_decoding` and `decode_step`."""

EXTRA_LENGTH = 50
"""How many tokens a translation may have beyond its source's: "input length + 50" (§6.1)."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation.

    Attributes:
        ids: target ids, without start and end mark.
        score: log P / lp(length), what hypotheses are ranked by; length counts the end mark.
        log_probability: log P(target | source), the end mark included.
    """

    ids: list[int]
    score: float
    log_probability: float


def penalty(length: int, length_penalty: float) -> float:
    """lp = ((5 + length) / 6)^α of Wu et al. (2016), which §6.1 follows; α = 0: none."""
    return ((5.0 + length) / 6.0) ** length_penalty


def length_limits(
    model: EncoderDecoder, source: Int[Tensor, "batch source"], max_length: int | None = None
) -> list[int]:
    """The most target tokens of each sentence, end mark included: its own source's + 50, within the model's reach."""
    longest = model.max_length if max_length is None else min(model.max_length, max_length)
    return [min(longest, n + EXTRA_LENGTH) for n in (source != model.pad_id).sum(dim=1).tolist()]


def greedy(
    model: EncoderDecoder,
    source: Int[Tensor, "batch source"],
    *,
    bos_id: int,
    eos_id: int,
    length_penalty: float = 0.0,
    max_length: int | None = None,
) -> list[Hypothesis]:
    """The likeliest token at each position; a sentence at its length limit ends there.

    Args:
        model: the Transformer.
        source: padded source ids, each sentence ended by its end mark.
        bos_id, eos_id: start and end mark.
        length_penalty: α; it changes scores, not translations.
        max_length: a limit on target tokens, beside each sentence's own.
    """
    if not len(source):
        return []
    with _deciding(model):
        limits = torch.tensor(length_limits(model, source, max_length), device=source.device)
        state = model.start_decoding(model.encode(source), padding_mask(source, model.pad_id))
        sentence = torch.arange(len(source), device=source.device)
        tokens = torch.full_like(sentence, bos_id)
        chosen = torch.full((len(source), int(limits.max())), eos_id, device=source.device)
        log_probability = torch.zeros(len(source), dtype=_sum_type(source.device), device=source.device)
        for step in range(chosen.shape[1]):
            log_p = _next_log_probabilities(model, tokens, state, bos_id)
            at_limit = limits[sentence] == step + 1
            tokens = torch.where(at_limit, eos_id, log_p.argmax(dim=-1))
            log_probability[sentence] += log_p.gather(1, tokens[:, None]).squeeze(1).to(log_probability.dtype)
            chosen[sentence, step] = tokens
            going_on = (tokens != eos_id).nonzero().squeeze(1)
            if not len(going_on):
                break
            if len(going_on) < len(tokens):
                state.select(going_on, going_on)
                sentence, tokens = sentence[going_on], tokens[going_on]
    return [
        _hypothesis(ids[: ids.index(eos_id)], log_p, length_penalty)
        for ids, log_p in zip(chosen.tolist(), log_probability.tolist(), strict=True)
    ]


def beam_search(
    model: EncoderDecoder,
    source: Int[Tensor, "batch source"],
    *,
    bos_id: int,
    eos_id: int,
    beam_size: int,
    length_penalty: float = 0.6,
    n_best: int = 1,
    max_length: int | None = None,
) -> list[list[Hypothesis]]:
    """The best `n_best` hypotheses of each sentence that a beam of `beam_size` finds, best first.

    At each step the `beam_size` likeliest continuations of all live hypotheses are kept: those that end are finished,
    the others live on. A sentence is done when none lives on, when no live one can still beat its n-th best finished
    one, or at its length limit, where only the end mark may follow. A beam of 1 is `greedy`.

    Args: as for `greedy`, and
        beam_size: width of the beam.
        length_penalty: α of `penalty`.
        n_best: hypotheses to return, at most `beam_size`; fewer come back only where the vocabulary and the length
            limit do not allow as many.

    Raises:
        UserError: if the numbers do not go together.
    """
    _check(length_penalty, beam_size=beam_size, n_best=n_best, max_length=max_length)
    if not len(source):
        return []
    with _deciding(model):
        limits = length_limits(model, source, max_length)
        finished: list[list[Hypothesis]] = [[] for _ in limits]
        beams = _Beams(model, source, beam_size, bos_id, eos_id)
        for step in range(1, max(limits) + 1):
            ended, best_live = beams.step([limits[i] == step for i in beams.sentence])
            for row, ids, log_p in ended:
                finished[beams.sentence[row]].append(_hypothesis(ids, log_p, length_penalty))
            going_on = []
            for row, (i, live) in enumerate(zip(beams.sentence, best_live, strict=True)):
                pool = sorted((done.score for done in finished[i]), reverse=True)
                reachable = live / penalty(limits[i], length_penalty)  # log P only falls; lp is largest at the limit
                beaten = len(pool) >= n_best and pool[n_best - 1] >= reachable
                if math.isfinite(live) and limits[i] > step and not beaten:
                    going_on.append(row)
            if not going_on:
                break
            beams.keep(going_on)
    nothing = [Hypothesis([], math.nan, math.nan)]  # of a model whose logits are no numbers
    return [sorted(pool, key=lambda done: -done.score)[:n_best] or nothing for pool in finished]


class _Beams:
    """The live hypotheses of the sentences that are not done: tensors of [sentences, beam]."""

    def __init__(self, model: EncoderDecoder, source: Tensor, beam_size: int, bos_id: int, eos_id: int) -> None:
        self.model, self.size, self.bos_id, self.eos_id = model, beam_size, bos_id, eos_id
        self.device = source.device
        self.sentence = list(range(len(source)))
        self.state = model.start_decoding(model.encode(source), padding_mask(source, model.pad_id))
        self.tokens = torch.full((len(source), beam_size), bos_id, device=self.device)
        self.history = torch.empty((len(source), beam_size, 0), dtype=torch.int64, device=self.device)
        # One live hypothesis to begin with: copies of it would find the same continuations again.
        self.log_p = torch.full((len(source), beam_size), -torch.inf, dtype=_sum_type(self.device), device=self.device)
        self.log_p[:, 0] = 0.0

    def step(self, at_limit: list[bool]) -> tuple[list[tuple[int, list[int], float]], list[float]]:
        """Extend every live hypothesis by a token; where `at_limit`, by the end mark.

        Returns:
            The hypotheses that ended, as (row, ids, log P), and each row's best live log P.
        """
        log_p = _next_log_probabilities(self.model, self.tokens.flatten(), self.state, self.bos_id)
        if any(at_limit):
            closed = torch.tensor(at_limit, device=self.device).repeat_interleave(self.size)
            ending = log_p[closed, self.eos_id]
            log_p[closed] = -torch.inf
            log_p[closed, self.eos_id] = ending
        top, self.tokens, self.origin = self._best(log_p)
        ends = self.tokens == self.eos_id
        row, rank = (ends & top.isfinite()).nonzero().unbind(dim=1)
        ended_ids = self.history[row, self.origin[row, rank]].tolist()
        ended = list(zip(row.tolist(), ended_ids, top[row, rank].tolist(), strict=True))
        self.log_p = top.masked_fill(ends, -torch.inf)  # a place without a live hypothesis
        past = self.history.gather(1, self.origin[..., None].expand(-1, -1, self.history.shape[2]))
        self.history = torch.cat([past, self.tokens[..., None]], dim=2)
        return ended, self.log_p.amax(dim=1).tolist()

    def _best(self, log_p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The likeliest continuations of each sentence: log P, token, and which hypothesis each continues."""
        width = min(self.size, log_p.shape[1])
        best, token = top_k(log_p, width)  # of each hypothesis, then of each sentence
        total = (self.log_p.flatten()[:, None] + best).unflatten(0, (-1, self.size)).flatten(1)
        top, place = total.topk(self.size, dim=1)
        return top, token.unflatten(0, (-1, self.size)).flatten(1).gather(1, place), place // width

    def keep(self, rows: list[int]) -> None:
        """Go on with the sentences at `rows`, each hypothesis with the cache of the one it extends."""
        kept = torch.tensor(rows, device=self.device)
        hypotheses = (kept[:, None] * self.size + self.origin[kept]).flatten()
        self.state.select(hypotheses, None if len(rows) == len(self.sentence) else kept)
        self.sentence = [self.sentence[row] for row in rows]
        self.tokens, self.log_p, self.history = self.tokens[kept], self.log_p[kept], self.history[kept]


def translate_ids(
    model: EncoderDecoder,
    sources: Sequence[Sequence[int] | NDArray[np.integer]],
    *,
    bos_id: int,
    eos_id: int,
    beam_size: int = 1,
    length_penalty: float = 0.6,
    n_best: int = 1,
    max_length: int | None = None,
    batch_size: int = 64,
    on_progress: Callable[[int], None] | None = None,
) -> list[list[Hypothesis]]:
    """Translate any number of sentences, sorted by length into batches; results stand in the order of `sources`.

    Args: as for `beam_search`, and
        sources: source ids, each ended by its end mark.
        batch_size: sentences translated at once; it changes speed, not translations.
        on_progress: told how many sentences are done, at the start and after each batch.

    Raises:
        UserError: if the numbers do not go together.
    """
    _check(length_penalty, beam_size=beam_size, n_best=n_best, max_length=max_length, batch_size=batch_size)
    if on_progress:
        on_progress(0)
    device = next(model.parameters()).device
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    results: list[list[Hypothesis]] = [[] for _ in sources]
    for first in range(0, len(order), batch_size):
        chosen = order[first : first + batch_size]
        rows = [torch.tensor(sources[i], dtype=torch.int64) for i in chosen]
        batch = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad_id).to(device)
        marks: dict[str, Any] = {
            "bos_id": bos_id,
            "eos_id": eos_id,
            "length_penalty": length_penalty,
            "max_length": max_length,
        }
        if beam_size == 1:
            found = [[hypothesis] for hypothesis in greedy(model, batch, **marks)]
        else:
            found = beam_search(model, batch, beam_size=beam_size, n_best=n_best, **marks)
        for i, hypotheses in zip(chosen, found, strict=True):
            results[i] = hypotheses
        if on_progress:
            on_progress(first + len(chosen))
    return results


def _check(length_penalty: float, **numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise UserError(f"{name}={number}: it must be at least 1.")
    if (wanted := numbers["n_best"] or 1) > (beam_size := numbers["beam_size"] or 1):
        raise UserError(
            f"A beam of {beam_size} cannot give the {wanted} best translations: beam_size must be {wanted}."
        )
    if not length_penalty >= 0:
        raise UserError(f"length_penalty={length_penalty}: it must be at least 0.")


def _sum_type(device: torch.device) -> torch.dtype:
    """What log probabilities are summed in: double precision, where the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


@contextmanager
def _deciding(model: EncoderDecoder) -> Iterator[None]:
    """No dropout and no gradients inside; the model's mode is given back."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(training)


def _next_log_probabilities(model: EncoderDecoder, tokens: Tensor, state: Any, bos_id: int) -> Tensor:
    """log P of each next token; padding and the start mark never follow."""
    logits = model.decode_step(tokens, state)
    log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)
    log_p[:, [model.pad_id, bos_id]] = -torch.inf
    return log_p


def _hypothesis(ids: list[int], log_probability: float, length_penalty: float) -> Hypothesis:
    return Hypothesis(ids, log_probability / penalty(len(ids) + 1, length_penalty), log_probability)
