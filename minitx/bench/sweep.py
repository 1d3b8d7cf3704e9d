"""Every series over lengths and d_k: what fits into memory is measured, variants in turn; the rest is left out."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from minitx.bench.forecast import PILOT_LENGTHS, SHARE, Cost, Forecast
from minitx.bench.machine import available_bytes
from minitx.bench.memory import Peak, allocated_peak, peak_memory
from minitx.bench.operations import Operations
from minitx.bench.timing import Spread, make_clock, spread
from minitx.bench.workload import PACKED, REFERENCE, Inputs, Series, Setting, Workload
from minitx.errors import UserError

BLOCK = 0.01
"""Seconds that a sample takes at least: short passes are repeated, and their median is the sample."""
PATIENCE = 5.0
"""Seconds after which a case gets no more samples than `FEWEST`."""
FEWEST = 3
OVERHEAD = 0.05
"""Seconds that each case takes beside its passes."""


@dataclass(frozen=True)
class Result:
    """One case: figures, or the reason why there are none."""

    series: Series
    length: int
    d_k: int
    operations: Operations | None
    forward: Spread | None = None
    backward: Spread | None = None
    total: Spread | None = None
    peak: Peak | None = None
    skipped: str | None = None

    def record(self, reference: Result | None) -> dict[str, Any]:
        """As plain data, with the ratios to the reference at the same sizes. Seconds and bytes."""
        figures: dict[str, Any] = {
            "variant": self.series.variant.name,
            "target": self.series.variant.target,
            "form": self.series.form,
            "length": self.length,
            "d_k": self.d_k,
            "skipped": self.skipped,
        }
        if self.operations:
            figures |= vars(self.operations)
        if self.forward and self.backward and self.total and self.peak:
            figures |= self.forward.named("forward_seconds") | self.backward.named("backward_seconds")
            figures |= self.total.named("seconds") | {"samples": self.total.samples}
            figures |= {
                "memory_bytes": self.peak.held,
                "memory_allocated_bytes": self.peak.allocated,
                "memory_resident_bytes": self.peak.resident,
            }
        if reference and reference.total and reference.peak and self.total and self.peak:
            figures["time_ratio"] = self.total.median / reference.total.median
            figures["memory_ratio"] = self.peak.held / max(1, reference.peak.held)
        return figures


def is_reference(result: Result) -> bool:
    """Whether the others are compared with this one."""
    return result.series.variant.name == REFERENCE and result.series.form == PACKED


class Sweep:
    """Measures groups of cases that differ in nothing but the series.

    Args:
        setting: what stays the same.
        series: what is compared.
        repeats: samples of each case; slow cases get fewer, `FEWEST` at least, or one if that takes over `PATIENCE`.
    """

    def __init__(self, setting: Setting, series: Sequence[Series], repeats: int) -> None:
        self.setting, self.series, self.repeats = setting, series, repeats
        self.forecasts: dict[tuple[Series, int], Forecast] = {}
        self.clock = make_clock(setting.device)

    def run_pilots(self, d_k: int, longest: int) -> None:
        """Learn from short lengths what the longer ones will cost.

        Raises:
            UserError: a variant does not run at all.
        """
        room = SHARE * available_bytes(self.setting.device)
        for series in self.series:
            forecast = self.forecasts[series, d_k] = Forecast()
            lengths = [n for n in PILOT_LENGTHS if n < longest] or [longest]
            forecast.run_pilots(lengths, lambda n, s=series: self._pilot(s, n, d_k), room)  # type: ignore[misc]

    def expected_seconds(self, length: int, d_k: int) -> float:
        """About how long `measure` will take."""
        chosen = [series for series in self.series if self._excess(series, length, d_k) is None]
        costs = [self.forecasts[series, d_k].at(length).seconds for series in chosen]
        return float(sum(OVERHEAD + 2 * cost + self._sampling(cost) for cost in costs))

    def measure(self, length: int, d_k: int) -> list[Result]:
        """The results of every series at one size, in their order."""
        results: dict[Series, Result] = {}
        workloads: dict[Series, Workload] = {}
        inputs: Inputs | None = None
        for series in self.series:
            operations = series.operations(self.setting, length, d_k)
            reason = self._excess(series, length, d_k)
            if reason is None:
                try:
                    inputs = inputs or Inputs(self.setting, length, d_k)
                    workload = Workload(series, self.setting, inputs)
                    peak = peak_memory(workload.once, self.setting.device)
                except RuntimeError as error:
                    reason = _out_of_memory(error)
            if reason is None:
                workloads[series] = workload
                results[series] = Result(series, length, d_k, operations, peak=peak)
            else:
                results[series] = Result(series, length, d_k, operations, skipped=reason)
        slow = {series for series in workloads if self.forecasts[series, d_k].at(length).seconds > BLOCK}
        for series, samples in self._in_turn(workloads, slow).items():
            forward, backward = ([sample[i] for sample in samples] for i in range(2))
            total = spread([f + b for f, b in samples])
            peak = results[series].peak
            assert peak is not None
            results[series] = Result(
                series, length, d_k, results[series].operations, spread(forward), spread(backward), total, peak
            )
            self.forecasts[series, d_k].learn(length, Cost(total.median, peak.allocated))
        return list(results.values())

    def _in_turn(
        self, workloads: dict[Series, Workload], slow: Collection[Series]
    ) -> dict[Series, list[tuple[float, float]]]:
        """Samples of each series, taken in turn, so that a slow minute of the machine is one for all of them."""
        calls, spent = {}, dict.fromkeys(workloads, 0.0)
        samples: dict[Series, list[tuple[float, float]]] = {series: [] for series in workloads}
        for series, workload in workloads.items():
            calls[series] = 1 if series in slow else max(1, math.ceil(BLOCK / sum(workload.seconds(3, self.clock))))
        for number in range(self.repeats):
            for series, workload in workloads.items():
                fewest = FEWEST if spent[series] < FEWEST * PATIENCE else 1
                if number >= fewest and spent[series] > PATIENCE:
                    continue
                sample = workload.seconds(calls[series], self.clock)
                spent[series] += sum(sample) * calls[series]
                samples[series].append(sample)
        return samples

    def _sampling(self, seconds: float) -> float:
        block = max(BLOCK, seconds)
        return min(self.repeats * block, max(PATIENCE, FEWEST * block if block < PATIENCE else block))

    def _excess(self, series: Series, length: int, d_k: int) -> str | None:
        """Why a case is not run, or None."""
        sizes = self.setting.sizes(length, d_k)
        row = 3 * d_k + (length if self.setting.part == "score" else d_k)  # a query, key, value and gradient
        inputs = sizes.batch * sizes.heads * length * row * self.setting.dtype.itemsize
        needed, free = self.forecasts[series, d_k].at(length).bytes + inputs, available_bytes(self.setting.device)
        if needed <= SHARE * free:
            return None
        return f"it would need about {needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free"

    def _pilot(self, series: Series, length: int, d_k: int) -> Cost:
        try:
            workload = Workload(series, self.setting, Inputs(self.setting, length, d_k))
            if self.setting.device.type == "cuda":
                held = peak_memory(workload.once, self.setting.device).held
            else:
                held = allocated_peak(workload.once)
            return Cost(min(sum(workload.seconds(1, self.clock)) for _ in range(3)), held)
        except Exception as error:
            raise UserError(
                f"{series.variant.target} cannot be measured in {self.setting.dtype}: {type(error).__name__}: "
                f"{' '.join(str(error).split()) or 'no reason given'}."
            ) from error


def _out_of_memory(error: RuntimeError) -> str:
    words = str(error).splitlines()[0]
    if isinstance(error, torch.OutOfMemoryError) or "not enough memory" in words:
        return f"out of memory after all: {words}"
    raise error
