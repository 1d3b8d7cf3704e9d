"""The machine that is measured: its name, whether it is idle, how much memory is free, how fast its products are."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.benchmark import Timer

from minitx.training.machine import describe_machine

MATRIX = 2048
"""Side of the matrices whose product the machine's rate is measured with."""
COPIED = 2**28
"""Bytes that are copied to measure the bandwidth of memory: more than caches hold."""
BUSY = 0.25
"""Processors kept busy by others from which on a warning is given."""


def facts(device: torch.device, dtype: str) -> dict[str, Any]:
    """What every record names."""
    return {
        "device": device.type,
        "device_name": describe_machine(device)["device_name"],
        "threads": torch.get_num_threads(),
        "dtype": dtype,
        "torch": torch.__version__,
    }


def headline(facts: dict[str, Any]) -> str:
    """The same facts, in words."""
    threads = f"{facts['threads']} thread{'s' if facts['threads'] > 1 else ''}"
    return f"{facts['device_name']}, {threads}, {facts['dtype']}, torch {facts['torch']}"


def idle_check(device: torch.device) -> tuple[dict[str, Any], str | None]:
    """How busy the machine is before the start, for records, and a warning if others use it."""
    busy, load = busy_processors(), _load()
    said = {"busy_processors_before": busy, "load_before": load}
    used = busy if busy is not None else load
    if used is not None and used > BUSY:
        return said, (
            f"warning: {used:.1f} of {os.cpu_count()} processors are busy with other work (load {load or 0:.1f}): "
            "times will be too long; end the other work first."
        )
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info(device)
        others = total - free - torch.cuda.memory_reserved(device)
        if others > 2 * 2**30:
            return said, f"warning: {others / 2**30:.0f} GiB of the GPU are taken by others: times may be too long."
    return said, None


def busy_processors(seconds: float = 0.4) -> float | None:
    """How many processors are at work on average while this process sleeps for `seconds`; None where nothing tells."""
    try:
        before = _ticks()
        time.sleep(seconds)
        work, everything = (after - earlier for after, earlier in zip(_ticks(), before, strict=True))
    except (OSError, ValueError, IndexError):
        return None
    return round((os.cpu_count() or 1) * work / max(1, everything), 2)


def _ticks() -> tuple[int, int]:
    """Clock ticks of all processors since the start: at work, and in all."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    return sum(fields) - fields[3] - fields[4], sum(fields)  # fields 3 and 4: idle, and waiting for a disk


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def available_bytes(device: torch.device) -> int:
    """Memory that is free for more tensors."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    free = [2**63 - 1]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        free += [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2]
    return min([*free, *_left_to_group()])


def _left_to_group() -> list[int]:
    """What a container's limit leaves, in the two forms that Linux has for it."""
    root = Path("/sys/fs/cgroup")
    for limit, used in (
        (root / "memory.max", root / "memory.current"),
        (root / "memory/memory.limit_in_bytes", root / "memory/memory.usage_in_bytes"),
    ):
        try:
            return [int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii"))]
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return []


def product_rate(device: torch.device) -> float:
    """Operations a second (two for each multiply-add) of an fp32 product of 2048 × 2048 matrices, at the median."""
    left, right = (torch.randn(MATRIX, MATRIX, device=device) for _ in range(2))
    timer = Timer("left @ right", globals={"left": left, "right": right}, num_threads=torch.get_num_threads())
    return 2 * MATRIX**3 / timer.blocked_autorange(min_run_time=0.5).median


def copy_rate(device: torch.device) -> float:
    """Bytes a second that a copy of `COPIED` bytes reads and writes, at the median."""
    source = torch.ones(COPIED // 4, device=device)
    target = torch.empty_like(source)
    timer = Timer(
        "target.copy_(source)", globals={"source": source, "target": target}, num_threads=torch.get_num_threads()
    )
    return 2 * COPIED / timer.blocked_autorange(min_run_time=0.5).median
