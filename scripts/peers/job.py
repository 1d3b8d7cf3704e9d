"""What a runner is asked to do, handed over as a JSON file. Standard library only: every environment imports it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PAD, BOS, EOS, UNK = 0, 1, 2, 3
"""minitx's special ids. All other tokens keep their id in every system, whatever order it wants these four in."""
SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")
SOURCE, TARGET = "en", "de"
BATCH_SENTENCES = 64
MAX_LENGTH = 60
"""Most tokens of a translation, end mark included."""
BEAMS = {"greedy": 1, "beam_5": 5}


@dataclass(frozen=True)
class Facts:
    """The work that all systems share, as `preparation` found it.

    Attributes:
        vocab_size: entries of the joint vocabulary, the four special tokens included.
        num_layers, d_model, d_ff, num_heads, dropout: of the model, encoder and decoder alike.
        max_length: longest sequence in tokens, end mark included.
        batch_tokens: tokens of a training batch on either side, padding included.
        batch_sentences: training pairs whose targets hold about `batch_tokens` tokens, for systems that count pairs.
        run: the minitx run that tokenizer and weights come from.
        corpus: the directory of the text.
    """

    vocab_size: int
    num_layers: int
    d_model: int
    d_ff: int
    num_heads: int
    dropout: float
    max_length: int
    batch_tokens: int
    batch_sentences: int
    run: str
    corpus: str


@dataclass(frozen=True)
class Job:
    """One measurement of one system.

    Attributes:
        system: its name.
        phase: "train" or "decode".
        work: the directory of the prepared inputs.
        output: a directory for the runner's own files.
        threads: threads of each process.
        warm_up, seconds: length of the two parts of a training window.
        sentences: how many test sentences to translate.
        options: what tells apart systems that share a runner.
    """

    system: str
    phase: str
    work: str
    output: str
    threads: int
    warm_up: float
    seconds: float
    sentences: int
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Job:
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    @property
    def facts(self) -> Facts:
        return Facts(**json.loads(Path(self.work, "facts.json").read_text(encoding="utf-8")))

    def ids(self, split: str, language: str) -> list[list[int]]:
        """The sentences of a split as ids, without start and end mark."""
        lines = Path(self.work, f"{split}.{language}").read_text(encoding="utf-8").split("\n")[:-1]
        return [[int(token) for token in line.split()] for line in lines]
