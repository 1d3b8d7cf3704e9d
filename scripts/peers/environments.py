"""One virtual environment for each peer under DIR/envs, made by pip at its first use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from peers.systems import ENVIRONMENTS, TORCH

MARKER = "installed.json"


class InstallationFailed(Exception):
    """A peer's environment could not be made; says why in a sentence."""


def python_of(directory: Path, name: str) -> Path:
    """The interpreter of an environment of `ENVIRONMENTS`, which is made if it is not there yet.

    torch is installed once, in DIR/envs/torch, and the others find it through a `.pth` file, which spares 0.7 GB each.

    Raises:
        InstallationFailed: pip could not install something, or what it installed cannot be imported.
    """
    environment = ENVIRONMENTS[name]
    lenders: list[Path] = []
    if environment.torch:
        _make(directory, "torch", [], [list(TORCH)], "torch, numpy", list(TORCH))
        lenders.append(directory / "envs" / "torch")
    steps = [list(environment.needs)] if environment.needs else []
    steps.append(["--no-deps", "--no-build-isolation", environment.toolkit])
    return _make(directory, name, lenders, steps, environment.check, [asdict(environment), TORCH])


def _make(
    directory: Path, name: str, lenders: Sequence[Path], steps: list[list[str]], check: str, contents: object
) -> Path:
    """An environment with what `steps` install, reused while `contents` stay the same."""
    place = directory / "envs" / name
    python = place / "bin" / "python"
    marker, wanted = place / MARKER, json.dumps(contents)
    if marker.is_file() and marker.read_text(encoding="utf-8") == wanted:
        return python
    log = directory / "logs" / f"install.{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"installing {name} into {place}, output in {log}", file=sys.stderr, flush=True)
    log.write_text("", encoding="utf-8")
    _call([sys.executable, "-m", "venv", "--clear", str(place)], log)
    for lender in lenders:
        (site_packages(place) / f"{lender.name}.pth").write_text(f"{site_packages(lender)}\n", encoding="utf-8")
    for step in steps:
        _call([str(python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", *step], log)
    _call([str(python), "-c", f"import {check}"], log)
    marker.write_text(wanted, encoding="utf-8")
    return python


def site_packages(place: Path) -> Path:
    """Where an environment of this very Python keeps its packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return place.resolve() / "lib" / version / "site-packages"


def _call(command: list[str], log: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PIP_USER"}}
    with log.open("a", encoding="utf-8") as output:
        output.write(f"$ {' '.join(command)}\n")
        output.flush()
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=plain)
    if done.returncode:
        raise InstallationFailed(reason(log.read_text(encoding="utf-8", errors="replace")))


def reason(text: str) -> str:
    """The line of a failed program's output that says most: the last error named, or else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:") or _names_an_exception(line)]
    return (errors or lines or ["no output"])[-1][:200]


def _names_an_exception(line: str) -> bool:
    name = line.partition(":")[0].rpartition(".")[2]
    return name.isidentifier() and name.endswith(("Error", "Exception", "Interrupt", "WindowOver"))
