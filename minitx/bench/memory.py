"""The most memory that a piece of work holds at once, beyond what was there before it.

On a GPU this is what torch's allocator says. On a processor two witnesses are heard:

* torch's allocator, through the profiler: every block that a tensor takes and gives back, exact to the byte. What
  compiled code takes for itself is invisible to it.
* the operating system (Linux): by how much the process's resident memory grew at its peak. It sees everything, in
  pages of 4 KiB, and libraries' buffers too.

The first counts, unless the process grew by more than `SLACK` beyond it: then something else holds memory, and the
second counts.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import tempfile
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from minitx.training.machine import prepare_process

SLACK = 2**20
MALLOC_GIVES_BACK = ((-1, 0), (-2, 0), (-3, 64 * 2**10), (-4, 2**16))
"""M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_MMAP_MAX of malloc.h: a freed block of 64 KiB goes back at once."""
STATUS = Path("/proc/self/status")


class Peak(NamedTuple):
    """Bytes held at the peak, beyond those held before.

    Attributes:
        held: the figure that counts.
        allocated: as torch's allocator has it.
        resident: as the operating system has it; None where it was not asked.
    """

    held: int
    allocated: int
    resident: int | None


def peak_memory(work: Callable[[], object], device: torch.device) -> Peak:
    """What `work` holds at its peak. It runs two or three times and must leave nothing behind."""
    if device.type == "cuda":
        work()
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        work()
        torch.cuda.synchronize(device)
        held = torch.cuda.max_memory_allocated(device) - before
        return Peak(held, held, None)
    allocated = allocated_peak(work)
    resident = resident_peak(work)
    elsewhere = resident is not None and resident > allocated + SLACK
    return Peak(resident if resident is not None and elsewhere else allocated, allocated, resident)


def allocated_peak(work: Callable[[], object]) -> int:
    """The peak of what torch's allocator for the processor has handed out during `work`, in bytes."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # the profiler would announce its start and its end
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        work()
    with tempfile.TemporaryDirectory() as directory:
        trace = Path(directory, "trace.json")
        record.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    moves = [(event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]"]
    return max(accumulate((size for _, size in sorted(moves, key=lambda move: move[0])), initial=0))


def resident_peak(work: Callable[[], object]) -> int | None:
    """By how much the process's resident memory grows at its peak during `work`, in bytes; None if nothing tells.

    `work` should have run before, so that code and buffers which stay are not counted. Meanwhile the C library gives
    freed memory back at once; afterwards it keeps it, as in training.
    """
    gc.collect()
    try:
        library = ctypes.CDLL("libc.so.6")
        for parameter, value in MALLOC_GIVES_BACK:
            library.mallopt(parameter, value)
        library.malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
        before = _status("VmRSS")
        work()
        return max(0, _status("VmHWM") - before)
    except (OSError, AttributeError, StopIteration):
        return None
    finally:
        prepare_process(None)


def _status(name: str) -> int:
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024
