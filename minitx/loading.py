"""A run directory as a model that translates: weights without pickled code, tokenizer and configuration."""

from __future__ import annotations

import json
import pickle
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf.errors import OmegaConfBaseException
from torch import Tensor

from minitx.config.rules import RULES, rule_for
from minitx.config.sites import SITES
from minitx.config.targets import find_target, signature_of
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
        corpus: Corpus = _instantiate(self.path, "data", self.config["data"], changes, Corpus)
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
    model: Transformer = _instantiate(path, "model", config["model"], changes, Transformer)
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
        if not all(isinstance(config[key], dict) for key in ("model", "data", "training")):
            raise TypeError
    except OSError as error:
        raise UserError(f"Cannot read {record}: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{record} is damaged or no record of a minitx run: get the run directory again.") from error
    for group in ("model", "data", "training"):
        _check_values(record, group, config[group])
    if "seed" in config:
        RULES["seed"].check(f"{record}: seed", config["seed"])
    result: dict[str, Any] = config
    return result


def _check_values(record: Path, group: str, node: dict[str, Any]) -> None:
    """Raise UserError for a value of a kind that `minitx train` would not have taken."""
    target = node.get("_target_")
    known = signature_of(find_target(f"{record}: {group}", target)).parameters if target is not None else {}
    for name, value in node.items():
        key = f"{group}.{name}"
        rule = RULES.get(key) or rule_for(known.get(name))
        if rule is not None and not isinstance(value, dict):
            rule.check(f"{record}: {key}", value)
    path = node.get("path")
    if isinstance(path, dict) and "_target_" in path:  # the bundled corpus: wherever this installation has it
        find_target(f"{record}: {group}.path", path["_target_"])
    elif not isinstance(path, str | None):  # null where the data are not in files of the user's
        raise UserError(f"{record}: {group}.path must be text, the directory that holds the data.")


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
        _check_sums(file)
        content = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise UserError(f"Cannot read the checkpoint {file}: {error.strerror or error}.") from error
    except pickle.UnpicklingError as error:
        raise UserError(
            f"{file} is no checkpoint of minitx: it is damaged or holds more than tensors and plain data, "
            "which could be code and is not opened."
        ) from error
    except Exception as error:  # a file whose bytes have changed can raise anything
        raise UserError(
            f"The checkpoint {file} is damaged, cut short or foreign: choose another with --checkpoint."
        ) from error
    state = content.get("state_dict") if isinstance(content, dict) else None
    weights = {
        name.removeprefix(MODEL_PREFIX): weight
        for name, weight in (state.items() if isinstance(state, dict) else [])
        if isinstance(name, str) and isinstance(weight, Tensor)
    }
    if not weights:
        raise UserError(f"{file} is no checkpoint of minitx: it holds no model's weights.")
    return weights, content.get("step", content.get("global_step"))


def _check_sums(file: Path) -> None:
    """Raise an exception if bytes have changed: torch writes checksums (1 GB/s or so), but does not look at them."""
    if zipfile.is_zipfile(file):  # else it is of an old format without any
        with zipfile.ZipFile(file) as archive:
            if (broken := archive.testzip()) is not None:
                raise ValueError(f"{broken} has changed")


def choose_device(name: str = "auto") -> torch.device:
    """The device called `name`; "auto": a CUDA device where there is one, else the processor.

    Raises:
        UserError: there is no such device here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device).tolist()  # a device that only pretends has no numbers
    except Exception as error:  # each kind of device that torch has a name for is missing in a way of its own
        raise UserError(f"There is no device {name} here: choose {' or '.join(_devices())}.") from error
    return device


def _devices() -> list[str]:
    """The devices that there are, as --device takes them."""
    cuda = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return ["cpu", *cuda, *(["mps"] if torch.backends.mps.is_available() else [])]


def _instantiate(path: Path, part: str, node: dict[str, Any], changes: dict[str, Any], kind: type) -> Any:
    find_target(part, node.get("_target_"))
    try:
        made = instantiate(node, **changes)
        if not isinstance(made, kind):
            raise TypeError(f"{node['_target_']} makes no {kind.__name__}.")
        return made
    except (InstantiationException, OmegaConfBaseException, RecursionError, TypeError) as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from error
        reason = (str(error.__cause__ or error) or type(error).__name__).splitlines()[0]
        raise UserError(
            f"The {part} that {path / 'run.json'} describes cannot be built: {reason} "
            "It may come from another version of minitx."
        ) from error


def _fill(model: Transformer, weights: dict[str, Tensor], file: Path, path: Path) -> None:
    """Put the weights into the model, after which they are sure to be numbers of its own kind and shape."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        reason = str(error).splitlines()[1].strip().rstrip(".") if "\n" in str(error) else str(error)
        raise UserError(
            f"{file} does not fit the model in {path / 'run.json'} ({reason}): they are of two runs."
        ) from error
    for name, weight in model.state_dict().items():
        if not weight.isfinite().all():
            raise UserError(
                f"{file} holds weights that are not finite numbers ({name}), so that it cannot translate: the run "
                "diverged, or the file is damaged. Choose another with --checkpoint."
            )
