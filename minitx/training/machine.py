"""What a process does once, before its first tensor, so that runs are comparable and the machine is well used."""

import ctypes
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

LIBRARIES = ("minitx", "torch", "lightning", "hydra-core", "datasets", "tokenizers", "sacrebleu")


def prepare_process(threads: int | None) -> dict[str, Any]:
    """Set threads, subnormal numbers and the allocator; returns what was set, for `run.json`.

    Subnormals are flushed to zero: a saturated softmax fills its gradient with them, and on a CPU they alone halve the
    speed, which would pass for a cost of the compatibility function. This must come before the first parallel
    operation: threads that exist already would go on making them.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    return {
        "flush_denormal": torch.set_flush_denormal(True),
        "keeps_freed_memory": _keep_freed_memory(),
        "threads": torch.get_num_threads(),
    }


def _keep_freed_memory() -> bool:
    """Ask glibc to reuse large freed blocks instead of handing them back: a step frees and takes the same ones again.

    Without it a good part of a training step on a CPU is page faults. Elsewhere than on glibc nothing is changed.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    trim_threshold, top_pad, mmap_max = -1, -2, -4  # names and numbers of malloc.h
    return all(mallopt(*pair) == 1 for pair in [(mmap_max, 0), (trim_threshold, 2**31 - 1), (top_pad, 64 * 2**20)])


def describe_machine(device: torch.device) -> dict[str, Any]:
    """Device, versions and git commit, for `run.json`."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else _processor()
    return {
        "device": device.type,
        "device_name": name,
        "python": sys.version.split()[0],
        "versions": {library: _version(library) for library in LIBRARIES},
        "git_commit": _git_commit(),
    }


def peak_memory_bytes(device: torch.device) -> dict[str, int]:
    """The most memory this process has held, and the most a GPU has held for it."""
    unit = 1 if sys.platform == "darwin" else 1024
    peak = {"host": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}
    return peak | ({"device": torch.cuda.max_memory_allocated(device)} if device.type == "cuda" else {})


def _version(library: str) -> str | None:
    try:
        return version(library)
    except ImportError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "CPU"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "CPU")


def _git_commit() -> str | None:
    """The commit of the source tree minitx runs from; None where it runs from a wheel or without git."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
