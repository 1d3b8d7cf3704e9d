"""Label-smoothed cross-entropy (§5.4) summed over target tokens: two forms of one number.

With V words, label smoothing ε and the true word y, the target distribution puts 1 - ε on y and ε more, evenly, on
all V words; a token's loss is its cross-entropy with softmax(logits):

    (1 - ε) (log Z - z_y) + ε (log Z - mean_j z_j),   log Z = log Σ_j exp z_j
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from minitx.nn.low_precision import low_product, rounded_rows

LOGIT_BYTES = {"cpu": 20 * 2**20}
"""Memory for the logits that `projected_loss` holds at once: what a CPU's caches hold, where a softmax is then three to
six times as fast as from memory; other devices take `MORE_LOGIT_BYTES`."""
MORE_LOGIT_BYTES = 256 * 2**20


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
    products: torch.dtype | None = None,
) -> LossSums:
    """The textbook form: all logits at once. The reference for `projected_loss`."""
    logits = torch.nn.functional.linear(hidden, weight) if products is None else low_product(hidden, weight, products)
    smoothed = torch.nn.functional.cross_entropy(logits, target, label_smoothing=label_smoothing, reduction="sum")
    with torch.no_grad():
        cross_entropy = torch.nn.functional.cross_entropy(logits, target, reduction="sum")
    return LossSums(smoothed, cross_entropy)


def projected_loss(
    hidden: Float[Tensor, "rows d_model"],
    weight: Float[Tensor, "vocab d_model"],
    target: Int[Tensor, " rows"],
    label_smoothing: float,
    products: torch.dtype | None = None,
) -> LossSums:
    """The same sums without ever holding all logits: as many rows at a time as fit into `LOGIT_BYTES`, gradients
    made in the forward pass.

    The logits of a batch are the largest tensor of a training step by far; written, read and differentiated whole
    they cost more than the Transformer's layers do.

    Args:
        products: what the factors of matrix products are rounded to, a half-precision type; None: what autocast says,
            or nothing.
    """
    sums = _ProjectedLoss.apply(hidden, weight, target, label_smoothing, products)  # type: ignore[no-untyped-call]
    return LossSums(*sums)


class _ProjectedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, target: Tensor, label_smoothing: float, products: torch.dtype | None
    ) -> Any:
        need_gradient = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        device = hidden.device.type
        if products is None:
            products = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype
        # Products in that precision, everything else in single precision at least.
        wide = torch.promote_types(products, torch.float32)
        # Rounded, rows come in few numbers: for each number a CPU's library would prepare kernels, and keep them.
        rows = hidden if products == hidden.dtype else rounded_rows(hidden, products)
        words = weight.to(products)
        mean_word = words.mean(dim=0, dtype=wide)
        grad_hidden = torch.empty_like(hidden) if need_gradient else None
        grad_weight = torch.zeros_like(weight, dtype=wide) if need_gradient else None
        sums = hidden.new_zeros(2, dtype=wide)
        with torch.autocast(device, enabled=False):
            for chunk in _chunks(rows, len(words)):
                logits = rows[chunk] @ words.T
                p = logits.softmax(dim=-1)
                true = target[chunk]
                real = len(true)  # what follows them are rows of zeros
                mean_logit = rows[chunk][:real].to(wide) @ mean_word
                sums += _sums(logits[:real], p[:real], mean_logit, true, label_smoothing)
                if grad_hidden is not None and grad_weight is not None:
                    # The derivative of the smoothed sum by the logits is p - ε/V - (1 - ε) [j = y]; the part that is
                    # the same for all words, ε/V, is taken out of the products below.
                    p[:real].scatter_add_(1, true[:, None], p.new_full((real, 1), label_smoothing - 1))
                    grad_hidden[chunk] = (p @ words)[:real]
                    grad_weight += p.T @ rows[chunk]
        if grad_hidden is not None and grad_weight is not None:
            grad_hidden -= label_smoothing * mean_word.to(hidden.dtype)
            grad_weight -= label_smoothing / len(words) * rows.sum(dim=0, dtype=wide)
        ctx.gradients = (grad_hidden, None if grad_weight is None else grad_weight.to(weight.dtype))
        smoothed, cross_entropy = sums.unbind()
        ctx.mark_non_differentiable(cross_entropy)
        return smoothed, cross_entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_smoothed: Tensor, _: Tensor) -> Any:
        grad_hidden, grad_weight = ctx.gradients
        return grad_hidden * grad_smoothed, grad_weight * grad_smoothed, None, None, None


def _chunks(rows: Tensor, num_words: int) -> Iterator[slice]:
    """Slices of `rows` whose logits fit into the memory meant for them."""
    size = LOGIT_BYTES.get(rows.device.type, MORE_LOGIT_BYTES) // (num_words * rows.element_size())
    size = max(1, size if size < 128 else size // 128 * 128)  # whole tiles of a matrix product
    return (slice(first, first + size) for first in range(0, len(rows), size))


def _sums(logits: Tensor, p: Tensor, mean_logit: Tensor, target: Tensor, label_smoothing: float) -> Tensor:
    """Both sums over some rows, from their logits, the softmax of these, and their mean over the words."""
    wide = mean_logit.dtype
    # log Z from the likeliest word: p of a true word may be too small for a number.
    log_z = logits.amax(dim=1).to(wide) - p.amax(dim=1).to(wide).log()
    cross_entropy = (log_z - logits.gather(1, target[:, None])[:, 0].to(wide)).sum()
    uniform = (log_z - mean_logit).sum()
    return torch.stack([(1 - label_smoothing) * cross_entropy + label_smoothing * uniform, cross_entropy])
