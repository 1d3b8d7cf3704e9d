"""Score statistics during training: how large scores are, how far the softmax is saturated, what gradient is left."""

from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.strategies import FSDPStrategy, ModelParallelStrategy

from minitx.data.batch import Batch, collate
from minitx.errors import UserError
from minitx.nn.score_reading import AttentionSite, ReadScores, attention_sites, read_scores
from minitx.nn.score_statistics import STATISTICS, score_statistics
from minitx.training.dashboards import draw_together
from minitx.training.module import TranslationModule
from minitx.training.recorder import Recorder

PROJECTIONS = ("query_projection", "key_projection")
Figures = dict[str, int | float]


class AttentionProbe(pl.Callback):
    """Reads a fixed batch with the model as it is, without dropout and gradients, and records its score statistics.

    Columns of metrics.csv are `scores/<site>/<layer>/<head>/<statistic>`, with "mean" for the mean over heads, and
    `gradients/<site>/<layer>/<query_projection or key_projection>`: the norm of the gradient of W^Q or W^K in the step
    just made, of all heads together, before clipping. Layers and heads count from 0; the statistics are those of
    `minitx.nn.score_statistics`. Dashboards show the means over heads, sorted by statistic: `scores_<statistic>/<site>/
    <layer>` and `gradients_<projection>/<site>/<layer>`.

    Neither gradients, optimizer nor random state are touched: losses are the same, bit for bit, with and without it.
    Of several processes the first one looks, at no other's expense but a short wait.

    Args:
        every: steps between two looks; the first and the last step are looked at too. None: none.
        pairs: how many pairs of the validation set, the first ones, make up the batch.
    """

    def __init__(self, every: int | None = 100, pairs: int = 32) -> None:
        self.every = every
        self.pairs = pairs
        self._batch: Batch | None = None
        self._gradients: Figures = {}

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Choose the batch.

        Raises:
            UserError: if no process holds the whole model.
        """
        if self.every is None:
            return
        if isinstance(trainer.strategy, FSDPStrategy | ModelParallelStrategy):
            raise UserError(
                "The attention probe needs the whole model in one process, which this trainer.strategy cuts up: "
                "add callbacks.attention_probe.every=null."
            )
        if not trainer.is_global_zero:
            return
        assert isinstance(module, TranslationModule)
        validation = trainer.datamodule.validation
        self._batch = collate([validation[i] for i in range(min(self.pairs, len(validation)))]).to(module.device)
        sites = attention_sites(module.model)

        def observe(step: int) -> None:
            if self._is_due(step, trainer):
                self._gradients = {key: norm for site in sites for key, norm in _gradient_norms(site).items()}

        module.gradient_observers.append(observe)
        draw_together(trainer.loggers, _charts(sites))

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Look, where the step just finished is one to look at."""
        if module.finished_step is None or not self._is_due(module.finished_step.step, trainer):
            return
        assert self._batch is not None
        figures: Figures = {}
        shown: Figures = {}

        def read(these: ReadScores) -> None:
            where = f"{these.site.name}/{these.site.layer}"
            found = score_statistics(these.scores, these.weights, these.mask, these.real)
            for name, by_head in found.items():
                heads = by_head.tolist()
                mean = sum(heads) / len(heads)
                shown[f"scores_{name}/{where}"] = figures[f"scores/{where}/mean/{name}"] = mean
                figures.update({f"scores/{where}/{head}/{name}": figure for head, figure in enumerate(heads)})

        with trainer.precision_plugin.forward_context():
            read_scores(module.model, self._batch.source, self._batch.target_input, read)
        figures |= {f"gradients/{key}": norm for key, norm in self._gradients.items()}
        for key, norm in self._gradients.items():
            where, _, projection = key.rpartition("/")
            shown[f"gradients_{projection}/{where}"] = norm
        _recorder(trainer).add(trainer, figures, shown)

    def _is_due(self, step: int, trainer: pl.Trainer) -> bool:
        return self._batch is not None and (step % (self.every or 1) == 0 or step in (1, trainer.max_steps))


def _gradient_norms(site: AttentionSite) -> Figures:
    """The gradient norms of W^Q and W^K, by `<site>/<layer>/<projection>`."""
    norms: Figures = {}
    for projection in PROJECTIONS:
        gradient = getattr(site.attention, projection).weight.grad
        norm = 0.0 if gradient is None else float(torch.linalg.vector_norm(gradient.float()))
        norms[f"{site.name}/{site.layer}/{projection}"] = norm
    return norms


def _charts(sites: list[AttentionSite]) -> dict[str, dict[str, list[str]]]:
    """For each figure a chart a site, with a curve for each layer."""
    names = [f"scores_{name}" for name in STATISTICS] + [f"gradients_{name}" for name in PROJECTIONS]
    kinds = dict.fromkeys(site.name for site in sites)
    return {
        name: {kind: [f"{name}/{kind}/{site.layer}" for site in sites if site.name == kind] for kind in kinds}
        for name in names
    }


def _recorder(trainer: pl.Trainer) -> Recorder:
    return next(callback for callback in trainer.callbacks if isinstance(callback, Recorder))
