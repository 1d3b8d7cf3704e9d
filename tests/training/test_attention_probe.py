"""The attention probe: what it records, when, and that training does not notice it."""

import csv
from functools import partial

import lightning.pytorch as pl
import pytest
import torch
from lightning.pytorch.loggers import TensorBoardLogger
from lightning.pytorch.strategies import FSDPStrategy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.custom_scalar import layout_pb2
from torch.utils.data import DataLoader

from minitx.data.batch import collate
from minitx.data.dataset import Example
from minitx.errors import UserError
from minitx.models.build import build_transformer
from minitx.nn.compatibility import ScaledDotProduct, UnscaledDotProduct
from minitx.nn.loss import plain_loss
from minitx.nn.score_reading import attention_sites, read_scores
from minitx.nn.score_statistics import STATISTICS, score_statistics
from minitx.training.attention_probe import AttentionProbe
from minitx.training.module import TranslationModule
from minitx.training.recorder import Recorder
from minitx.training.run_directory import MetricsFile

SITES = ("encoder_self_attention", "decoder_self_attention", "cross_attention")
HEADS = ("0", "1", "mean")
STEPS = 7


def pairs(count, seed):
    generator = torch.Generator().manual_seed(seed)

    def sentence():
        length = int(torch.randint(1, 8, (), generator=generator))
        return [*torch.randint(4, 20, (length,), generator=generator).tolist(), 2]

    return [Example(i, sentence(), sentence()) for i in range(count)]


class Data(pl.LightningDataModule):
    """`STEPS` batches of four pairs, and five pairs to validate on."""

    def __init__(self):
        super().__init__()
        train = pairs(4 * STEPS, seed=0)
        self.batches = [collate(train[i : i + 4]) for i in range(0, len(train), 4)]
        self.validation = pairs(5, seed=1)

    def train_dataloader(self):
        return DataLoader(self.batches, batch_size=None)

    def start_epoch(self, epoch):
        pass


class Watch(pl.Callback):
    """The weights after each step."""

    def __init__(self):
        self.weights = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.weights.append({name: w.detach().clone() for name, w in module.model.named_parameters()})


def train(directory, probe, logger=False, clip_norm=None):
    """The model, the rows of metrics.csv and the weights after each step of a short training."""
    variants = dict.fromkeys(SITES, ScaledDotProduct) | {"cross_attention": UnscaledDotProduct}
    sizes = {"vocab_size": 20, "pad_id": 0, "d_model": 8, "d_ff": 16, "num_heads": 2, "num_layers": 2, "dropout": 0.3}
    model = build_transformer(seed=1, **sizes, **variants)
    module = TranslationModule(
        model, partial(torch.optim.SGD, lr=0.5), lambda step: 0.5, plain_loss, clip_norm=clip_norm
    )
    directory.mkdir()
    watch = Watch()
    recorder = Recorder(MetricsFile(directory / "metrics.csv"), None, 1, translate=lambda trainer, model: {})
    torch.manual_seed(1)
    pl.Trainer(
        accelerator="cpu",
        max_steps=STEPS,
        logger=logger,
        callbacks=[recorder, *([probe] if probe else []), watch],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=directory,
    ).fit(module, datamodule=Data())
    with (directory / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return model, list(csv.DictReader(file)), watch.weights


def looked_at(rows):
    return [int(row["step"]) for row in rows if row.get("scores/cross_attention/1/mean/entropy")]


def test_training_does_not_notice_the_probe(tmp_path):
    _, rows, weights = train(tmp_path / "with", AttentionProbe(every=2))
    _, plain_rows, plain_weights = train(tmp_path / "without", None)
    timed = {"seconds", "tokens_per_second"}
    for row, plain in zip(rows, plain_rows, strict=True):
        assert {key: row[key] for key in plain if key not in timed} == {
            key: value for key, value in plain.items() if key not in timed
        }
    for after, plain in zip(weights, plain_weights, strict=True):
        assert all(torch.equal(after[name], plain[name]) for name in plain)


@pytest.mark.parametrize(("every", "steps"), [(3, [1, 3, 6, 7]), (100, [1, 7]), (1, [1, 2, 3, 4, 5, 6, 7]), (None, [])])
def test_it_looks_every_so_many_steps_and_at_the_first_and_last(tmp_path, every, steps):
    _, rows, _ = train(tmp_path / "run", AttentionProbe(every=every))
    assert looked_at(rows) == steps
    assert [int(row["step"]) for row in rows] == [*range(1, STEPS + 1)]
    assert all(row["train_loss"] for row in rows)


def test_every_site_layer_head_and_statistic_has_a_column(tmp_path):
    _, rows, _ = train(tmp_path / "run", AttentionProbe())
    scores = {
        f"scores/{site}/{layer}/{head}/{name}"
        for site in SITES
        for layer in (0, 1)
        for head in HEADS
        for name in STATISTICS
    }
    gradients = {f"gradients/{s}/{i}/{p}_projection" for s in SITES for i in (0, 1) for p in ("query", "key")}
    assert {key for key in rows[0] if "/" in key} == scores | gradients
    assert all(rows[-1][key] for key in scores | gradients)


def test_the_figures_are_those_of_the_weights_after_the_step(tmp_path):
    model, rows, _ = train(tmp_path / "run", AttentionProbe(pairs=3))
    batch = collate(Data().validation[:3])
    found = {}

    def read(these):
        by_head = score_statistics(these.scores, these.weights, these.mask, these.real)
        for name, figures in by_head.items():
            found[f"scores/{these.site.name}/{these.site.layer}", name] = figures.tolist()

    read_scores(model, batch.source, batch.target_input, read)
    assert len(found) == 6 * len(STATISTICS)
    for (where, name), heads in found.items():
        for head, figure in enumerate(heads):
            assert float(rows[-1][f"{where}/{head}/{name}"]) == pytest.approx(figure, rel=1e-6)
        assert float(rows[-1][f"{where}/mean/{name}"]) == pytest.approx(sum(heads) / 2, rel=1e-6)


@pytest.mark.parametrize("clip_norm", [None, 0.01])
def test_gradient_norms_are_those_of_the_step_before_clipping(tmp_path, clip_norm):
    _, rows, weights = train(tmp_path / "run", AttentionProbe(every=1), clip_norm=clip_norm)
    for step in range(2, STEPS + 1):
        row, before, after = rows[step - 1], weights[step - 2], weights[step - 1]
        clipped_by = 1.0 if clip_norm is None else (float(row["gradient_norm"]) + 1e-6) / clip_norm
        for stack, kind, site in [
            ("encoder", "self_attention", "encoder_self_attention"),
            ("decoder", "self_attention", "decoder_self_attention"),
            ("decoder", "cross_attention", "cross_attention"),
        ]:
            for projection in ("query_projection", "key_projection"):
                name = f"{stack}.1.{kind}.{projection}.weight"
                moved = float((after[name] - before[name]).norm()) / 0.5  # plain gradient descent at a rate of 0.5
                wanted = pytest.approx(moved * clipped_by, rel=2e-3, abs=1e-6)
                assert float(row[f"gradients/{site}/1/{projection}"]) == wanted


def test_tensorboard_shows_the_means_by_statistic_and_layers_in_one_chart(tmp_path):
    logger = TensorBoardLogger(tmp_path, name="", version="tensorboard")
    model, rows, _ = train(tmp_path / "run", AttentionProbe(every=2), logger=logger)
    logger.finalize("success")
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    tags = [tag for tag in events.Tags()["scalars"] if "/" in tag]
    assert len(tags) == len(attention_sites(model)) * (len(STATISTICS) + 2)
    shown = {event.step: event.value for event in events.Scalars("scores_entropy/cross_attention/1")}
    wanted = {step: float(rows[step - 1]["scores/cross_attention/1/mean/entropy"]) for step in (1, 2, 4, 6, 7)}
    assert shown == pytest.approx(wanted, rel=1e-6)
    layout = layout_pb2.Layout()
    layout.ParseFromString(events.Tensors("custom_scalars__config__")[0].tensor_proto.string_val[0])
    charts = {
        (category.title, chart.title): [*chart.multiline.tag]
        for category in layout.category
        for chart in category.chart
    }
    assert charts["scores_entropy", "cross_attention"] == [f"^scores_entropy/cross_attention/{i}$" for i in (0, 1)]
    assert len(charts) == 3 * (len(STATISTICS) + 2)


def test_a_model_cut_up_over_processes_is_refused(monkeypatch):
    trainer = pl.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False)
    monkeypatch.setattr(pl.Trainer, "strategy", property(lambda self: FSDPStrategy.__new__(FSDPStrategy)))
    with pytest.raises(UserError, match=r"callbacks\.attention_probe\.every=null"):
        AttentionProbe().on_train_start(trainer, pl.LightningModule())
    AttentionProbe(every=None).on_train_start(trainer, pl.LightningModule())
