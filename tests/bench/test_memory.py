"""The measure of memory against tensors and blocks of known size."""

import ctypes
import sys

import pytest
import torch

from minitx.bench import memory
from minitx.bench.memory import Peak, allocated_peak, peak_memory, resident_peak
from minitx.bench.workload import Inputs, Series, Setting, Workload, load_variants

CPU = torch.device("cpu")
MIB = 2**20
linux = pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")


def two_then_one() -> None:
    """4 MB and 8 MB together, then 2 MB alone."""
    small = torch.ones(1_000_000)
    large = torch.ones(2_000_000)
    del small, large
    torch.ones(500_000)


def block_of_c() -> None:
    """50 MiB from the C library, which no allocator of torch sees."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    block = library.malloc(50 * MIB)
    ctypes.memset(block, 1, 50 * MIB)
    library.free(block)


def test_allocated_is_exact() -> None:
    assert allocated_peak(two_then_one) == 12_000_000


def test_nothing_allocated() -> None:
    assert allocated_peak(lambda: None) == 0


def test_memory_held_before_does_not_count() -> None:
    held = torch.ones(1_000_000)
    assert allocated_peak(held.zero_) == 0


@linux
def test_resident_sees_tensors_and_compiled_code() -> None:
    two_then_one()
    assert resident_peak(two_then_one) == pytest.approx(12_000_000, abs=4 * MIB)
    assert resident_peak(block_of_c) == pytest.approx(50 * MIB, abs=MIB)


@linux
def test_memory_of_compiled_code_counts() -> None:
    peak = peak_memory(block_of_c, CPU)
    assert peak.allocated == 0
    assert peak.held == peak.resident == pytest.approx(50 * MIB, abs=MIB)


@pytest.mark.parametrize(
    ("resident", "held"), [(None, 1000), (900, 1000), (1000 + MIB, 1000), (1001 + MIB, 1001 + MIB)]
)
def test_which_witness_counts(resident: int | None, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "allocated_peak", lambda work: 1000)
    monkeypatch.setattr(memory, "resident_peak", lambda work: resident)
    assert peak_memory(lambda: None, CPU) == Peak(held, 1000, resident)


def test_a_system_that_tells_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(memory, "STATUS", tmp_path / "status")
    assert resident_peak(lambda: None) is None


def test_textbook_additive_holds_a_number_for_each_component_of_each_pair() -> None:
    batch, heads, length, d_k = 2, 3, 16, 32
    setting = Setting("score", batch, heads, torch.float32, CPU)
    scaled, textbook = (
        Workload(Series(variant), setting, Inputs(setting, length, d_k))
        for variant in load_variants(["additive_reference"])
    )
    whole = 4 * batch * heads * length * length * d_k
    # The backward pass holds tanh(q + k), its gradient and that of q + k at once; scores and the rest are small.
    assert 3 * whole <= allocated_peak(textbook.once) <= 3.1 * whole
    assert allocated_peak(scaled.once) < 0.25 * whole
