"""Compiles `kernel.cpp` for this machine's processor, once, and loads it."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch
from filelock import FileLock

from minitx.resources import cache_directory

SOURCE = Path(__file__).with_name("kernel.cpp")
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ["-std=c++17", "-O3", "-fPIC", "-fno-math-errno", "-ffp-contract=fast"]
# What compilers call "this very processor".
PROCESSOR: tuple[list[str], ...] = (["-march=native"], ["-mcpu=native"], [])
THREADS: tuple[list[str], ...] = (["-fopenmp"], [])


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernel; None, and a line to the user, where it cannot be had."""
    compiler = _compiler()
    if compiler is None:
        _say_slower(f"no C++ compiler was found (CXX, {', '.join(COMPILERS)})")
        return None
    try:
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
        place = cache_directory() / "kernels" / f"additive-{_key(compiler, version)}.so"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(place.with_suffix(".lock")):
                if not place.exists():
                    _say(f"Compiling additive attention's score for this processor with {compiler} (once, seconds).")
                    _compile(compiler, place)
        return ctypes.CDLL(str(place))
    except (OSError, subprocess.SubprocessError) as error:
        _say_slower(f"{compiler} could not compile or load the faster one ({_reason(error)})")
        return None


def _compiler() -> str | None:
    named = os.environ.get("CXX")
    return next((found for name in ([named] if named else COMPILERS) if (found := shutil.which(name))), None)


def _compile(compiler: str, place: Path) -> None:
    """Make `place` with the first flags that the compiler takes, whole or not at all."""
    made, partial = place.with_suffix(f".{os.getpid()}.o"), place.with_suffix(f".{os.getpid()}.partial")
    attempts = [(processor, threads) for threads in THREADS for processor in PROCESSOR]
    for number, (processor, threads) in enumerate(attempts, start=1):
        try:
            _run(compiler, *FLAGS, *processor, *threads, "-c", str(SOURCE), "-o", str(made))
            _run(compiler, "-shared", str(made), "-o", str(partial), *(_openmp() if threads else []))
            os.replace(partial, place)
            return
        except subprocess.CalledProcessError:
            if number == len(attempts):
                raise
        finally:
            made.unlink(missing_ok=True)
            partial.unlink(missing_ok=True)


def _openmp() -> list[str]:
    """What to link for threads: PyTorch's own copy of OpenMP if it brings one.

    A second copy would have a second set of threads, and each set waits busily for work while the other does it.
    """
    own = sorted((Path(torch.__file__).parent / "lib").glob("libgomp*"))
    return [str(own[0])] if own else ["-fopenmp"]


def _run(*command: str) -> None:
    subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)


def _key(compiler: str, version: str) -> str:
    """Changes with whatever changes the compiled code; home directories are shared by machines of different kinds."""
    facts = [SOURCE.read_text(encoding="utf-8"), compiler, version, torch.__version__, repr(FLAGS), _processor()]
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    return "\n".join(
        sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))})
    )


def _reason(error: Exception) -> str:
    words = getattr(error, "stderr", None) or str(error)
    return " ".join(str(words).split())[:200]


def _say_slower(reason: str) -> None:
    _say(f"Additive attention runs in its slower form: {reason}.")


def _say(line: str) -> None:
    print(f"minitx: {line}", file=sys.stderr, flush=True)
