"""What commands print: a place that cannot take it is the user's to mend, and said in a line."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from minitx.errors import UserError

STANDARD_OUTPUT = "standard output"
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def require_standard_output() -> None:
    """Raise UserError if the process was started with it closed: now, before minutes of work."""
    if sys.stdout is None:
        raise UserError("Standard output is closed: leave it open, or send it to a file with > FILE.")


@contextmanager
def writing(name: Path | str) -> Iterator[None]:
    """An OSError inside means that what is called `name` cannot be written.

    A reader that has gone is left to `minitx.cli`: it is no mistake.

    Raises:
        UserError: in the place of any other OSError.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if name == STANDARD_OUTPUT:
            drop_unwritten()
        raise UserError(unwritable(name, error)) from error


@contextmanager
def printing() -> Iterator[None]:
    """What is printed inside has left the process at the end.

    Raises:
        UserError: it is closed, or cannot be written.
    """
    require_standard_output()
    with writing(STANDARD_OUTPUT):
        yield
        sys.stdout.flush()


def unwritable(name: Path | str, error: OSError) -> str:
    """Why `name` cannot be written, and what to do, in a sentence."""
    if error.errno in DISK_FULL:
        return f"Cannot write {name}: the disk is full. Make room or choose another place."
    return f"Cannot write {name}: {error.strerror or error}."


def drop_unwritten() -> None:
    """Send what standard output still holds nowhere, so that Python's own flush at exit does not fail again."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
