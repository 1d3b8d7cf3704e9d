"""When training ends: after so many steps, epochs, tokens, operations or seconds, whichever comes first."""

from collections.abc import Mapping
from typing import Any

import lightning.pytorch as pl

from minitx.training.recorder import Recorder

Limits = Mapping[str, int | float | None]


class Budget(pl.Callback):
    """Ends training at the end of the step that spends a budget; a last validation and a checkpoint follow.

    Tokens are source and target tokens without padding, operations those tokens times `flops_per_token`, and seconds
    those of training alone: validation and the final test do not count, so that validating more often is not paid for
    in steps.

    Args:
        recorder: what counts steps, tokens and seconds; it must come before this callback.
        limits: `max_steps`, `max_epochs`, `max_tokens`, `max_flops` and `max_seconds`, as in the `training` group;
            None: no limit.
        flops_per_token: operations of forward and backward pass for a token.

    Attributes:
        ended_by: the key of the budget that ended training, or "early_stopping" where none did.
    """

    def __init__(self, recorder: Recorder, limits: Limits, flops_per_token: float) -> None:
        self.recorder = recorder
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}
        self.flops_per_token = flops_per_token
        self.ended_by = "early_stopping"

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Stop here if the step is complete and a budget is spent."""
        if module.finished_step is None:
            return
        totals = self.recorder.totals
        used = {
            "max_steps": totals["step"],
            "max_epochs": trainer.current_epoch + int(trainer.is_last_batch),
            "max_tokens": totals["tokens"],
            "max_flops": totals["tokens"] * self.flops_per_token,
            "max_seconds": totals["training_seconds"],
        }
        spent = [name for name, limit in self.limits.items() if used[name] >= limit]
        # Clocks of several processes differ: all stop at the step where the first one's budget is spent.
        if "max_seconds" in self.limits and trainer.world_size > 1:
            anywhere = trainer.strategy.reduce_boolean_decision(bool(spent), all=False)
            spent = spent or ["max_seconds"] * int(anywhere)
        if spent:
            self.ended_by = spent[0]
            trainer.should_stop = True


def planned_steps(
    limits: Limits, steps_per_epoch: int | float, tokens_per_epoch: int, flops_per_token: float
) -> int | None:
    """About how many steps a run will have by its budgets; None where only the clock limits it.

    Args:
        limits: as for `Budget`.
        steps_per_epoch: updates of the weights in an epoch.
        tokens_per_epoch: source and target tokens of the training pairs, without padding.
        flops_per_token: operations of forward and backward pass for a token.
    """
    tokens_per_step = tokens_per_epoch / steps_per_epoch
    in_steps = {
        "max_steps": 1.0,
        "max_epochs": float(steps_per_epoch),
        "max_tokens": 1.0 / tokens_per_step,
        "max_flops": 1.0 / (tokens_per_step * flops_per_token),
    }
    steps = [limit * in_steps[name] for name, limit in limits.items() if limit is not None and name in in_steps]
    return max(1, round(min(steps))) if steps else None
