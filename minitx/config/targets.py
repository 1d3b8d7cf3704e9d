"""What a `_target_` takes: the keys that a node of the configuration may have, read from the code itself."""

import functools
import importlib
import inspect
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minitx.config.nearest import nearest
from minitx.errors import UserError

DIRECTIVES = ("_target_", "_partial_", "_args_", "_convert_", "_recursive_")


def make_importable(directory: Path) -> None:
    """Let `_target_` and `pkg://` find packages in a directory, after all that is installed."""
    if str(directory) not in sys.path:
        sys.path.append(str(directory))


@dataclass(frozen=True)
class Signature:
    """The keyword arguments of a target.

    Attributes:
        parameters: by name, with what `typing` knows of each one's type.
        required: names without a default.
        open: whether it takes any further keyword (`**kwargs`).
    """

    parameters: Mapping[str, Any]
    required: frozenset[str]
    open: bool

    def takes(self, name: str) -> bool:
        """Whether the target can be called with this keyword."""
        return self.open or name in self.parameters


def find_target(key: str, path: Any) -> Any:
    """The class or function at a dotted path.

    Raises:
        UserError: if there is none; the message names `key`, the first part that is missing and its nearest neighbour.
    """
    where = f"{key}._target_={path}"
    if not isinstance(path, str) or "." not in path or not all(part.isidentifier() for part in path.split(".")):
        raise UserError(f"{where}: give the dotted path of a class or function, such as my_package.MyClass.")
    parts = path.split(".")
    found, rest = _import_longest(where, parts)
    for i, part in enumerate(rest, start=len(parts) - len(rest)):
        if not hasattr(found, part):
            guess = nearest(part, (name for name in dir(found) if not name.startswith("_")))
            hint = f"; did you mean {guess}?" if guess else "."
            raise UserError(f"{where}: {'.'.join(parts[:i])} has no {part}{hint}")
        found = getattr(found, part)
    if not callable(found):
        raise UserError(f"{where}: it is no class or function.")
    return found


def _import_longest(where: str, parts: list[str]) -> tuple[Any, list[str]]:
    """The module that the longest head of `parts` names, and the parts left over."""
    module = None
    for i in range(1, len(parts) + 1):
        name = ".".join(parts[:i])
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
                raise UserError(f"{where}: importing {name} failed: {error}.") from error
            if module is None:
                raise UserError(
                    f"{where}: there is no module {name} among the installed packages or in the launch directory."
                ) from error
            return module, parts[i - 1 :]
        except Exception as error:
            raise UserError(f"{where}: importing {name} failed: {type(error).__name__}: {error}.") from error
    return module, []


@functools.cache
def signature_of(target: Any) -> Signature:
    """The keyword arguments of a class's constructor or of a function."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # built in C, without a signature: nothing can be said against any key
        return Signature({}, frozenset(), open=True)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [parameter for parameter in parameters if parameter.kind in kinds]
    types = _types(target)
    return Signature(
        {parameter.name: types.get(parameter.name, parameter.annotation) for parameter in named},
        frozenset(parameter.name for parameter in named if parameter.default is inspect.Parameter.empty),
        any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters),
    )


def _types(target: Any) -> dict[str, Any]:
    """Annotations as types also where `from __future__ import annotations` made them text."""
    try:
        return typing.get_type_hints(target.__init__ if inspect.isclass(target) else target)
    except Exception:  # a name that exists for type checkers only: the check of values goes without
        return {}
