"""What is made of a split and kept."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from minitx.data.corpora import text_files
from minitx.data.corpus import Corpus
from minitx.data.sources import Pair, TextFiles
from minitx.errors import UserError

Write = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Corpus]:
    """English-German text files as a corpus with a small vocabulary and a cache of its own."""

    def corpus(directory: Path) -> Corpus:
        return text_files(directory, "en", "de", vocab_size=300, cache_directory=tmp_path / "cache")

    return corpus


def test_files_that_change_while_they_are_read_are_not_kept(
    build: Callable[..., Corpus], corpus_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, file = TextFiles.pairs, corpus_directory / "train.en"

    def read_while_somebody_writes(self: TextFiles, split: str) -> Iterator[Pair]:
        yield from read(self, split)
        file.write_bytes(file.read_bytes().swapcase())

    with monkeypatch.context() as patch:
        patch.setattr(TextFiles, "pairs", read_while_somebody_writes)
        with pytest.raises(UserError, match=r"train\.en or .*train\.de changed while"):
            build(corpus_directory).prepare()
    assert build(corpus_directory).prepare().train.sources() == file.read_text(encoding="utf-8").splitlines()


def test_a_message_names_the_files_at_hand_and_not_those_that_filled_the_cache(
    build: Callable[..., Corpus], write_text: Write
) -> None:
    text = {f"{split}.{side}": "A.\n\nC.\n" for split in ("train", "val") for side in ("en", "de")}
    for place in ("first", "second"):
        directory = write_text(text, place)
        with pytest.raises(UserError, match=rf"{place}/val\.en, line 2 is blank"):
            _ = build(directory).validation
