"""Which operations the time of a step goes to."""

from types import SimpleNamespace

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from minitx.bench.operator_shares import KINDS, OTHER, OUTSIDE, shares


def event(key: str, cpu: float, device: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(key=key, self_cpu_time_total=cpu, self_device_time_total=device)


def test_shares_of_known_times() -> None:
    events = [event("aten::mm", 2e6), event("aten::addmm", 1e6, 4e6), event("aten::tanh", 1e6), event("aten::bmm", 2e6)]
    found = shares(events, 10.0)
    assert found == {"matrix products": 0.3, "batched products": 0.2, OTHER: 0.1, OUTSIDE: pytest.approx(0.4)}
    assert list(found)[-1] == OUTSIDE
    assert shares(events, 10.0, on_device=True) == {"matrix products": 0.4, OUTSIDE: 0.6}


def test_no_operation_counts_twice() -> None:
    names = [name for listed in KINDS.values() for name in listed.split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("kind", "work"),
    [
        ("matrix products", lambda a, b: torch.nn.functional.linear(a[0], b[0])),
        ("batched products", lambda a, b: a @ b),
        ("softmax and exponentials", lambda a, b: a.softmax(-1)),
        ("copies and casts", lambda a, b: a.bfloat16()),
        ("random numbers", lambda a, b: a.random_()),
        ("normalisation", lambda a, b: torch.nn.functional.layer_norm(a, a.shape[-1:])),
    ],
)
def test_pytorch_calls_its_operations_so(kind: str, work) -> None:
    a, b = torch.randn(4, 200, 200), torch.randn(4, 200, 200)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        work(a, b)
    found = shares(profiled.key_averages(), 1.0)
    del found[OUTSIDE]
    assert next(iter(found)) == kind
