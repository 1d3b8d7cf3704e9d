"""The position-wise feed-forward network of §3.3."""

from jaxtyping import Float
from torch import Tensor, nn

from minitx.nn.dropout import Dropout


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, Eq. 2, the same at every position."""

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Float[Tensor, "batch length d_model"]) -> Float[Tensor, "batch length d_model"]:
        """Widen to d_ff, cut at zero, narrow to d_model."""
        hidden: Tensor = self.inner(x).relu()
        narrowed: Tensor = self.outer(self.dropout(hidden))
        return narrowed
