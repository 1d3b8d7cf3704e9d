"""Matrix products of linear maps in half precision, everything else as it was.

Casting a whole model (autocast) also casts softmax, normalisation and attention's small products, whose half-precision
forms are slow on a CPU. The products of the linear maps are most of the operations, and the only ones changed here.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

ROWS = 256
"""Products are made for multiples of so many rows: a CPU's library prepares a kernel for each shape that it has not
seen lately, which takes longer than the product, and batches come in any number of rows."""


class LowPrecisionLinear(nn.Linear):
    """x Wᵀ + b with factors rounded to `products` while training; parameters, sums and the result stay as they were.

    In evaluation mode it is `nn.Linear`: what a run reports is computed in full.
    """

    products: torch.dtype

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """The map; its name for `x` is that of `nn.Linear`."""
        if not self.training:
            return super().forward(input)
        product = low_product(input, self.weight, self.products)
        return product if self.bias is None else product + self.bias


def low_product(
    x: Float[Tensor, "*batch in"], weight: Float[Tensor, "out in"], products: torch.dtype
) -> Float[Tensor, "*batch out"]:
    """x Wᵀ with both factors rounded to `products`, and the factors of its gradients likewise; in the dtype of `x`."""
    product: Tensor = _Product.apply(x, weight, products)  # type: ignore[no-untyped-call]
    return product


def lower_products(model: nn.Module, products: torch.dtype) -> None:
    """Make every `nn.Linear` inside `model` a `LowPrecisionLinear`, with the parameters it has."""
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = LowPrecisionLinear
            module.products = products  # type: ignore[assignment]


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, products: torch.dtype) -> Tensor:
        rows, low_weight = rounded_rows(x, products), weight.to(products)
        ctx.save_for_backward(rows, low_weight)
        return (rows @ low_weight.T)[: x.numel() // x.shape[-1]].to(x.dtype).view(*x.shape[:-1], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        rows, weight = ctx.saved_tensors
        slopes = rounded_rows(gradient, rows.dtype)
        grad_x = (slopes @ weight)[: gradient.numel() // gradient.shape[-1]].to(gradient.dtype)
        grad_weight = (slopes.T @ rows).to(gradient.dtype)
        return grad_x.view(*gradient.shape[:-1], -1), grad_weight, None


def rounded_rows(x: Float[Tensor, "*batch width"], dtype: torch.dtype) -> Float[Tensor, "rows width"]:
    """The vectors of `x` in `dtype`, a row each, with rows of zeros at the end up to a multiple of `ROWS`."""
    count, width = x.numel() // x.shape[-1], x.shape[-1]
    rows = x.new_empty(-(-count // ROWS) * ROWS, width, dtype=dtype)
    rows[:count].view(x.shape).copy_(x)
    rows[count:] = 0
    return rows
