"""The run directory: all that is kept of a run, and the only contract with what comes after training."""

import csv
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from minitx.errors import UserError
from minitx.output import writing

Figures = Mapping[str, int | float]


class RunDirectory:
    """Paths and files of one run. Nothing in it is ever overwritten by another run.

    Attributes:
        path: the directory itself.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, parent: Path, name: str) -> "RunDirectory":
        """Make `parent/name`, or the first numbered sibling `name-2`, `name-3`, … that does not exist yet.

        Raises:
            UserError: if the directory cannot be made.
        """
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for number in range(1, 100_000):
                path = parent / (name if number == 1 else f"{name}-{number}")
                try:
                    path.mkdir()  # fails where it exists: two runs started in one second get two directories
                except FileExistsError:
                    continue
                for part in ("checkpoints", "translations"):
                    (path / part).mkdir()
                return cls(path)
        except OSError as error:
            raise UserError(
                f"The run directory {parent / name} cannot be made ({error.strerror}): "
                "choose another place with run_directory=DIR."
            ) from error
        raise UserError(f"{parent} holds 100,000 runs called {name}: choose another place with run_directory=DIR.")

    @property
    def checkpoints(self) -> Path:
        """Where checkpoints are."""
        return self.path / "checkpoints"

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a JSON file whole or not at all."""
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=str)
        _write_whole(self.path / name, text + "\n")

    def read_json(self, name: str) -> dict[str, Any]:
        """Read a JSON file; what does not exist is empty."""
        path = self.path / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def update_json(self, name: str, **changes: Any) -> None:
        """Change some keys of a JSON file."""
        self.write_json(name, self.read_json(name) | changes)

    def write_translations(self, split: str, **sides: list[str]) -> None:
        """Write `translations/<split>.<side>.txt`, a line a sentence: `hyp`, `ref`, `src`."""
        with writing(self.path / "translations"):
            (self.path / "translations").mkdir(exist_ok=True)
        for side, lines in sides.items():
            text = "".join(_one_line(line) + "\n" for line in lines)
            _write_whole(self.path / "translations" / f"{split}.{side}.txt", text)


class MetricsFile:
    """`metrics.csv`: one row a logged step, each step once, a column for every figure that was ever given."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._columns: list[str] = []
        self._row: dict[str, int | float] = {}
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                self._columns = next(csv.reader(file), [])

    def add(self, step: int, figures: Figures) -> None:
        """Add figures of a step; those of one step, given in several calls, share a row."""
        if self._row and self._row["step"] != step:
            self.flush()
        self._row = {"step": step} | self._row | dict(figures)

    def flush(self) -> None:
        """Write the open row to disk."""
        if not self._row:
            return
        new = [name for name in self._row if name not in self._columns]
        with writing(self.path):
            if new:
                self._add_columns(new)
            with self.path.open("a", encoding="utf-8", newline="") as file:
                csv.DictWriter(file, self._columns, restval="", lineterminator="\n").writerow(self._row)
        self._row = {}

    def _add_columns(self, new: list[str]) -> None:
        rows: list[dict[str, str]] = []
        if self.path.exists():
            with self.path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        self._columns += new
        partial = self.path.with_suffix(".csv.partial")
        with partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self._columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        os.replace(partial, self.path)


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        # newline="": a carriage return inside a sentence stays what it is.
        with writing(path), partial.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with writing(path):
            os.replace(partial, path)
    except UserError:
        with suppress(OSError):
            partial.unlink()
        raise


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")
