"""Where the time of a training step goes, noted by a callback of Lightning while training runs as it always does."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass
from types import FrameType
from typing import Any

import lightning.pytorch as pl

from minitx.bench.timing import Clock, make_clock
from minitx.training.module import TranslationModule

PHASES = ("data", "forward", "backward", "update")
"""Waiting for the batch; loss; gradients; dividing, clipping and moving the weights."""


class EnoughMeasured(Exception):
    """Ctrl-C: no further step."""


@dataclass(frozen=True)
class Step:
    """One update of the weights: seconds by phase, sentence pairs, tokens without padding, and cells with it."""

    seconds: dict[str, float]
    pairs: int
    source_tokens: int
    target_tokens: int
    cells: int

    @property
    def total_seconds(self) -> float:
        """From the end of the step before to the end of this one."""
        return sum(self.seconds.values())

    @property
    def tokens(self) -> int:
        """Source and target tokens without padding."""
        return self.source_tokens + self.target_tokens


class StepTimer(pl.Callback):
    """Notes the time of each phase of each batch. Ctrl-C ends training after the step that is going on."""

    def __init__(self) -> None:
        self.clock: Clock | None = None
        self.interrupted = False
        self._batches: list[tuple[int, int, int, int, bool]] = []
        self._before: Any = None

    def steps(self) -> list[Step]:
        """The finished steps, each the sum of its batches. To be asked once, after training."""
        laps = [] if self.clock is None else self.clock.laps()
        width = len(PHASES)
        steps: list[Step] = []
        seconds, sizes = dict.fromkeys(PHASES, 0.0), [0, 0, 0, 0]
        for number, (*batch, ends_step) in enumerate(self._batches):
            for phase, lap in zip(PHASES, laps[number * width : (number + 1) * width], strict=True):
                seconds[phase] += lap
            sizes = [total + size for total, size in zip(sizes, batch, strict=True)]
            if ends_step:
                steps.append(Step(seconds, *sizes))
                seconds, sizes = dict.fromkeys(PHASES, 0.0), [0, 0, 0, 0]
        return steps

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Start the clock, and take over Ctrl-C (only a process's main thread may)."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._receive)
        self.clock = make_clock(trainer.strategy.root_device)
        self.clock.mark()

    def on_train_epoch_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Choose the epoch's order, as training does."""
        trainer.datamodule.start_epoch(trainer.current_epoch)  # type: ignore[attr-defined]

    def on_train_batch_start(self, trainer: pl.Trainer, module: Any, batch: Any, batch_idx: int) -> None:
        """The batch is on the device."""
        self._mark()

    def on_before_backward(self, trainer: pl.Trainer, module: pl.LightningModule, loss: Any) -> None:
        """The loss is known."""
        self._mark()

    def on_after_backward(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Gradients are there."""
        self._mark()

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """The weights have moved, if the step is complete."""
        self._mark()
        assert isinstance(module, TranslationModule)
        cells = batch.source.numel() + batch.target_input.numel()
        finished = module.finished_step is not None
        self._batches.append((len(batch), batch.num_source_tokens, batch.num_target_tokens, cells, finished))
        if self.interrupted and finished:
            raise EnoughMeasured

    def on_train_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Give Ctrl-C back."""
        self._restore()

    def on_exception(self, trainer: pl.Trainer, module: pl.LightningModule, exception: BaseException) -> None:
        """Give Ctrl-C back."""
        self._restore()

    def _mark(self) -> None:
        assert self.clock is not None
        self.clock.mark()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
