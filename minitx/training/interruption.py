"""Ctrl-C and SIGTERM end a run after the step that is going on, with a checkpoint."""

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import lightning.pytorch as pl


class Interrupted(Exception):
    """The run was asked to end; `signal_number` says by what, `checkpoint` what was saved."""

    def __init__(self, signal_number: int, checkpoint: Path) -> None:
        super().__init__(f"Interrupted by {signal.Signals(signal_number).name}; {checkpoint} was saved.")
        self.signal_number = signal_number
        self.checkpoint = checkpoint


class StopAtNextStep(pl.Callback):
    """Waits for the step that is going on, saves `last.ckpt` and raises `Interrupted`. A second one does not wait."""

    def __init__(self, checkpoint: Path, signals: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)) -> None:
        self.checkpoint = checkpoint
        self.signals = signals
        self._received: int | None = None
        self._before: dict[int, Any] = {}

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Take the signals over (only a process's main thread may)."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._receive) for number in self.signals}

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._received is not None:
            raise KeyboardInterrupt
        self._received = number

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """End the run here if a signal came and the step is complete."""
        if self._received is not None and module.finished_step is not None:
            self._end(trainer)

    def on_validation_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """A signal during validation need not wait for another step."""
        if self._received is not None and not trainer.sanity_checking:
            self._end(trainer)

    def _end(self, trainer: pl.Trainer) -> None:
        trainer.save_checkpoint(self.checkpoint)
        assert self._received is not None
        raise Interrupted(self._received, self.checkpoint)

    def on_train_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Give the signals back."""
        self._restore()

    def on_exception(self, trainer: pl.Trainer, module: pl.LightningModule, exception: BaseException) -> None:
        """Give the signals back."""
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
