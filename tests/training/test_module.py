"""Optimisation: what a step's gradient is, whatever it is cut into (O1), and what its learning rate is (O2)."""

import math
from functools import partial

import lightning.pytorch as pl
import pytest
import torch
from torch.utils.data import DataLoader

from minitx.data.batch import Batch
from minitx.models.build import build_transformer
from minitx.nn.compatibility import ScaledDotProduct
from minitx.nn.loss import plain_loss, projected_loss
from minitx.training.module import NonFiniteLoss, TranslationModule
from minitx.training.schedule import InverseSqrt

SLOTS = dict.fromkeys(("encoder_self_attention", "decoder_self_attention", "cross_attention"), ScaledDotProduct)


def tiny(**changes):
    sizes = {"vocab_size": 20, "pad_id": 0, "seed": 1, "d_model": 8, "d_ff": 16, "num_heads": 2, "num_layers": 1}
    return build_transformer(**{**sizes, **SLOTS, "dropout": 0.0, **changes})


def batch_of(lengths, seed=0):
    """Pairs of the given target lengths, padded to the longest."""
    generator = torch.Generator().manual_seed(seed)
    rows, longest = len(lengths), max(lengths)
    source = torch.randint(4, 20, (rows, 5), generator=generator)
    target = torch.randint(4, 20, (rows, longest + 1), generator=generator)
    target[:, 0] = 1
    for row, length in enumerate(lengths):
        target[row, length + 1 :] = 0
    return Batch(
        source, target[:, :-1].clone(), target[:, 1:].clone(), torch.arange(rows), source.numel(), sum(lengths)
    )


def cut(batch, sizes):
    """The same pairs as several batches."""
    first = 0
    for size in sizes:
        part = slice(first, first + size)
        real = int((batch.target_output[part] != 0).sum())
        yield Batch(
            batch.source[part], batch.target_input[part], batch.target_output[part], batch.ids[part], 5 * size, real
        )
        first += size


class Watch(pl.Callback):
    """Keeps each finished step's figures and weights."""

    def __init__(self):
        self.steps, self.weights = [], []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if module.finished_step:
            self.steps.append(module.finished_step)
            self.weights.append(torch.nn.utils.parameters_to_vector(module.model.parameters()).detach().clone())


def fit(batches, tmp_path, model=None, max_epochs=1, precision="64-true", **settings):
    watch = Watch()
    options = {"optimizer": partial(torch.optim.SGD, lr=1.0), "schedule": lambda step: 1.0, "loss": plain_loss}
    module = TranslationModule(model or tiny(), **{**options, **settings})
    trainer = pl.Trainer(
        accelerator="cpu",
        max_epochs=max_epochs,
        precision=precision,
        logger=False,
        callbacks=[watch],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    trainer.fit(module, DataLoader(batches, batch_size=None))
    return watch


@pytest.mark.parametrize("loss", [plain_loss, projected_loss])
def test_o1_unequal_micro_batches_give_the_gradient_of_the_one_big_batch(tmp_path, loss):
    whole = batch_of([1, 2, 9, 4, 3, 7, 2, 5, 6, 1])
    start = torch.nn.utils.parameters_to_vector(tiny().double().parameters())
    one = fit([whole], tmp_path, loss=loss)
    four = fit(list(cut(whole, [1, 4, 3, 2])), tmp_path, loss=loss, accumulate_batches=4)
    assert len(one.steps) == len(four.steps) == 1
    # With plain gradient descent at rate 1 the change of the weights is the gradient.
    torch.testing.assert_close(four.weights[0] - start, one.weights[0] - start, rtol=1e-6, atol=1e-12)
    assert four.steps[0].train_loss == pytest.approx(one.steps[0].train_loss, rel=1e-12)
    assert four.steps[0].target_tokens == one.steps[0].target_tokens == 40


def test_o1_the_gradient_is_that_of_the_mean_over_target_tokens(tmp_path):
    batch, model = batch_of([3, 6, 1]), tiny().double()
    logits = model(batch.source, batch.target_input)
    real = batch.target_output != 0
    loss = torch.nn.functional.cross_entropy(logits[real], batch.target_output[real], label_smoothing=0.1)
    gradient = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])
    start = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    watch = fit([batch], tmp_path)
    torch.testing.assert_close(start - watch.weights[0], gradient, rtol=1e-9, atol=1e-14)
    assert watch.steps[0].gradient_norm == pytest.approx(float(gradient.norm()), rel=1e-9)


def test_a_long_gradient_is_clipped_to_its_norm(tmp_path):
    batch = batch_of([3, 6, 1])
    start = torch.nn.utils.parameters_to_vector(tiny().double().parameters()).detach()
    watch = fit([batch], tmp_path, clip_norm=0.01)
    assert float((watch.weights[0] - start).norm()) == pytest.approx(0.01, rel=1e-3)
    assert watch.steps[0].gradient_norm > 0.01


def test_o2_the_learning_rate_is_the_closed_form_with_accumulation(tmp_path):
    schedule = InverseSqrt(0.1, 3, 8)
    batches = list(cut(batch_of([2] * 14), [2] * 7))
    watch = fit(batches, tmp_path, schedule=schedule, accumulate_batches=2, max_epochs=2)
    # Seven batches an epoch: the fourth step takes the last of the one and the first of the next.
    assert [figures.step for figures in watch.steps] == list(range(1, 8))
    assert [figures.target_tokens for figures in watch.steps] == [8] * 7
    assert [figures.learning_rate for figures in watch.steps] == [schedule(step) for step in range(1, 8)]
    first = watch.weights[1] - watch.weights[0]
    assert float(first.norm()) == pytest.approx(schedule(2) * watch.steps[1].gradient_norm, rel=1e-6)


def test_o1_training_ends_with_a_step_of_the_batches_that_are_left(tmp_path):
    watch = fit(list(cut(batch_of([2] * 14), [2] * 7)), tmp_path, accumulate_batches=4, max_epochs=2)
    assert [figures.target_tokens for figures in watch.steps] == [16, 16, 16, 8]


def test_a_loss_that_is_no_number_ends_the_run_and_names_the_pairs(tmp_path):
    model = tiny()
    torch.nn.init.constant_(model.embedding.weight, torch.nan)
    with pytest.raises(NonFiniteLoss) as caught:
        fit([batch_of([2, 3])], tmp_path, model=model)
    assert (caught.value.step, caught.value.batch_ids) == (1, [0, 1])
    where = {"site": "encoder_self_attention", "layer": 0, "head": 0, "value": "nan"}
    assert caught.value.as_plain_data() == {"step": 1, "batch_ids": [0, 1], "largest_score": where}
    assert "largest score nan at encoder_self_attention, layer 0, head 0" in str(caught.value)


@pytest.mark.parametrize("site", ["encoder.0.self_attention", "decoder.0.self_attention", "decoder.0.cross_attention"])
def test_n3_the_attention_whose_scores_overflow_is_named(tmp_path, site):
    """The loss is made infinite by queries and keys that are too long at one site, in one head of two."""
    model = tiny().double()
    attention = model.get_submodule(site)
    with torch.no_grad():
        for projection in (attention.query_projection, attention.key_projection):
            projection.weight[4:] *= 1e200
    good, bad = batch_of([4]), batch_of([2, 3], seed=1)
    bad.ids += 100
    with pytest.raises(NonFiniteLoss) as caught:
        fit([good, bad], tmp_path, model=model, accumulate_batches=2)
    found = caught.value.largest_score
    assert found.site == site.replace(".0.", "_").replace("decoder_cross", "cross")
    assert (found.layer, found.head, math.isfinite(found.value)) == (0, 1, False)
    assert caught.value.batch_ids == [0, 100, 101]
