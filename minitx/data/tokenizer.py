"""Text to ids and back: one byte-level BPE for both languages of a pair (§5.1 too shares the vocabulary)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import tokenizers
from numpy.typing import NDArray
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from minitx.errors import UserError

PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3
Ids = Iterable[int] | NDArray[np.integer]
SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")
SMALLEST_VOCABULARY = len(SPECIAL_TOKENS) + 256
"""The special tokens and the 256 bytes, with which any text can be spelt."""
LONGEST_WORD = 5_000
"""Characters without a blank among them, from which pieces are learnt."""
_ENDLESS_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


class Tokenizer:
    """A joint byte-level BPE without loss: ``decode(encode(text))`` is the NFC form of ``text``, whatever the text.

    One blank is put before the text, so that a first word shares its pieces with the same word inside a sentence, and
    taken away again by `decode`. Text that spells a special token (``</s>``) is ordinary text.
    """

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        for position, token in enumerate(SPECIAL_TOKENS):
            if backend.token_to_id(token) != position:
                raise ValueError(f"{token} must have id {position}, not {backend.token_to_id(token)}")
        backend.encode_special_tokens = True  # not part of the saved file; without it "</s>" in a text becomes EOS_ID
        self._backend = backend
        self.vocab_size: int = backend.get_vocab_size()

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the tokenizer's file: equal for equal tokenizers."""
        return hashlib.sha256(self._serialised().encode()).hexdigest()

    def encode(self, text: str) -> list[int]:
        """The ids of ``text`` without special ids."""
        ids: list[int] = self._backend.encode(_normalise(text), add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` for each text, on all processors."""
        encodings = self._backend.encode_batch_fast([_normalise(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Ids) -> str:
        """The text of ``ids``. Special ids are dropped, wherever they stand."""
        text: str = self._backend.decode([int(i) for i in ids if i > UNK_ID], skip_special_tokens=False)
        return text.removeprefix(" ")

    def tokens(self, ids: Ids) -> list[str]:
        """A readable piece for each id, as for a heatmap: a leading blank shows as ``▁``, special ids by name."""
        decoder = decoders.ByteLevel()
        names = [self._backend.id_to_token(int(i)) or "" for i in ids]
        return [name if name in SPECIAL_TOKENS else decoder.decode([name]).replace(" ", "▁") for name in names]

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as one JSON file, the same bytes for the same tokenizer."""
        Path(path).write_text(self._serialised(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read what `save` wrote.

        Raises:
            UserError: the file is missing, is no tokenizer, or lacks the special ids of minitx.
        """
        try:
            return cls(tokenizers.Tokenizer.from_str(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise UserError(f"Cannot read the tokenizer {path}: {error.strerror}.") from error
        except Exception as error:  # the library raises plain Exception for a file that it cannot read
            raise UserError(f"{path} is not a tokenizer of minitx: {error}. Give a tokenizer.json of a run.") from error

    def _serialised(self) -> str:
        return self._backend.to_str(pretty=False)

    def __reduce__(self) -> tuple[object, ...]:
        return _from_string, (self._serialised(),)


def train_tokenizer(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """Learn a byte-level BPE from ``texts``; the same texts give the same tokenizer, byte for byte.

    Nothing is learnt from words longer than `LONGEST_WORD`: they are none, and take time that grows with the square of
    their length.

    The vocabulary may come out smaller than ``vocab_size`` where the texts hold nothing more to merge.

    Raises:
        UserError: ``vocab_size`` leaves no room for the special tokens and the 256 bytes.
    """
    if vocab_size < SMALLEST_VOCABULARY:
        raise UserError(
            f"data.vocab_size={vocab_size} is too small: {len(SPECIAL_TOKENS)} special tokens and 256 bytes need "
            f"{SMALLEST_VOCABULARY} at least."
        )
    backend = tokenizers.Tokenizer(models.BPE())
    # NFC is done by Python (`_normalise`): the library's own follows an older Unicode and orders newer marks otherwise.
    backend.normalizer = normalizers.Prepend(" ")
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(_normalised(texts), trainer)
    return Tokenizer(backend)


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _normalised(texts: Iterable[str]) -> Iterator[str]:
    return map(_without_endless_words, map(_normalise, texts))


def _without_endless_words(text: str) -> str:
    if len(text) <= LONGEST_WORD:
        return text
    return _ENDLESS_WORD.sub(" ", text)


def _from_string(serialised: str) -> Tokenizer:
    return Tokenizer(tokenizers.Tokenizer.from_str(serialised))
