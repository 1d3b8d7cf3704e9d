"""Matrix products of linear maps in half precision, everything else as it was.

Casting a whole model (autocast) also casts softmax, normalisation and attention's small products, whose half-precision
forms are slow on a CPU. The products of the linear maps are most of the operations, and the only ones changed here.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class LowPrecisionLinear(nn.Linear):
    """x Wᵀ + b with factors rounded to `products` while training; parameters, sums and the result stay as they were.

    In evaluation mode it is `nn.Linear`: what a run reports is computed in full.
    """

    products: torch.dtype

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """The map; its name for `x` is that of `nn.Linear`."""
        if not self.training:
            return super().forward(input)
        product: Tensor = _Product.apply(input, self.weight, self.products)  # type: ignore[no-untyped-call]
        return product if self.bias is None else product + self.bias


def lower_products(model: nn.Module, products: torch.dtype) -> None:
    """Make every `nn.Linear` inside `model` a `LowPrecisionLinear`, with the parameters it has."""
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = LowPrecisionLinear
            module.products = products  # type: ignore[assignment]


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, products: torch.dtype) -> Tensor:
        low_x, low_weight = x.to(products), weight.to(products)
        ctx.save_for_backward(low_x, low_weight)
        return nn.functional.linear(low_x, low_weight).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        low = gradient.to(x.dtype)
        grad_x = (low @ weight).to(gradient.dtype)
        grad_weight = low.flatten(0, -2).T @ x.flatten(0, -2)
        return grad_x, grad_weight.to(gradient.dtype), None
