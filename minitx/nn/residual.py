"""How a sub-layer is wrapped: two fillings of one slot."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from minitx.nn.dropout import Dropout


class PostNorm(nn.Module):
    """LayerNorm(x + dropout(sublayer(x))), as in the paper (§3.1, §5.4)."""

    def __init__(self, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch length d_model"]:
        """Add what the sub-layer makes of `x`, then normalise the sum."""
        normalised: Tensor = self.norm(x + self.dropout(sublayer(x)))
        return normalised


class PreNorm(nn.Module):
    """x + dropout(sublayer(LayerNorm(x))): Xiong et al. (2020); trains without a long warm-up.

    A stack of these ends in one LayerNorm of its own, since its output is an unnormalised sum.
    """

    def __init__(self, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch length d_model"]:
        """Add what the sub-layer makes of the normalised `x`."""
        added: Tensor = self.dropout(sublayer(self.norm(x)))
        return x + added
