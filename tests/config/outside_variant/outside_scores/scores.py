import torch
from torch import nn


class Distance(nn.Module):
    """Minus the squared distance of query and key."""

    def __init__(self, *, d_k: int, num_heads: int, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, query, key):
        return -torch.cdist(query, key).square() / self.temperature


class Demanding(nn.Module):
    """Needs a key that has no default."""

    def __init__(self, *, d_k: int, num_heads: int, scale: float) -> None:
        super().__init__()


class Deaf(nn.Module):
    """Cannot be called as an attention site calls."""

    def __init__(self, *, num_heads: int) -> None:
        super().__init__()


class Anything(nn.Module):
    """Takes any key at all."""

    def __init__(self, *, d_k: int, num_heads: int, **settings) -> None:
        super().__init__()
