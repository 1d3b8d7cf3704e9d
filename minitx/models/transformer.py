"""The encoder-decoder Transformer of §3, whole sequences for training and one token at a time for decoding."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from minitx.models.layers import DecoderLayer, EncoderLayer
from minitx.nn.attention import KeysValues
from minitx.nn.embedding import Embedding
from minitx.nn.mask import causal_mask, padding_mask


@dataclass
class DecoderState:
    """What decoding remembers of a batch of target rows, so that a step costs one position.

    The rows of one source stand together, as many for each source: one in greedy search, a beam in beam search. They
    share what is remembered of the source.

    Attributes:
        source_mask: which source positions are words, [sources, 1, 1, source].
        memory: each decoder layer's keys and values of the encoder's output, computed once a source.
        past: each decoder layer's keys and values of the target rows so far; None before the first step.
        length: the number of target positions seen.
    """

    source_mask: Tensor
    memory: list[KeysValues]
    past: list[KeysValues | None]
    length: int = 0

    def select(self, rows: Int[Tensor, " rows"], sources: Int[Tensor, " sources"] | None = None) -> None:
        """Keep the target rows at `rows`, in that order; a row may be repeated (beams) or left out.

        Args:
            rows: the rows to keep; those of one source stand together, as many for each.
            sources: the sources that they belong to, in their order; None: all, in the order that they have.
        """
        self.past = [kept and kept.select(rows) for kept in self.past]
        if sources is not None:
            self.source_mask = self.source_mask.index_select(0, sources)
            self.memory = [kept.select(sources) for kept in self.memory]


class Transformer(nn.Module):
    """Encoder and decoder stacks between one embedding matrix and its transpose (§3.1, §3.4).

    Args:
        embedding: tokens to vectors and, transposed, vectors to logits.
        encoder: the encoder's layers.
        decoder: the decoder's layers.
        encoder_norm, decoder_norm: what ends each stack: a LayerNorm after pre-norm layers, else `nn.Identity()`.
        pad_id: the id that fills short rows; it is never attended to.
    """

    def __init__(
        self,
        embedding: Embedding,
        encoder: list[EncoderLayer],
        decoder: list[DecoderLayer],
        encoder_norm: nn.Module,
        decoder_norm: nn.Module,
        pad_id: int,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        # To a type checker a ModuleList holds any module.
        self.encoder: Sequence[EncoderLayer] = nn.ModuleList(encoder)  # type: ignore[assignment]
        self.decoder: Sequence[DecoderLayer] = nn.ModuleList(decoder)  # type: ignore[assignment]
        self.encoder_norm = encoder_norm
        self.decoder_norm = decoder_norm
        self.pad_id = pad_id

    @property
    def max_length(self) -> int:
        """The longest source or target in tokens, its end or start mark included."""
        return self.embedding.max_length

    @property
    def vocab_size(self) -> int:
        """The number of tokens that logits are over."""
        return self.embedding.weight.shape[0]

    def forward(
        self, source: Int[Tensor, "batch source"], target_input: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocab"]:
        """Logits of each next token, given the source and the target up to there (teacher forcing)."""
        source_mask = padding_mask(source, self.pad_id)
        hidden = self.decode(target_input, self.encode(source), source_mask)
        return self.logits(hidden)

    def encode(self, source: Int[Tensor, "batch source"]) -> Float[Tensor, "batch source d_model"]:
        """The encoder's output, which the decoder attends to."""
        source_mask = padding_mask(source, self.pad_id)
        x = self.embedding(source)
        for layer in self.encoder:
            x = layer(x, source_mask)
        memory: Tensor = self.encoder_norm(x)
        return memory

    def decode(
        self,
        target_input: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        source_mask: Bool[Tensor, "batch 1 1 source"],
    ) -> Float[Tensor, "batch target d_model"]:
        """The decoder's output at every position of `target_input`.

        The causal mask alone is enough: padding stands to the right, where no real position looks.
        """
        target_mask = causal_mask(target_input.shape[1], target_input.device)
        x = self.embedding(target_input)
        for layer in self.decoder:
            x = layer(x, memory, target_mask, source_mask)
        hidden: Tensor = self.decoder_norm(x)
        return hidden

    def logits(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """Vectors to unnormalised scores of the next token."""
        return self.embedding.logits(hidden)

    def start_decoding(
        self, memory: Float[Tensor, "batch source d_model"], source_mask: Bool[Tensor, "batch 1 1 source"]
    ) -> DecoderState:
        """The state before the first target token."""
        projected = [layer.cross_attention.keys_values(memory) for layer in self.decoder]
        return DecoderState(source_mask, projected, [None] * len(self.decoder))

    def decode_step(self, tokens: Int[Tensor, " rows"], state: DecoderState) -> Float[Tensor, "rows vocab"]:
        """Logits of the token after `tokens`, the newest of each row. `state` moves on by one position.

        There may be several rows a source, the same number for each, see `DecoderState`.
        """
        x = self.embedding(tokens[:, None], first=state.length)
        for i, layer in enumerate(self.decoder):
            x, state.past[i] = layer.step(x, state.past[i], state.memory[i], state.source_mask)
        state.length += 1
        return self.logits(self.decoder_norm(x)).squeeze(1)


def parameter_counts(model: nn.Module) -> dict[str, int]:
    """Parameters by part (the names of the model's direct children) and their `total`, shared ones counted once."""
    counts: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        part = name.split(".")[0]
        counts[part] = counts.get(part, 0) + parameter.numel()
    return counts | {"total": sum(counts.values())}
