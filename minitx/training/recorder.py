"""Collects the figures of each step and hands them on: to metrics.csv, the dashboards and the display."""

import math
import time
from collections.abc import Callable
from typing import Any

import lightning.pytorch as pl
import torch

from minitx.training.module import TranslationModule
from minitx.training.progress import Display
from minitx.training.run_directory import Figures, MetricsFile

Translate = Callable[[pl.Trainer, torch.nn.Module], Figures]


class Recorder(pl.Callback):
    """Writes a row every `log_every` steps and after each validation; each step has one row.

    Args:
        metrics: the file that the rows go to; None on every process but the first.
        display: shows rows to a person; None on every process but the first.
        log_every: steps between rows.
        translate: makes figures of translating the validation set, BLEU above all.

    Attributes:
        totals: steps, tokens (source and target, without padding) and seconds of training so far.
    """

    def __init__(
        self, metrics: MetricsFile | None, display: Display | None, log_every: int, translate: Translate
    ) -> None:
        self.metrics = metrics
        self.display = display
        self.log_every = log_every
        self.translate = translate
        self.totals = {"step": 0, "tokens": 0, "target_tokens": 0, "seconds": 0.0, "training_seconds": 0.0}
        self.best: dict[str, int | float] = {}
        self.last: dict[str, int | float] = {}
        self._clock = 0.0
        self._since: dict[str, int | float] = {}
        self._losses: list[tuple[float, int]] = []

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run goes on counting from."""
        return {"totals": dict(self.totals), "best": dict(self.best), "last": dict(self.last)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on counting."""
        self.totals, self.best, self.last = state_dict["totals"], state_dict["best"], state_dict["last"]

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Start the clock."""
        self._clock = time.monotonic()
        self._since = dict(self.totals)
        if self.display:
            self.display.start(trainer.global_step)

    def on_train_epoch_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Choose the epoch's order, a function of (seed, epoch)."""
        trainer.datamodule.start_epoch(trainer.current_epoch)

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Count a finished step, and write a row where one is due."""
        assert isinstance(module, TranslationModule)
        figures = module.finished_step
        if figures is None:
            return
        self._tick("training_seconds")
        tokens = figures.source_tokens + figures.target_tokens
        self.totals["step"] = figures.step
        self.totals["tokens"] += tokens
        self.totals["target_tokens"] += figures.target_tokens
        self._losses.append((figures.train_loss, figures.target_tokens))
        if self.display:
            self.display.advance(figures.step)
        if figures.step % self.log_every == 0 or figures.step in (1, trainer.max_steps):
            batches = max(1, trainer.num_training_batches)
            row = {
                "epoch": round(trainer.current_epoch + (batch_idx + 1) / batches, 4),
                "train_loss": sum(loss * n for loss, n in self._losses) / max(1, sum(n for _, n in self._losses)),
                "learning_rate": figures.learning_rate,
                "gradient_norm": figures.gradient_norm,
                "tokens_per_second": self._rate(),
            }
            self._losses.clear()
            self._since = dict(self.totals)
            self._row(trainer, figures.step, row)

    def on_validation_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Translate the validation set and write its figures."""
        loss = float(trainer.callback_metrics["validation_loss"])
        row = {"validation_loss": loss, "validation_perplexity": math.exp(min(loss, 700.0))}
        assert isinstance(module, TranslationModule)
        row |= self.translate(trainer, module.model)
        self._tick("validation_seconds")
        if not self.best or loss < self.best["validation_loss"]:
            self.best = {"step": trainer.global_step} | row
        self.last = {"step": trainer.global_step} | row
        self._row(trainer, trainer.global_step, row)

    def add(self, trainer: pl.Trainer, figures: Figures, shown: Figures) -> None:
        """Add to the row of the step just counted what another callback measured meanwhile.

        Args:
            figures: columns of metrics.csv.
            shown: what dashboards show of it, under names of their own.
        """
        step = int(self.totals["step"])
        if self.metrics:
            self.metrics.add(step, self._counted() | dict(figures))
        for logger in trainer.loggers:
            logger.log_metrics(dict(shown), step=step)
        self._tick("observation_seconds")

    def on_train_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Write what is not written yet."""
        self.close()

    def on_exception(self, trainer: pl.Trainer, module: pl.LightningModule, exception: BaseException) -> None:
        """Keep what there is of a run that breaks off."""
        self.close()

    def close(self) -> None:
        """Flush the file and end the display. May be called twice."""
        if self.metrics:
            self.metrics.flush()
        if self.display:
            self.display.close()

    def _tick(self, kind: str) -> None:
        now = time.monotonic()
        self.totals["seconds"] += now - self._clock
        if kind == "training_seconds":
            self.totals["training_seconds"] += now - self._clock
        self._clock = now

    def _rate(self) -> float:
        seconds = self.totals["training_seconds"] - self._since["training_seconds"]
        return (self.totals["tokens"] - self._since["tokens"]) / max(seconds, 1e-9)

    def _counted(self) -> dict[str, int | float]:
        return {"tokens": self.totals["tokens"], "seconds": round(self.totals["seconds"], 3)}

    def _row(self, trainer: pl.Trainer, step: int, figures: dict[str, int | float]) -> None:
        counted = self._counted()
        if self.metrics:
            self.metrics.add(step, counted | figures)
        if self.display:
            self.display.show(step, figures)
        for logger in trainer.loggers:
            logger.log_metrics(dict(counted | figures), step=step)
