"""Checkpoints: written whole or not at all, tensors and plain data only; and the mean of several."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.plugins.io import TorchCheckpointIO
from torch import Tensor

from minitx.errors import UserError

MODEL_PREFIX = "model."


class WholeFiles(TorchCheckpointIO):
    """Saves under a temporary name, then renames: a checkpoint that has its name is complete."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write `checkpoint` to `path`."""
        save_whole(checkpoint, Path(path))


def save_whole(content: dict[str, Any], path: Path) -> None:
    """`torch.save` that leaves either the whole file or none.

    Raises:
        UserError: if the disk is full or the directory cannot be written.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except (OSError, RuntimeError) as error:
        with suppress(OSError):
            partial.unlink()
        reason = error.strerror if isinstance(error, OSError) else str(error).splitlines()[0]
        raise UserError(
            f"The checkpoint {path} cannot be written ({reason}); earlier checkpoints are intact."
        ) from error


def checkpoint_callbacks(directory: Path, keep: int) -> list[ModelCheckpoint]:
    """The newest `keep` checkpoints, made at each validation, and the one with the least validation loss."""
    newest = ModelCheckpoint(
        directory,
        filename="step={step:08.0f}",
        monitor="step",
        mode="max",
        save_top_k=keep,
        auto_insert_metric_name=False,
    )
    best = ModelCheckpoint(
        directory, filename="best", monitor="validation_loss", mode="min", save_top_k=1, enable_version_counter=False
    )
    return [newest, best]


def newest_checkpoints(directory: Path, count: int) -> list[Path]:
    """The last `count` step checkpoints, oldest first."""
    return sorted(directory.glob("step=*.ckpt"))[-count:]


def model_weights(path: Path) -> dict[str, Tensor]:
    """The model's weights in a Lightning checkpoint, under the plain model's names."""
    state = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
    return {name.removeprefix(MODEL_PREFIX): weight for name, weight in state.items()}


def mean_weights(paths: list[Path]) -> dict[str, Tensor]:
    """The mean of the weights in several checkpoints (§6.1), summed in double precision."""
    total = {name: weight.double() for name, weight in model_weights(paths[0]).items()}
    for path in paths[1:]:
        for name, weight in model_weights(path).items():
            total[name] += weight
    plain = model_weights(paths[-1])
    return {name: (weight / len(paths)).to(plain[name].dtype) for name, weight in total.items()}
