"""Lightning's trainer as minitx sets it up."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import lightning.pytorch as pl
import torch

from minitx.errors import UserError
from minitx.training.checkpoints import WholeFiles

# Precisions that are minitx's own, not Lightning's: single precision but for the products of linear maps.
PRODUCTS = {"bf16-products": torch.bfloat16}
# Single precision by name, and how CUDA then rounds the factors of its products.
SINGLE = {"32-true": "ieee", "bf16-products": "ieee", "tf32": "tf32"}


def make_trainer(settings: Any, device: Any, loggers: list[Any], callbacks: list[pl.Callback]) -> pl.Trainer:
    """Lightning's loop; checkpoints are kept if a callback does it.

    Args:
        settings: the group `training` of the configuration.
        device: the group `trainer`.
        loggers: where figures go.
        callbacks: what else acts on steps and validations.

    Raises:
        UserError: if this machine does not have what `device` asks for.
    """
    with _named_mistakes(device):
        trainer = pl.Trainer(
            accelerator=device.accelerator,
            devices=device.devices,
            num_nodes=device.num_nodes,
            strategy=device.strategy,
            precision="32-true" if device.precision in SINGLE else device.precision,
            max_steps=-1 if settings.max_steps is None else settings.max_steps,
            max_epochs=-1 if settings.max_epochs is None else settings.max_epochs,
            val_check_interval=settings.validate_every * settings.accumulate_batches,
            check_val_every_n_epoch=None,
            num_sanity_val_steps=0,
            logger=loggers,
            callbacks=callbacks,
            plugins=[WholeFiles()],
            enable_checkpointing=any(isinstance(callback, pl.callbacks.Checkpoint) for callback in callbacks),
            enable_progress_bar=False,
            enable_model_summary=False,
            use_distributed_sampler=False,
        )
    kind = trainer.strategy.root_device.type
    if device.precision == "tf32" and kind != "cuda":
        raise UserError(f"trainer.precision=tf32 is for NVIDIA GPUs, and this run is on {kind}: use 32-true.")
    return trainer


def set_product_rounding(precision: str) -> None:
    """Have CUDA round the factors of single-precision products as `trainer.precision` says."""
    torch.backends.cuda.matmul.fp32_precision = SINGLE.get(precision, "ieee")


def check_devices(settings: Any, device: Any) -> None:
    """Raise UserError now if `make_trainer` would, before anything is made on disk."""
    log = logging.getLogger("lightning.pytorch")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make_trainer(settings, device, [], [])
    finally:
        log.setLevel(level)


@contextmanager
def _named_mistakes(device: Any) -> Iterator[None]:
    """What Lightning says of a device that is not there, as a mistake in the key at fault.

    It raises errors of many kinds: "No supported gpu backend found!", a missing module of another vendor, a list of
    devices where it wants a number.
    """
    try:
        yield
    except Exception as error:
        reason = (str(error) or type(error).__name__).strip().splitlines()[0]
        words = reason.lower()
        key = next((name for name in ("strategy", "devices") if name in words), "accelerator")
        raise UserError(
            f"trainer.{key}={device[key]}: {reason.rstrip('.! ')}. trainer=auto takes what this machine has."
        ) from error
