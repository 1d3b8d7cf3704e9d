"""s_ij = vᵀ tanh(q_i + k_j) with a backward pass of its own, whichever form computes it."""

from types import ModuleType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from minitx.nn.additive import chunked, native


def additive_score(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    v: Float[Tensor, "heads d_k"],
) -> Float[Tensor, "batch heads query key"]:
    """Σ_d v_d tanh(q_id + k_jd) for every query i and key j of each head, in the precision of `query`.

    Memory grows with query · key and with (query + key) · d_k, never with query · key · d_k. Half precision is computed
    in single precision. The gradient cannot be differentiated once more.
    """
    scores: Tensor = _AdditiveScore.apply(query, key, v)  # type: ignore[no-untyped-call]
    return scores


class _AdditiveScore(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, v: Tensor) -> Tensor:
        ctx.save_for_backward(query, key, v)
        scores: Tensor = form(query).score(*_wide(query, key, v))
        return scores.to(query.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_score: Tensor) -> tuple[Tensor, ...]:
        inputs = ctx.saved_tensors
        found = form(inputs[0]).gradients(*_wide(*inputs, grad_score))
        return tuple(gradient.to(x.dtype) for gradient, x in zip(found, inputs, strict=True))


def form(query: Tensor) -> ModuleType:
    """The module whose `score` and `gradients` suit the device and precision of `query`."""
    if query.dtype == torch.float64:
        return chunked
    if query.device.type == "cuda" and torch.version.cuda:
        from minitx.nn.additive import triton_kernels

        return triton_kernels
    if query.device.type == "cpu" and native.available():
        return native
    return chunked


def _wide(*tensors: Tensor) -> list[Tensor]:
    wide = torch.promote_types(tensors[0].dtype, torch.float32)
    return [tensor.to(wide) for tensor in tensors]
