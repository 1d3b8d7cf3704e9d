"""A run directory as a model that translates: weights without pickled code, tokenizer and configuration."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from torch import Tensor

from minitx.config.sites import SITES
from minitx.config.targets import find_target
from minitx.data.corpus import Corpus
from minitx.data.tokenizer import PAD_ID, Tokenizer
from minitx.errors import UserError
from minitx.models.transformer import Transformer

MODEL_PREFIX = "model."
CHECKPOINTS = ("final", "best*", "last", "step=*")
"""Which weights stand for a run, the first of them that there are: those of its test score before any others."""


@dataclass(frozen=True)
class LoadedRun:
    """A run, ready to translate.

    Attributes:
        path: the run directory.
        config: the resolved configuration, as in `run.json`.
        tokenizer: the run's.
        model: in evaluation mode, on the device asked for.
        checkpoint: the file that the weights come from.
        step: the number of updates behind them.
    """

    path: Path
    config: dict[str, Any]
    tokenizer: Tokenizer
    model: Transformer
    checkpoint: Path
    step: int | None

    def corpus(self, path: str | Path | None = None) -> Corpus:
        """The data of the run, with the run's own tokenizer; `path`: where the files lie now, if they have moved.

        The splits are read when they are asked for.

        Raises:
            UserError: the data are not where the run had them.
        """
        changes: dict[str, Any] = {"tokenizer": str(self.path / "tokenizer.json")}
        if path is not None:
            changes["path"] = str(Path(path).expanduser().resolve())
        corpus: Corpus = _instantiate(self.path, "data", self.config["data"], changes)
        return corpus


def load_run(path: str | Path, checkpoint: str | None = None, device: str = "auto") -> LoadedRun:
    """Open the run directory at `path`.

    Checkpoints are read as tensors and plain data: they cannot bring code with them. The configuration names the
    classes that make up the model, and these are imported: a run trained with somebody's own compatibility function
    needs that code to be installed, and a stranger's run deserves a look at the `_target_` lines of its `run.json`.

    Args:
        path: the run directory.
        checkpoint: "final", "best", "last" or a file name in its `checkpoints`; None: the first of these there is.
        device: "cpu", "cuda", "cuda:1", …; "auto": a CUDA device where there is one, else the processor.

    Raises:
        UserError: there is no run, or a file of it is missing, damaged or foreign.
    """
    path = Path(path).expanduser()
    config = read_config(path)
    place = choose_device(device)
    tokenizer = Tokenizer.load(path / "tokenizer.json")
    file = find_checkpoint(path, checkpoint)
    weights, step = read_weights(file)
    changes = {"vocab_size": tokenizer.vocab_size, "pad_id": PAD_ID, "seed": config.get("seed", 0)}
    for site in SITES:
        if isinstance(factory := config["model"].get(site), dict):
            find_target(f"model.{site}", factory.get("_target_"))  # says plainly what cannot be imported
    model: Transformer = _instantiate(path, "model", config["model"], changes)
    _fill(model, weights, file, path)
    return LoadedRun(path, config, tokenizer, model.to(place).eval(), file, step)


def read_config(path: Path) -> dict[str, Any]:
    """The configuration in a run's `run.json`.

    Raises:
        UserError: `path` is no run directory, or its `run.json` is damaged.
    """
    record = path / "run.json"
    if not path.is_dir():
        raise UserError(f"There is no run directory {path}: give one that `minitx train` made, such as runs/NAME.")
    if not record.is_file():
        runs = sorted(file.parent.name for file in path.glob("*/run.json"))
        inside = f"it holds the runs {', '.join(runs[:5])}{', …' if len(runs) > 5 else ''}" if runs else "no run.json"
        raise UserError(f"{path} is not a run directory ({inside}): give one that `minitx train` made.")
    try:
        config = json.loads(record.read_text(encoding="utf-8"))["config"]
        if not all(isinstance(config[key], dict) for key in ("model", "data")):
            raise TypeError
    except OSError as error:
        raise UserError(f"Cannot read {record}: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{record} is damaged or no record of a minitx run: get the run directory again.") from error
    result: dict[str, Any] = config
    return result


def find_checkpoint(path: Path, name: str | None = None) -> Path:
    """A checkpoint of the run at `path`, by name; without a name the first of `CHECKPOINTS`.

    Raises:
        UserError: there is none, or none of that name; names those there are.
    """
    directory = path / "checkpoints"
    if name is not None and Path(name).suffix == ".ckpt" and (directory / name).is_file():
        return directory / name
    for pattern in CHECKPOINTS if name is None else (name, f"{name}-v*"):
        found = [file for file in directory.glob(f"{pattern}.ckpt") if file.is_file()]
        if found:
            # Step numbers have leading zeros; best.ckpt and best-v1.ckpt take turns, so that one is always whole.
            return max(found, key=lambda file: file.name if pattern.startswith("step") else file.stat().st_mtime)
    there = sorted(file.stem for file in directory.glob("*.ckpt"))
    if name is not None and there:
        raise UserError(f"{directory} holds no checkpoint {name}; there are {', '.join(there)}.")
    raise UserError(
        f"{path} has no checkpoint yet ({directory} holds no .ckpt file): let the run reach its validation."
    )


def read_weights(file: Path) -> tuple[dict[str, Tensor], int | None]:
    """The model's weights in a checkpoint, under the plain model's names, and the step they are of.

    Raises:
        UserError: the file is missing, damaged, or holds something else than tensors and plain data.
    """
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise UserError(f"Cannot read the checkpoint {file}: {error.strerror or error}.") from error
    except pickle.UnpicklingError as error:
        raise UserError(
            f"{file} is no checkpoint of minitx: it is damaged or holds more than tensors and plain data, "
            "which could be code and is not opened."
        ) from error
    except (RuntimeError, EOFError, ValueError, KeyError) as error:
        raise UserError(
            f"The checkpoint {file} is damaged, cut short or foreign: choose another with --checkpoint."
        ) from error
    state = content.get("state_dict") if isinstance(content, dict) else None
    weights = {
        name.removeprefix(MODEL_PREFIX): weight for name, weight in (state or {}).items() if isinstance(weight, Tensor)
    }
    if not weights:
        raise UserError(f"{file} is no checkpoint of minitx: it holds no model's weights.")
    return weights, content.get("step", content.get("global_step"))


def choose_device(name: str = "auto") -> torch.device:
    """The device called `name`; "auto": a CUDA device where there is one, else the processor.

    Raises:
        UserError: there is no such device here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(f"There is no device {name} here: choose cpu, or cuda with an NVIDIA GPU.") from error
    return device


def _instantiate(path: Path, part: str, node: dict[str, Any], changes: dict[str, Any]) -> Any:
    find_target(part, node.get("_target_"))
    try:
        return instantiate(node, **changes)
    except InstantiationException as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from error
        reason = str(error.__cause__ or error).splitlines()[0]
        raise UserError(
            f"The {part} that {path / 'run.json'} describes cannot be built: {reason} "
            "It may come from another version of minitx."
        ) from error


def _fill(model: Transformer, weights: dict[str, Tensor], file: Path, path: Path) -> None:
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        reason = str(error).splitlines()[1].strip().rstrip(".") if "\n" in str(error) else str(error)
        raise UserError(
            f"{file} does not fit the model in {path / 'run.json'} ({reason}): they are of two runs."
        ) from error
