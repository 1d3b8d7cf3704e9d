"""Who trains a configuration right now: so that no two jobs of sweeps train the same one.

A process that trains configuration H in RUNS holds a lock of the operating system on `RUNS/.running/H`. The system
frees it when the process ends, however it ends, so what a killed process left is known at once to be dead. Not every
network file system passes locks on to other machines. The file therefore says on which machine its process is, and is
touched every few seconds: for a process of another machine a file touched lately counts as much as a lock.
"""

import fcntl
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from minitx.errors import UserError

DIRECTORY = ".running"
SECONDS_BETWEEN_BEATS = 20.0
SECONDS_WITHOUT_A_BEAT = 120.0
"""After which a process of another machine, whose lock is not seen here, is taken for dead."""


@contextmanager
def claimed(runs: Path, config_hash: str) -> Iterator[str | None]:
    """Hold the claim on a configuration while the block runs, and give None; if another process holds it, its name.

    Args:
        runs: where run directories are made.
        config_hash: of the configuration.

    Raises:
        UserError: if nothing can be written there.
    """
    file = runs / DIRECTORY / config_hash
    made = [directory for directory in (file.parent, runs) if not directory.exists()]
    try:
        descriptor = _open_locked(file)
    except OSError as error:
        raise UserError(
            f"{file} cannot be written ({error.strerror}): choose another place with run_directory=DIR."
        ) from error
    if descriptor is None:
        yield _holder(file)
        return
    holder = _of_another_machine(file)
    try:
        if holder is None:
            with _beating(file, descriptor):
                yield None
        else:
            yield holder
    finally:
        os.close(descriptor)
        _remove_if_empty([file.parent, *made])


def holder_of(runs: Path, config_hash: str) -> str | None:
    """The process that trains a configuration right now, such as "process 4711 on host"; None: there is none."""
    file = runs / DIRECTORY / config_hash
    if not file.exists():
        return None
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return None
    try:
        return _of_another_machine(file) if _lock(descriptor) else _holder(file)
    finally:
        os.close(descriptor)


def _open_locked(file: Path) -> int | None:
    """The file, made if need be and locked; None if another process has locked it."""
    while True:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:  # the process that made the directory has just removed it
            continue
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        try:
            if os.path.samestat(os.fstat(descriptor), os.stat(file)):
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)  # another process has ended, and removed the file, between opening and locking


def _lock(descriptor: int) -> bool:
    """Lock a file unless it is locked. A file system without locks leaves it to the beats."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _of_another_machine(file: Path) -> str | None:
    """The process of another machine that has touched the file lately; its lock may not be seen here."""
    words = file.read_text(encoding="utf-8").split()
    alive = time.time() - file.stat().st_mtime < SECONDS_WITHOUT_A_BEAT
    return _holder(file) if alive and len(words) == 2 and words[1] != socket.gethostname() else None


def _holder(file: Path) -> str:
    try:
        process, host = file.read_text(encoding="utf-8").split()
    except (OSError, ValueError):  # it is just being written
        return "another process"
    return f"process {process} on {host}"


@contextmanager
def _beating(file: Path, descriptor: int) -> Iterator[None]:
    """Say who has the file, touch it every few seconds, and remove it at the end."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(SECONDS_BETWEEN_BEATS):
            try:
                os.utime(descriptor)
            except OSError:
                return

    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        file.unlink(missing_ok=True)


def _remove_if_empty(directories: list[Path]) -> None:
    for directory in directories:
        with suppress(OSError):
            directory.rmdir()
