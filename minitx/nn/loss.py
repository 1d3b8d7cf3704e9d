"""Label-smoothed cross-entropy (§5.4) summed over target tokens: two forms of one number.

With V words, label smoothing ε and the true word y, the target distribution puts 1 - ε on y and ε more, evenly, on
all V words; a token's loss is its cross-entropy with softmax(logits):

    (1 - ε) (log Z - z_y) + ε (log Z - mean_j z_j),   log Z = log Σ_j exp z_j
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 512
"""Rows whose logits are held at once by `projected_loss`: 512 × 10,000 fp32 numbers are 20 MB."""


class LossSums(NamedTuple):
    """Sums over the real target tokens of a batch; divide by their number for a mean.

    Attributes:
        smoothed: the training loss, with label smoothing; gradients flow from it.
        cross_entropy: -log p(y), without smoothing and without a gradient: what perplexity is the exponential of.
    """

    smoothed: Tensor
    cross_entropy: Tensor


def plain_loss(
    hidden: Float[Tensor, "rows d_model"],
    weight: Float[Tensor, "vocab d_model"],
    target: Int[Tensor, " rows"],
    label_smoothing: float,
) -> LossSums:
    """The textbook form: all logits at once. The reference for `projected_loss`."""
    logits = torch.nn.functional.linear(hidden, weight)
    smoothed = torch.nn.functional.cross_entropy(logits, target, label_smoothing=label_smoothing, reduction="sum")
    with torch.no_grad():
        cross_entropy = torch.nn.functional.cross_entropy(logits, target, reduction="sum")
    return LossSums(smoothed, cross_entropy)


def projected_loss(
    hidden: Float[Tensor, "rows d_model"],
    weight: Float[Tensor, "vocab d_model"],
    target: Int[Tensor, " rows"],
    label_smoothing: float,
) -> LossSums:
    """The same sums without ever holding all logits: `CHUNK` rows at a time, gradients made in the forward pass.

    The logits of a batch are the largest tensor of a training step by far; written, read and differentiated whole
    they cost more than the Transformer's layers do.
    """
    return LossSums(*_ProjectedLoss.apply(hidden, weight, target, label_smoothing))  # type: ignore[no-untyped-call]


class _ProjectedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, target: Tensor, label_smoothing: float) -> Any:
        need_gradient = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        device = hidden.device.type
        # Products in the precision that autocast asks for, everything else in single precision at least.
        low = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype
        wide = torch.promote_types(low, torch.float32)
        rows, words = hidden.to(low), weight.to(low)
        grad_hidden = torch.empty_like(hidden) if need_gradient else None
        grad_weight = torch.zeros_like(weight, dtype=wide) if need_gradient else None
        sums = hidden.new_zeros(2, dtype=wide)
        with torch.autocast(device, enabled=False):
            for first in range(0, len(rows), CHUNK):
                chunk = slice(first, first + CHUNK)
                log_p = (rows[chunk] @ words.T).to(wide).log_softmax(dim=-1)
                sums += _sums(log_p, target[chunk], label_smoothing)
                if grad_hidden is not None and grad_weight is not None:
                    slope = _slope_in_place(log_p, target[chunk], label_smoothing).to(low)
                    grad_hidden[chunk] = slope @ words
                    grad_weight += slope.T @ rows[chunk]
        ctx.gradients = (grad_hidden, None if grad_weight is None else grad_weight.to(weight.dtype))
        smoothed, cross_entropy = sums.unbind()
        ctx.mark_non_differentiable(cross_entropy)
        return smoothed, cross_entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_smoothed: Tensor, _: Tensor) -> Any:
        grad_hidden, grad_weight = ctx.gradients
        return grad_hidden * grad_smoothed, grad_weight * grad_smoothed, None, None


def _sums(log_p: Tensor, target: Tensor, label_smoothing: float) -> Tensor:
    cross_entropy = -log_p.gather(1, target[:, None]).sum()
    uniform = -log_p.sum() / log_p.shape[1]
    return torch.stack([(1 - label_smoothing) * cross_entropy + label_smoothing * uniform, cross_entropy])


def _slope_in_place(log_p: Tensor, target: Tensor, label_smoothing: float) -> Tensor:
    """The derivative of the smoothed sum by the logits, p - ε/V - (1 - ε) [j = y], written over `log_p`."""
    slope = log_p.exp_().sub_(label_smoothing / log_p.shape[1])
    removed = torch.full((len(target), 1), label_smoothing - 1, dtype=slope.dtype, device=slope.device)
    return slope.scatter_add_(1, target[:, None], removed)
