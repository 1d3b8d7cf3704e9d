"""The additive score on a CPU: `kernel.cpp`, called through ctypes."""

import ctypes
import math

import torch
from jaxtyping import Float
from torch import Tensor

from minitx.nn.additive.compilation import library

LANES = 16  # of kernel.cpp
TASKS = 16
"""Into how many tasks one head alone is cut, so that threads have something to share. Fixed: sums over a head's queries
are made task by task, and must not depend on how many threads there are."""


def available() -> bool:
    """Whether the kernel can be had on this machine; compiles it on the first call."""
    return library() is not None


def score(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    v: Float[Tensor, "heads d_k"],
) -> Float[Tensor, "batch heads query key"]:
    """s_ij = Σ_d v_d tanh(q_id + k_jd), for tensors of single precision."""
    query, key = _dense_rows(query), _dense_rows(key)
    scores = query.new_empty(*query.shape[:3], key.shape[2])
    padded = _padded(v)
    if scores.numel():
        _call("additive_score", query, key, _pointer(padded), _pointer(scores))
    return scores


def gradients(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    v: Float[Tensor, "heads d_k"],
    grad_score: Float[Tensor, "batch heads query key"],
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of query, key and v, from that of the score."""
    query, key = _dense_rows(query), _dense_rows(key)
    grad_query, grad_key = torch.zeros_like(query), torch.zeros_like(key)
    if not grad_score.numel():
        return grad_query, grad_key, torch.zeros_like(v)
    batch, heads, keys, d_k = key.shape
    blocks = -(-d_k // LANES)
    chunks = _chunks(query)
    partial_key = key.new_zeros(batch, heads, chunks, blocks, keys, LANES)
    partial_v = v.new_zeros(batch, heads, chunks, blocks * LANES)
    dense, padded = grad_score.contiguous(), _padded(v)
    outputs = [argument for tensor in (grad_query, grad_key) for argument in (_pointer(tensor), _strides(tensor))]
    partial = [_pointer(partial_key), _pointer(partial_v)]
    _call("additive_gradients", query, key, _pointer(padded), _pointer(dense), *outputs, *partial)
    return grad_query, grad_key, partial_v.sum(dim=(0, 2))[:, :d_k]


def _call(name: str, query: Tensor, key: Tensor, *further: object) -> None:
    kernel = library()
    assert kernel is not None
    sizes = [ctypes.c_int64(n) for n in (*query.shape[:3], key.shape[2], query.shape[3], _chunks(query))]
    inputs = (_pointer(query), _strides(query), _pointer(key), _strides(key))
    if getattr(kernel, name)(*sizes, ctypes.c_int(torch.get_num_threads()), *inputs, *further):
        raise MemoryError(f"no memory for the exponentials of {key.shape[2]} keys")


def _chunks(query: Tensor) -> int:
    batch, heads, queries, _ = query.shape
    return max(1, min(math.ceil(TASKS / (batch * heads)), queries // TASKS))


def _dense_rows(x: Tensor) -> Tensor:
    """`x`, copied only if its last dimension is not dense: rows may lie anywhere, as heads that were split off do."""
    return x if x.stride(-1) == 1 or x.shape[-1] == 1 else x.contiguous()


def _padded(v: Tensor) -> Tensor:
    return torch.nn.functional.pad(v, (0, -v.shape[1] % LANES)).contiguous()


def _pointer(tensor: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _strides(tensor: Tensor) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * 3)(*tensor.stride()[:3])
