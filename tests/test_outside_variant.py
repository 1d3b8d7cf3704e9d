"""Somebody else's compatibility functions, written without an edit of minitx: the contract, and a model that learns."""

from functools import partial

import pytest
import torch
from torch import nn

from minitx.models.build import build_transformer
from minitx.nn.mask import padding_mask
from minitx.testing import check_compatibility_function


class Distance(nn.Module):
    """-|q - k|² / (2 √d_k) over a learned temperature per head; no class of minitx behind it."""

    def __init__(self, *, d_k: int, num_heads: int, temperature: float = 1.0) -> None:
        super().__init__()
        self.d_k = d_k
        self.temperature = nn.Parameter(torch.full((num_heads, 1, 1), temperature))

    def forward(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        squares = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
        return -squares / (2 * self.d_k**0.5 * self.temperature)


class Bahdanau(nn.Module):
    """vᵀ tanh(W q + U k) with matrices of its own, as in the original (Bahdanau et al. 2015), shared by the heads."""

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.w, self.u, self.v = nn.Linear(d_k, d_k), nn.Linear(d_k, d_k, bias=False), nn.Linear(d_k, 1, bias=False)

    def forward(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return self.v(torch.tanh(self.w(query).unsqueeze(-2) + self.u(key).unsqueeze(-3))).squeeze(-1)


class Sparse(nn.Module):
    """q·k / √d_k that keeps each query's three best keys: a score then depends on other keys."""

    def __init__(self, *, d_k: int, num_heads: int) -> None:
        super().__init__()
        self.d_k = d_k

    def forward(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        scores = query @ key.mT / self.d_k**0.5
        third = scores.topk(min(3, key.shape[2]), dim=-1).values[..., -1:]
        return scores.masked_fill(scores < third, -100.0)


OUTSIDE = [Distance, partial(Distance, temperature=2.0), Bahdanau]


@pytest.fixture(params=OUTSIDE, ids=["Distance", "partial_of_Distance", "Bahdanau"])
def outside(request):
    return request.param


def test_the_contract_passes_what_fills_the_slot(outside):
    check_compatibility_function(outside)


def test_the_contract_says_what_does_not():
    sentence = (
        r"Sparse\(d_k=16, num_heads=2\) in float64 breaks the rule that a score depends on its own query and key alone "
        r".*: two keys were added, and a score moved by \d"
    )
    with pytest.raises(AssertionError, match=sentence):
        check_compatibility_function(Sparse, d_k=[16], num_heads=[2])


def test_a_model_with_what_passes_learns_and_decodes(outside):
    model = build_transformer(
        vocab_size=13,
        pad_id=0,
        seed=1,
        dropout=0.0,
        d_model=32,
        d_ff=64,
        num_heads=2,
        num_layers=2,
        **dict.fromkeys(["encoder_self_attention", "decoder_self_attention", "cross_attention"], outside),
    )
    source, target = torch.tensor([[5, 6, 7, 2], [9, 2, 0, 0]]), torch.tensor([[1, 7, 8], [1, 5, 11]])
    wanted = torch.tensor([[7, 8, 2], [5, 11, 2]])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(60):
        loss = nn.functional.cross_entropy(model(source, target).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    state = model.start_decoding(model.encode(source), padding_mask(source, 0))
    tokens = target[:, 0]
    for i in range(3):
        tokens = model.decode_step(tokens, state).argmax(-1)
        assert tokens.tolist() == wanted[:, i].tolist()
