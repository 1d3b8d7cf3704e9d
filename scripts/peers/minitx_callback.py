"""The Lightning callback by which `run_minitx` measures a run from inside."""

from typing import Any, ClassVar

import lightning.pytorch as pl

from peers.window import Window


class TickWindow(pl.Callback):
    """Tells `window` of every finished step."""

    window: ClassVar[Window]

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, *_: Any) -> None:
        figures = module.finished_step
        if figures is not None:
            self.window.step(figures.source_tokens + figures.target_tokens)
