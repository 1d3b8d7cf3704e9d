"""The rules of decoding on models written by hand, whose best translation is known without a search."""

import math

import pytest
import torch

from minitx.decoding import beam_search, greedy, length_limits, penalty, translate_ids

PAD, BOS, EOS = 0, 1, 2
MARKS = {"bos_id": BOS, "eos_id": EOS}


class Scripted:
    """A model whose next token depends on the newest one alone: `logits` [vocab, vocab]."""

    def __init__(self, logits, max_length=20):
        self.table = torch.as_tensor(logits, dtype=torch.float32)
        self.pad_id, self.max_length, self.training = PAD, max_length, False
        self.steps, self.rows = 0, []

    def parameters(self):
        return iter([self.table])

    def encode(self, source):
        return source[..., None].float()

    def start_decoding(self, memory, source_mask):
        return self

    def select(self, rows, sources=None):
        self.rows.append(len(rows))

    def decode_step(self, tokens, state):
        self.steps += 1
        return self.table[tokens].clone()

    def eval(self):
        self.training = False

    def train(self, mode=True):
        self.training = mode


def test_penalty_is_that_of_wu_et_al():
    assert penalty(7, 1.0) == pytest.approx(2.0)
    assert penalty(1, 0.6) == 1.0
    assert penalty(19, 0.5) == pytest.approx(2.0)
    assert penalty(100, 0.0) == 1.0


def test_length_limit_is_the_sources_own_length_plus_50():
    source = torch.tensor([[3, 4, EOS, PAD], [3, EOS, PAD, PAD]])
    assert length_limits(Scripted(torch.zeros(5, 5), max_length=200), source) == [53, 52]
    assert length_limits(Scripted(torch.zeros(5, 5), max_length=52), source) == [52, 52]
    assert length_limits(Scripted(torch.zeros(5, 5), max_length=200), source, max_length=9) == [9, 9]


def test_a_finished_sentence_stops_when_nothing_can_beat_it():
    """From BOS: EOS with probability 0.9; no other hypothesis can reach log 0.9, however long it gets."""
    table = torch.full((6, 6), math.log(0.02)).index_fill(1, torch.tensor([EOS]), math.log(0.9))
    model = Scripted(table)
    [[best]] = beam_search(model, torch.tensor([[3, EOS]]), **MARKS, beam_size=4, length_penalty=0.0)
    assert best.ids == []
    assert best.score == best.log_probability == pytest.approx(math.log(0.9))
    assert model.steps == 1


def test_a_likelier_longer_hypothesis_is_waited_for():
    """EOS at once has log P = log 0.5; 3 3 3 EOS has nearly that, and wins as soon as length is rewarded."""
    table = torch.full((5, 5), -30.0)
    table[BOS, [EOS, 3]] = torch.tensor([0.5, 0.49]).log()
    for now, then in ((3, 4), (4, EOS)):
        table[now, then] = 0.0
    search = MARKS | {"beam_size": 3}
    [[short]] = beam_search(Scripted(table), torch.tensor([[3, EOS]]), **search, length_penalty=0.0)
    [[long]] = beam_search(Scripted(table), torch.tensor([[3, EOS]]), **search, length_penalty=1.0)
    assert short.ids == []
    assert long.ids == [3, 4]
    assert long.score == pytest.approx(math.log(0.49 / 0.99) / (8 / 6), abs=1e-2)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_padding_and_start_mark_are_never_generated(beam_size):
    table = torch.zeros(6, 6)
    table[:, [PAD, BOS]] = 9.0
    table[:, EOS] = -1.0
    [hypotheses] = translate_ids(
        Scripted(table), [[3, EOS]], **MARKS, beam_size=beam_size, n_best=beam_size, max_length=6
    )
    assert len(hypotheses) == beam_size
    for hypothesis in hypotheses:
        assert set(hypothesis.ids) <= {3, 4, 5}
        assert len(hypothesis.ids) <= 5


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_limit_ends_a_sentence_with_its_end_mark_counted(beam_size):
    table = torch.zeros(5, 5).index_fill(1, torch.tensor([EOS]), -20.0)
    [[best]] = translate_ids(Scripted(table, max_length=7), [[3, EOS]], **MARKS, beam_size=beam_size)
    assert len(best.ids) == 6
    step, end = (float(row.log_softmax(0)[token]) for row, token in ((table[3], 3), (table[3], EOS)))
    assert best.log_probability == pytest.approx(6 * step + end, abs=1e-5)


def test_finished_sentences_leave_the_batch():
    """Sentences 1 to 3 end at their own limits; the model is then asked for fewer rows."""
    table = torch.zeros(5, 5).index_fill(1, torch.tensor([EOS]), -20.0)
    for search in (lambda m, s: greedy(m, s, **MARKS), lambda m, s: beam_search(m, s, **MARKS, beam_size=2)):
        model = Scripted(table, max_length=200)
        search(model, torch.tensor([[3, 3, 3, EOS], [3, EOS, PAD, PAD], [EOS, PAD, PAD, PAD]]))
        assert model.rows[-1] < model.rows[0]
        assert model.steps == 54


@pytest.mark.parametrize("beam_size", [1, 3])
def test_logits_that_are_no_numbers_give_an_empty_translation(beam_size):
    [[nothing]] = translate_ids(Scripted(torch.full((6, 6), math.nan)), [[3, EOS]], **MARKS, beam_size=beam_size)
    assert nothing.ids == []
    assert math.isnan(nothing.score)


def test_the_n_th_best_is_waited_for_too():
    """After EOS (0.6) and 3 EOS (0.12) have ended, 3 4 (0.18) is alive: it can still become the second best."""
    table = torch.full((5, 5), -30.0)
    for now, then, probability in [(BOS, EOS, 0.6), (BOS, 3, 0.3), (3, EOS, 0.4), (3, 4, 0.6), (4, EOS, 1.0)]:
        table[now, then] = math.log(probability)
    search = MARKS | {"beam_size": 2, "length_penalty": 0.0}
    [two] = beam_search(Scripted(table), torch.tensor([[3, EOS]]), **search, n_best=2)
    assert [best.ids for best in two] == [[], [3, 4]]
    assert math.exp(two[1].score) == pytest.approx(0.3 / 0.9 * 0.6, abs=1e-5)  # a first row of 0.6 + 0.3 is normalised
