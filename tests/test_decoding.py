"""Greedy and beam search against plain, uncached searches and against enumeration of every sequence."""

import functools
import itertools
import math

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from minitx.decoding import beam_search, greedy, penalty, translate_ids
from minitx.errors import UserError
from minitx.models.build import build_transformer
from minitx.nn.compatibility import Additive, Bilinear, Cosine, InverseDk, ScaledDotProduct, UnscaledDotProduct

PAD, BOS, EOS = 0, 1, 2
MARKS = {"bos_id": BOS, "eos_id": EOS}
COUNT = 20
VARIANTS = [ScaledDotProduct, UnscaledDotProduct, InverseDk, Bilinear, Cosine, Additive]
variants = pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)


def small_model(variant=ScaledDotProduct, vocab_size=13, max_length=12, seed=1, **changes):
    sites = dict.fromkeys(["encoder_self_attention", "decoder_self_attention", "cross_attention"], variant)
    sizes = {"d_model": 16, "d_ff": 24, "num_heads": 2, "num_layers": 2, "dropout": 0.0} | changes
    return build_transformer(vocab_size=vocab_size, pad_id=PAD, seed=seed, max_length=max_length, **sites, **sizes)


@functools.cache
def trained_model(variant):
    """A model that has half learnt to copy: its translations differ in words and length, and are worth a search."""
    model = small_model(variant, norm="pre", num_layers=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(60):
        target = pad_sequence([torch.tensor(s) for s in random_sources(32, seed=1000 + step)], batch_first=True)
        logits = model(target, torch.nn.functional.pad(target, (1, 0), value=BOS)[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), target, ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def random_sources(count, vocab_size=13, longest=9, seed=0):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, longest, (count,), generator=generator).tolist()
    return [[*torch.randint(3, vocab_size, (n,), generator=generator).tolist(), EOS] for n in lengths]


@torch.no_grad()
def next_log_p(model, source, prefix):
    """log P of each next token by the whole model at once, without any cache."""
    log_p = model(torch.tensor([source]), torch.tensor([[BOS, *prefix]]))[0, -1].log_softmax(dim=-1)
    log_p[[PAD, BOS]] = -torch.inf
    return log_p


def plain_greedy(model, source, limit):
    ids, total = [], 0.0
    for step in range(1, limit + 1):
        log_p = next_log_p(model, source, ids)
        token = EOS if step == limit else int(log_p.argmax())
        total += float(log_p[token])
        if token == EOS:
            break
        ids.append(token)
    return ids, total


def plain_beam(model, source, limit, beam_size, length_penalty):
    """Beam search as its docstring describes it, a sentence and a hypothesis at a time, never stopped by a bound."""
    live, finished = [([], 0.0)], []
    for step in range(1, limit + 1):
        continuations = []
        for ids, total in live:
            log_p = next_log_p(model, source, ids)
            tokens = [EOS] if step == limit else range(len(log_p))
            continuations += [(total + float(log_p[t]), ids, t) for t in tokens if log_p[t].isfinite()]
        continuations.sort(key=lambda c: -c[0])
        finished += [(ids, total) for total, ids, t in continuations[:beam_size] if t == EOS]
        live = [([*ids, t], total) for total, ids, t in continuations[:beam_size] if t != EOS]
    scored = [(total / penalty(len(ids) + 1, length_penalty), ids) for ids, total in finished]
    return sorted(scored, key=lambda s: -s[0])


@variants
def test_greedy_with_cache_equals_greedy_without(variant):
    model = trained_model(variant)
    sources = random_sources(12)
    found = translate_ids(model, sources, **MARKS, batch_size=5)
    lengths = set()
    for source, [hypothesis] in zip(sources, found, strict=True):
        ids, total = plain_greedy(model, source, 12)
        assert hypothesis.ids == ids
        assert hypothesis.log_probability == pytest.approx(total, abs=1e-4)
        assert hypothesis.score == pytest.approx(total / penalty(len(ids) + 1, 0.6), abs=1e-4)
        lengths.add(len(ids))
    assert len(lengths) > 3


@variants
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_beam_search_with_cache_equals_beam_search_without(variant, length_penalty):
    model = trained_model(variant)
    sources = random_sources(5, longest=7, seed=4)
    search = {"beam_size": 3, "n_best": 3, "length_penalty": length_penalty}
    found = translate_ids(model, sources, **MARKS, **search, batch_size=4)
    for source, hypotheses in zip(sources, found, strict=True):
        expected = plain_beam(model, source, 12, 3, length_penalty)[:3]
        assert [h.ids for h in hypotheses] == [ids for _, ids in expected]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], abs=1e-4)


@variants
def test_a_beam_of_one_is_greedy(variant):
    model = trained_model(variant)
    source = pad_sequence([torch.tensor(s) for s in random_sources(16)], batch_first=True)
    alone = beam_search(model, source, **MARKS, beam_size=1, length_penalty=0.6)
    for [beam], likeliest in zip(alone, greedy(model, source, **MARKS, length_penalty=0.6), strict=True):
        assert beam.ids == likeliest.ids
        assert beam.score == pytest.approx(likeliest.score, abs=1e-5)


@pytest.mark.parametrize("beam_size", [1, 4])
@variants
def test_e1_batch_size_and_order_change_no_translation(variant, beam_size):
    model = trained_model(variant)
    sources = random_sources(COUNT, longest=12, seed=7)
    order = torch.randperm(COUNT, generator=torch.Generator().manual_seed(5)).tolist()
    found = {}
    for batch_size in (1, 7, 64):
        found[batch_size] = translate_ids(model, sources, **MARKS, beam_size=beam_size, batch_size=batch_size)
    shuffled = translate_ids(model, [sources[i] for i in order], **MARKS, beam_size=beam_size, batch_size=7)
    found["shuffled"] = [shuffled[order.index(i)] for i in range(COUNT)]
    near_ties = 0
    for other in (found[7], found[64], found["shuffled"]):
        for [mine], [theirs] in zip(found[1], other, strict=True):
            if mine.ids != theirs.ids:
                assert abs(mine.score - theirs.score) < 1e-5
                near_ties += 1
            else:
                assert mine.score == pytest.approx(theirs.score, abs=1e-5)
    assert near_ties <= 1
    assert len({tuple(h.ids) for [h] in found[1]}) > COUNT / 2


@torch.no_grad()
def every_sequence(model, source, tokens, limit, length_penalty):
    """Score and ids of all sequences of at most `limit` tokens, end mark included, best first."""
    scored = []
    for length in range(limit):
        rows = [list(ids) for ids in itertools.product(tokens, repeat=length)]
        target = torch.tensor([[*ids, EOS] for ids in rows])
        target_input = torch.nn.functional.pad(target[:, :-1], (1, 0), value=BOS)
        log_p = model(torch.tensor([source] * len(rows)), target_input).log_softmax(dim=-1)
        totals = log_p.gather(2, target[..., None]).double().sum(dim=(1, 2)) / penalty(length + 1, length_penalty)
        scored += zip(totals.tolist(), rows, strict=True)
    return sorted(scored, key=lambda s: -s[0])


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("variant", [ScaledDotProduct, Additive], ids=lambda variant: variant.__name__)
def test_e2_a_beam_as_wide_as_the_set_of_prefixes_finds_what_enumeration_finds(variant, length_penalty):
    model = small_model(variant, vocab_size=6, max_length=5)
    sources = [[3, 5, EOS], [4, EOS], [3, 3, 4, 5, EOS]]
    prefixes = sum(3**length for length in range(5))
    search = {"beam_size": prefixes, "length_penalty": length_penalty}
    everything = translate_ids(model, sources, **MARKS, **search, n_best=prefixes)
    best = translate_ids(model, sources, **MARKS, **search)
    for source, hypotheses, [first] in zip(sources, everything, best, strict=True):
        expected = every_sequence(model, source, [3, 4, 5], 5, length_penalty)
        assert len(hypotheses) == len(expected) == prefixes
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], abs=1e-5)
        assert sorted(h.ids for h in hypotheses) == sorted(ids for _, ids in expected)
        assert first.score == pytest.approx(expected[0][0], abs=1e-5)
        assert first.ids == expected[0][1]


def test_no_sentences_give_no_translations():
    model = small_model()
    assert translate_ids(model, [], **MARKS) == []
    assert greedy(model, torch.zeros(0, 3, dtype=torch.int64), **MARKS) == []
    assert beam_search(model, torch.zeros(0, 3, dtype=torch.int64), **MARKS, beam_size=2) == []


@pytest.mark.parametrize("beam_size", [1, 2])
def test_a_training_model_is_decoded_without_dropout_and_trains_on(beam_size):
    model = small_model(dropout=0.5)
    sources = random_sources(6)
    model.eval()
    expected = translate_ids(model, sources, **MARKS, beam_size=beam_size)
    model.train()
    before = torch.get_rng_state()
    assert translate_ids(model, sources, **MARKS, beam_size=beam_size) == expected
    assert model.training
    assert torch.equal(torch.get_rng_state(), before)
    assert model.embedding.weight.requires_grad


def test_progress_is_told_from_none_to_all():
    told = []
    translate_ids(small_model(), random_sources(7), **MARKS, batch_size=3, on_progress=told.append)
    assert told == [0, 3, 6, 7]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size=0"),
        ({"beam_size": 2, "n_best": 3}, "A beam of 2 cannot give the 3 best"),
        ({"length_penalty": -0.5}, "length_penalty=-0.5"),
        ({"length_penalty": math.nan}, "length_penalty=nan"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"max_length": 0}, "max_length=0"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        translate_ids(small_model(), [[3, EOS]], **MARKS, **options)
