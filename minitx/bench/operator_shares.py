"""Where the time of training steps goes, by kind of operation, as PyTorch's profiler sees it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import lightning.pytorch as pl
import torch
from torch.profiler import ProfilerActivity, profile

KINDS = {
    "matrix products": "mm addmm addmm_ _addmm_activation mkldnn_linear _linear_pointwise linear",
    "batched products": "bmm bmm_ baddbmm baddbmm_",
    "softmax and exponentials": "_softmax _softmax_backward_data _log_softmax _log_softmax_backward_data logsumexp exp "
    "exp_ amax max log log_",
    "normalisation": "native_layer_norm native_layer_norm_backward",
    "random numbers": "random_ bernoulli_ uniform_ normal_",
    "copies and casts": "copy_ cat index_select index gather clone _to_copy fill_ zero_ masked_fill_ index_put_ "
    "_index_put_impl_ index_add_ embedding embedding_dense_backward constant_pad_nd nonzero scatter_ scatter_add_",
    "update of the weights": "_fused_adam_ _fused_adamw_ _foreach_norm _foreach_mul_ _foreach_addcdiv_ _foreach_lerp_",
}
"""Names of PyTorch's operations, without ``aten::``, by the kind they count as."""
OTHER, OUTSIDE = "other operations", "outside of operations"
_KIND = {name: kind for kind, names in KINDS.items() for name in names.split()}


def shares(events: Iterable[Any], seconds: float, on_device: bool = False) -> dict[str, float]:
    """The share of `seconds` that each kind of operation took, largest first, what is outside of all last.

    Args:
        events: one for each operation, as `torch.profiler` lists them: ``key``, ``self_cpu_time_total`` and
            ``self_device_time_total``, in microseconds and without those of its parts, are read.
        seconds: from the start of the steps to their end.
        on_device: whether the time that counts is that of an accelerator.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    for event in events:
        own = event.self_device_time_total if on_device else event.self_cpu_time_total
        totals[_KIND.get(event.key.split("::")[-1], OTHER)] += own * 1e-6
    ordered = sorted(totals.items(), key=lambda item: -item[1])
    found = {kind: total / seconds for kind, total in ordered if total > 0}
    return {**found, OUTSIDE: max(0.0, 1 - sum(found.values()))}


class OperatorShares(pl.Callback):
    """Profiles the batches of steps after `first`, so that those before are measured without a profiler.

    Attributes:
        result: see `shares`; empty until training has ended.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.result: dict[str, float] = {}
        self._profile: Any = None
        self._started = 0.0

    def on_train_batch_start(self, trainer: pl.Trainer, module: Any, batch: Any, batch_idx: int) -> None:
        """Begin, once the steps before are made."""
        if self._profile is None and trainer.global_step >= self.first:
            activities = [ProfilerActivity.CPU]
            if trainer.strategy.root_device.type == "cuda":
                activities.append(ProfilerActivity.CUDA)
            self._profile = profile(activities=activities)
            self._profile.__enter__()
            self._started = time.perf_counter()

    def on_train_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Add up."""
        if self._profile is not None:
            on_device = trainer.strategy.root_device.type == "cuda"
            if on_device:
                torch.cuda.synchronize()
            seconds = time.perf_counter() - self._started
            self._close()
            self.result = shares(self._profile.key_averages(), seconds, on_device)

    def on_exception(self, trainer: pl.Trainer, module: pl.LightningModule, exception: BaseException) -> None:
        """A profile that was broken off is no result."""
        if self._profile is not None:
            self._close()

    def _close(self) -> None:
        self._profile.__exit__(None, None, None)
