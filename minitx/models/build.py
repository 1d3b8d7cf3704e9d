"""From numbers and compatibility factories to a model: the one place where the parts are put together."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from minitx.errors import UserError
from minitx.models.initialisation import SCHEMES, forked_random_state, initialise_parameters
from minitx.models.layers import DecoderLayer, EncoderLayer
from minitx.models.transformer import Transformer
from minitx.nn.attention import MultiHeadAttention
from minitx.nn.embedding import Embedding
from minitx.nn.feed_forward import FeedForward
from minitx.nn.residual import PostNorm, PreNorm


@runtime_checkable
class CompatibilityFactory(Protocol):
    """Builds the compatibility function of one attention site."""

    def __call__(self, *, d_k: int, num_heads: int) -> nn.Module:
        """A module that maps (query, key) to scores, with parameters of its own."""


def build_transformer(
    *,
    vocab_size: int,
    pad_id: int,
    seed: int,
    d_model: int,
    d_ff: int,
    num_heads: int,
    num_layers: int,
    encoder_self_attention: CompatibilityFactory,
    decoder_self_attention: CompatibilityFactory,
    cross_attention: CompatibilityFactory,
    num_decoder_layers: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    dropout: float = 0.1,
    attention_dropout: float = 0.0,
    activation_dropout: float = 0.0,
    norm: str = "post",
    max_length: int = 256,
    initialisation: str = "variance",
) -> Transformer:
    """The encoder-decoder of §3 with initialised parameters.

    Args:
        vocab_size, pad_id, seed: number of tokens, source and target together; the id of padding; the run's seed.
        d_model, d_ff, num_heads, dropout: as in the paper, dropout on the output of each sub-layer and on embeddings.
        attention_dropout, activation_dropout: on attention's weights and inside the feed-forward network as well.
        num_layers: layers of the encoder, and of the decoder unless `num_decoder_layers` is given.
        encoder_self_attention, decoder_self_attention, cross_attention: the compatibility function of each site.
        d_k, d_v: length of one head's query and key, and of its value; d_model / num_heads unless given.
        norm, max_length: "post" as in the paper or "pre"; the longest sequence in tokens, end mark included.
        initialisation: how W^Q and W^K are drawn, see `initialise_parameters`.

    Raises:
        UserError: if the numbers do not go together.
    """
    _check_positive(d_model=d_model, d_ff=d_ff, num_heads=num_heads, d_k=d_k, d_v=d_v, max_length=max_length)
    _check_positive(num_layers=num_layers, num_decoder_layers=num_decoder_layers)
    _check_together(d_model, num_heads, d_k, d_v, norm, initialisation)
    d_k, d_v = d_k or d_model // num_heads, d_v or d_model // num_heads
    rates = _Rates(dropout, attention_dropout, activation_dropout)
    layers = _Layers(seed, d_model, d_ff, num_heads, d_k, d_v, rates, norm)
    with torch.random.fork_rng(devices=[]):  # PyTorch's own first draws, overwritten below
        embedding = Embedding(vocab_size, d_model, max_length, dropout)
        encoder = layers.encoder_stack(num_layers, encoder_self_attention)
        decoder = layers.decoder_stack(num_decoder_layers or num_layers, decoder_self_attention, cross_attention)
    model = Transformer(embedding, encoder, decoder, layers.stack_end(), layers.stack_end(), pad_id)
    initialise_parameters(model, seed, initialisation)
    return model


@dataclass(frozen=True)
class _Rates:
    """Where how much is dropped.

    Raises:
        UserError: if a rate is not in [0, 1).
    """

    dropout: float
    attention_dropout: float
    activation_dropout: float

    def __post_init__(self) -> None:
        for name, rate in vars(self).items():
            if not 0.0 <= rate < 1.0:
                raise UserError(f"model.{name}={rate}: it must be 0 or more and less than 1.")


@dataclass(frozen=True)
class _Layers:
    """Builds the layers of one model."""

    seed: int
    d_model: int
    d_ff: int
    num_heads: int
    d_k: int
    d_v: int
    rates: _Rates
    norm: str

    def encoder_stack(self, number: int, self_attention: CompatibilityFactory) -> list[EncoderLayer]:
        return [
            EncoderLayer(
                self._attention(f"encoder.{i}.self_attention", self_attention), self._feed_forward(), self._residuals(2)
            )
            for i in range(number)
        ]

    def decoder_stack(
        self, number: int, self_attention: CompatibilityFactory, cross_attention: CompatibilityFactory
    ) -> list[DecoderLayer]:
        return [
            DecoderLayer(
                self._attention(f"decoder.{i}.self_attention", self_attention),
                self._attention(f"decoder.{i}.cross_attention", cross_attention),
                self._feed_forward(),
                self._residuals(3),
            )
            for i in range(number)
        ]

    def stack_end(self) -> nn.Module:
        return nn.LayerNorm(self.d_model) if self.norm == "pre" else nn.Identity()

    def _attention(self, site: str, factory: CompatibilityFactory) -> MultiHeadAttention:
        with forked_random_state(self.seed, site):
            compatibility = factory(d_k=self.d_k, num_heads=self.num_heads)
        rate = self.rates.attention_dropout
        return MultiHeadAttention(self.d_model, self.num_heads, self.d_k, self.d_v, compatibility, rate)

    def _feed_forward(self) -> FeedForward:
        return FeedForward(self.d_model, self.d_ff, self.rates.activation_dropout)

    def _residuals(self, number: int) -> list[nn.Module]:
        residual = {"pre": PreNorm, "post": PostNorm}[self.norm]
        return [residual(self.d_model, self.rates.dropout) for _ in range(number)]


def _check_positive(**numbers: int | None) -> None:
    for name, value in numbers.items():
        if value is not None and (value < 1 or value != int(value)):
            raise UserError(f"model.{name}={value}: it must be a whole number, 1 or more.")


def _check_together(
    d_model: int, num_heads: int, d_k: int | None, d_v: int | None, norm: str, initialisation: str
) -> None:
    if d_model % 2:
        raise UserError(f"model.d_model={d_model}: it must be even, since positions are pairs of sine and cosine.")
    if d_model % num_heads and (d_k is None or d_v is None):
        raise UserError(
            f"model.d_model={d_model} is not a multiple of model.num_heads={num_heads}: "
            "choose one that divides it, or give model.d_k and model.d_v themselves."
        )
    if norm not in {"pre", "post"}:
        raise UserError(f"model.norm={norm}: choose pre or post.")
    if initialisation not in SCHEMES:
        raise UserError(f"model.initialisation={initialisation}: choose {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}.")
