"""The additive score vᵀ tanh(q + k) and its gradients as Triton kernels for a CUDA device.

With t_ijd = tanh(q_id + k_jd) and G the gradient of the score, for each sentence and head,

    score_ij       = Σ_d v_d t_ijd
    grad_query_id  = v_d Σ_j G_ij (1 − t_ijd²)
    grad_key_jd    = v_d Σ_i G_ij (1 − t_ijd²)
    grad_v_d       = Σ_ij G_ij t_ijd,  also over the batch

Of the three letters i, j, d, each sum leaves two. A program owns a tile over these two and loops over the third; it
adds one vector to another, as a column and a row, and folds tanh or its derivative into the tile. So no tensor of
n · m · d_k numbers exists anywhere, no two programs write to the same address, and every sum has a fixed order: equal
input gives equal bits.

Lengths and d_k are plain arguments of the kernels, so that a new length compiles nothing.
"""

from typing import no_type_check

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

LENGTH = 32
"""Queries or keys in a tile: about one sentence. Longer tiles would be mostly padding."""

WIDTH = 32
"""Most of d_k in a tile of `gradients`."""


def score(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    v: Float[Tensor, "heads d_k"],
) -> Float[Tensor, "batch heads query key"]:
    """Σ_d v_d tanh(q_d + k_d) of each query with each key, in fp32 whatever the inputs' precision."""
    batch, heads, n, d_k = query.shape
    m = key.shape[2]
    result = query.new_empty(batch, heads, n, m, dtype=torch.float32)
    # With d_k in front, the numbers that one step of the kernel's loop reads lie side by side.
    query, key = query.transpose(-2, -1).contiguous(), key.transpose(-2, -1).contiguous()
    grid = (batch * heads, triton.cdiv(n, LENGTH), triton.cdiv(m, LENGTH))
    with torch.cuda.device_of(query):  # type: ignore[no-untyped-call]
        _score_kernel[grid](query, key, v.contiguous(), result, heads, n, m, d_k, LENGTH=LENGTH)
    return result


def gradients(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    v: Float[Tensor, "heads d_k"],
    grad_score: Float[Tensor, "batch heads query key"],
) -> tuple[
    Float[Tensor, "batch heads query d_k"],
    Float[Tensor, "batch heads key d_k"],
    Float[Tensor, "heads d_k"],
]:
    """The gradients of query, key and v, in fp32, from `grad_score`, the gradient of `score`."""
    batch, heads, n, d_k = query.shape
    m = key.shape[2]
    query, key, v, grad_score = query.contiguous(), key.contiguous(), v.contiguous(), grad_score.contiguous()
    grad_query = torch.empty_like(query, dtype=torch.float32)
    grad_key = torch.empty_like(key, dtype=torch.float32)
    # One row of sums for each tile of queries, added up below.
    grad_v = query.new_empty(batch, heads, triton.cdiv(n, LENGTH), d_k, dtype=torch.float32)
    width = min(WIDTH, triton.next_power_of_2(d_k))
    over_queries = (batch * heads, triton.cdiv(n, LENGTH), triton.cdiv(d_k, width))
    over_keys = (batch * heads, triton.cdiv(m, LENGTH), triton.cdiv(d_k, width))
    tile = {"LENGTH": LENGTH, "WIDTH": width}
    with torch.cuda.device_of(query):  # type: ignore[no-untyped-call]
        _gradient_kernel[over_queries](
            query, key, v, grad_score, grad_query, grad_v, heads, n, m, d_k, m, 1, **tile, WITH_V=True
        )
        # q + k is symmetric: for the key's gradient the two change places, and G is read by columns.
        _gradient_kernel[over_keys](
            key, query, v, grad_score, grad_key, None, heads, m, n, d_k, 1, m, **tile, WITH_V=False
        )
    return grad_query, grad_key, grad_v.sum(dim=(0, 2))


@triton.jit
@no_type_check
def _tanh_and_slope(x):
    """tanh(x) and tanh′(x) = 1 − tanh²(x), each with a small *relative* error wherever fp32 can hold it.

    Both come from s = e^{−2|x|} ≤ 1, which never overflows: tanh|x| = (1 − s) / (1 + s), tanh′(x) = 4s / (1 + s)².
    Near 0 the difference 1 − s cancels, and the first four terms of tanh's power series take over.
    """
    # One 2^x and one 1/x a number, of about 26 instructions in all (19 for a slope alone), counted in the machine code
    # for compute capability 9.0: issuing instructions is the limit, not the special function unit. With e^{2q} and
    # e^{2k} taken once per query and per key, 2^x and its scaling would go, but past |q| = 44 these overflow, and a
    # few integer instructions that carry their exponents apart would come instead: a longer formula for little.
    # The unit's own tanh is off by 5 · 10⁻⁴.
    s = tl.exp2(tl.abs(x) * -2.8853900817779268)  # 2 / ln 2
    reciprocal = 1.0 / (1.0 + s)
    slope = 4.0 * s * reciprocal * reciprocal
    far = (1.0 - s) * reciprocal
    far = tl.where(x < 0.0, -far, far)
    x2 = x * x
    near = x * (1.0 - x2 * (1.0 / 3.0 - x2 * (2.0 / 15.0 - x2 * (17.0 / 315.0))))
    return tl.where(x2 < 0.0625, near, far), slope


@triton.jit(do_not_specialize=["heads", "n", "m", "d_k"])
@no_type_check
def _score_kernel(query, key, v, score, heads, n, m, d_k, LENGTH: tl.constexpr):
    """A tile of scores over i and j; the loop is over d. Query is [batch · heads, d_k, n], key [batch · heads, d_k, m].

    All offsets are int64: batch · heads · n · m passes 2³¹ before memory is full.
    """
    pair = tl.program_id(0).to(tl.int64)  # of a sentence and a head
    i = tl.program_id(1).to(tl.int64) * LENGTH + tl.arange(0, LENGTH)
    j = tl.program_id(2).to(tl.int64) * LENGTH + tl.arange(0, LENGTH)
    query += pair * n * d_k
    key += pair * m * d_k
    v += pair % heads * d_k
    total = tl.zeros((LENGTH, LENGTH), tl.float32)
    for _ in range(d_k):
        q = tl.load(query + i, mask=i < n, other=0.0).to(tl.float32)
        k = tl.load(key + j, mask=j < m, other=0.0).to(tl.float32)
        tanh, _slope = _tanh_and_slope(q[:, None] + k[None, :])
        total += tl.load(v).to(tl.float32) * tanh
        query += n
        key += m
        v += 1
    at = score + pair * n * m + i[:, None] * m + j[None, :]
    tl.store(at, total, mask=(i < n)[:, None] & (j < m)[None, :])


@triton.jit(do_not_specialize=["heads", "n", "m", "d_k", "row_stride", "column_stride"])
@no_type_check
def _gradient_kernel(
    own,
    other,
    v,
    grad_score,
    grad_own,
    grad_v,
    heads,
    n,
    m,
    d_k,
    row_stride,
    column_stride,
    LENGTH: tl.constexpr,
    WIDTH: tl.constexpr,
    WITH_V: tl.constexpr,
):
    """A tile, over i and d, of the gradient of `own` [batch · heads, n, d_k]; the loop is over j, the rows of `other`.

    `row_stride` and `column_stride` lead through grad_score from one i and from one j to the next. WITH_V also writes
    this tile's part of grad_v, [batch · heads, tiles of i, d_k].
    """
    pair = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1).to(tl.int64) * LENGTH + tl.arange(0, LENGTH)
    d = tl.program_id(2) * WIDTH + tl.arange(0, WIDTH)
    inside = (i < n)[:, None] & (d < d_k)[None, :]
    element = pair * n * d_k + i[:, None] * d_k + d[None, :]
    q = tl.load(own + element, mask=inside, other=0.0).to(tl.float32)
    other += pair * m * d_k
    grad_score += pair * n * m
    sum_slope = tl.zeros((LENGTH, WIDTH), tl.float32)
    sum_tanh = tl.zeros((LENGTH, WIDTH), tl.float32)
    for _ in range(m):
        k = tl.load(other + d, mask=d < d_k, other=0.0).to(tl.float32)
        gradient = tl.load(grad_score + i * row_stride, mask=i < n, other=0.0).to(tl.float32)
        tanh, slope = _tanh_and_slope(q + k[None, :])
        sum_slope += gradient[:, None] * slope
        if WITH_V:
            sum_tanh += gradient[:, None] * tanh
        other += d_k
        grad_score += column_stride
    scale = tl.load(v + pair % heads * d_k + d, mask=d < d_k, other=0.0).to(tl.float32)
    tl.store(grad_own + element, scale[None, :] * sum_slope, mask=inside)
    if WITH_V:
        tile = pair * tl.num_programs(1) + tl.program_id(1)
        tl.store(grad_v + tile * d_k + d, tl.sum(sum_tanh, axis=0), mask=d < d_k)
