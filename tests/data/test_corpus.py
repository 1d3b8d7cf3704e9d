"""From text to a corpus: what is dropped, what is refused, what is cached."""

import gzip
import json
import pickle
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from torch.utils.data import DataLoader

from minitx.data import preparation
from minitx.data.batch import collate
from minitx.data.corpora import jsonl, multi30k, text_files, tsv
from minitx.data.corpus import Batching, Corpus, Preparation, prepare_corpus
from minitx.data.sampler import TokenBatchSampler
from minitx.data.sources import Pair, Splits, TextFiles
from minitx.data.tokenizer import EOS_ID, Tokenizer, train_tokenizer
from minitx.errors import UserError

Write = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Corpus]:
    """English-German text files as a corpus with a small vocabulary and a cache of its own."""

    def corpus(directory: Path, **settings: object) -> Corpus:
        settings = {"vocab_size": 300, "cache_directory": tmp_path / "cache", **settings}
        return text_files(directory, "en", "de", **settings)

    return corpus


def test_what_comes_out(build: Callable[..., Corpus], corpus_directory: Path, pairs: list[tuple[str, str]]) -> None:
    corpus = build(corpus_directory).prepare()
    assert (len(corpus.train), len(corpus.validation), list(corpus.tests)) == (40, 40, ["test"])
    example = corpus.train[3]
    assert example.id == 3
    assert example.source[-1] == example.target[-1] == EOS_ID
    assert (corpus.tokenizer.decode(example.source), corpus.tokenizer.decode(example.target)) == pairs[3]
    assert corpus.train.sources() == [source for source, _ in pairs]
    assert corpus.train.references([5, 3]) == [pairs[5][1], pairs[3][1]]
    assert corpus.train.source_lengths.tolist() == [len(example.source) for example in corpus.train]
    assert corpus.train.target_lengths.dtype == np.int32
    assert corpus.train.location(3).endswith("train.de, line 4")
    assert "train: 40 pairs" in corpus.notes


def test_d2_training_drops_and_counts_a_blank(build: Callable[..., Corpus], write_text: Write) -> None:
    text = {
        "train.en": "One.\n\nThree.\nFour.\n",
        "train.de": "Eins.\nZwei.\nDrei.\n \u00a0\t\n",
        "val.en": "",
        "val.de": "",
    }
    corpus = build(write_text(text))
    assert corpus.train.sources() == ["One.", "Three."]
    assert corpus.train.references() == ["Eins.", "Drei."]
    assert [corpus.train.location(index).rpartition(" ")[2] for index in range(2)] == ["1", "3"]
    assert corpus.train.split.num_blank == 2


@pytest.mark.parametrize(("side", "line"), [("en", 2), ("de", 4)])
def test_d2_evaluation_refuses_a_blank(build: Callable[..., Corpus], write_text: Write, side: str, line: int) -> None:
    text = {
        f"{split}.{language}": "A.\nB.\nC.\nD.\n" for split in ("train", "val", "test") for language in ("en", "de")
    }
    lines = text[f"test.{side}"].split("\n")
    lines[line - 1] = " "
    text[f"test.{side}"] = "\n".join(lines)
    with pytest.raises(UserError, match=rf"test\.{side}, line {line} is blank"):
        build(write_text(text)).prepare()


def test_d5_ids_equal_those_of_the_clean_file(build: Callable[..., Corpus], write_text: Write) -> None:
    clean = {f"{split}.{side}": f"{side} ä\nb" for split in ("train", "val") for side in ("en", "de")}
    dirty = {
        name: b"\xef\xbb\xbf" + text.replace("ä", "a\u0308").replace("\n", "\r\n").encode()
        for name, text in clean.items()
    }
    corpora = [build(write_text(text, below)) for text, below in ((clean, "clean"), (dirty, "dirty"))]
    ids = [[(list(example.source), list(example.target)) for example in corpus.train] for corpus in corpora]
    assert ids[0] == ids[1]
    assert corpora[0].tokenizer.fingerprint == corpora[1].tokenizer.fingerprint


def test_d7_the_real_multi30k_loads(multi30k: Path, build: Callable[..., Corpus]) -> None:
    corpus = build(multi30k, vocab_size=2000, train_limit=8000, validation="val").prepare()
    assert (len(corpus.train), len(corpus.validation)) == (8000, 1014)
    assert {name: len(test) for name, test in corpus.tests.items()} == {
        "test_2016_flickr": 1000,
        "test_2017_flickr": 1000,
    }
    assert corpus.split("test") is corpus.tests["test_2016_flickr"]
    nbsp = [text for text in corpus.train.references() if "\u00a0" in text]
    assert nbsp
    assert corpus.tokenizer.decode(corpus.tokenizer.encode(nbsp[0])) == nbsp[0]
    with pytest.raises(UserError, match="no split test_2015; there are train, validation, test_2016_flickr"):
        corpus.split("test_2015")


def test_d9_local_files_touch_no_network(
    build: Callable[..., Corpus], corpus_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("the network was touched")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert len(build(corpus_directory).prepare().train) == 40


def test_d10_too_long(build: Callable[..., Corpus], write_text: Write) -> None:
    text = {f"{split}.{side}": "a b\nc d\ne\n" for split in ("train", "val", "test") for side in ("en", "de")}
    text["train.de"] = "a b\n" + "c d " * 40 + "\ne\n"
    directory = write_text(text)
    corpus = build(directory, max_length=20).prepare()
    assert corpus.train.references() == ["a b", "e"]
    assert corpus.train.num_too_long == 1
    assert any("1 longer than 20 tokens left out" in note for note in corpus.notes)
    assert [example.id for example in corpus.train] == [0, 1]
    assert corpus.train.location(1).endswith("line 3")
    directory = write_text({"test.en": "a b\nc\n" + "e f " * 40})
    with pytest.raises(
        UserError, match=r"test\.en and .*test\.de, line 3 has \d+ tokens, more than data\.max_length=20"
    ):
        build(directory, max_length=20).prepare()
    assert len(build(directory, max_length=None).prepare().train) == 3


def test_d10_the_limit_counts_the_end_mark(build: Callable[..., Corpus], corpus_directory: Path) -> None:
    corpus = build(corpus_directory)
    longest = int(max(corpus.train.source_lengths.max(), corpus.train.target_lengths.max()))
    assert build(corpus_directory, max_length=longest).train.num_too_long == 0
    assert build(corpus_directory, max_length=longest - 1).train.num_too_long > 0


def test_d11_gz_gives_the_same_corpus(build: Callable[..., Corpus], corpus_directory: Path, write_text: Write) -> None:
    packed = {f"{path.name}.gz": gzip.compress(path.read_bytes()) for path in corpus_directory.iterdir()}
    plain, gz = build(corpus_directory), build(write_text(packed, "packed"))
    assert gz.tokenizer.fingerprint == plain.tokenizer.fingerprint
    assert [example.target.tolist() for example in gz.train] == [example.target.tolist() for example in plain.train]


def test_k4_is_noted(build: Callable[..., Corpus], corpus_directory: Path) -> None:
    assert "to fill the 9,000 asked for" in build(corpus_directory, vocab_size=9000).notes[0]
    assert build(corpus_directory, vocab_size=300).notes[0] == "vocabulary: 300 entries"


def test_a_given_tokenizer(build: Callable[..., Corpus], corpus_directory: Path, tmp_path: Path) -> None:
    own = train_tokenizer(["something else"], 264)
    own.save(tmp_path / "own.json")
    corpus = build(corpus_directory, tokenizer=tmp_path / "own.json")
    assert corpus.tokenizer.fingerprint == own.fingerprint
    assert own.decode(corpus.train[0].target) == corpus.train.references([0])[0]
    assert corpus.notes[0] == "vocabulary: 264 entries"


def test_a_second_start_reads_the_cache(
    build: Callable[..., Corpus], corpus_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(corpus_directory).prepare()

    def refuse(*arguments: object) -> None:
        raise AssertionError("done again")

    first.tokenizer.save(corpus_directory / "tokenizer.json")
    monkeypatch.setattr(preparation, "train_tokenizer", refuse)
    monkeypatch.setattr(Tokenizer, "encode_batch", refuse)
    again = build(corpus_directory, max_length=20).prepare()  # the limit is applied to what is cached
    assert again.train.references() == first.train.references()
    assert again.fingerprint == first.fingerprint
    with pytest.raises(AssertionError, match="done again"):
        build(corpus_directory, vocab_size=299).prepare()
    with pytest.raises(AssertionError, match="done again"):
        build(corpus_directory, train_limit=30, tokenizer=corpus_directory / "tokenizer.json").prepare()
    (corpus_directory / "train.de").write_text((corpus_directory / "train.de").read_text().replace("Haus", "Hut"))
    with pytest.raises(AssertionError, match="done again"):
        build(corpus_directory).prepare()


def test_every_shape_gives_the_same_ids(
    build: Callable[..., Corpus],
    corpus_directory: Path,
    write_text: Write,
    pairs: list[tuple[str, str]],
    tmp_path: Path,
) -> None:
    rows = "de\ten\n" + "".join(f"{de}\t{en}\n" for en, de in pairs)
    records = "".join(json.dumps({"translation": {"en": en, "de": de}}) + "\n" for en, de in pairs)
    directory = write_text(
        {f"{split}.{kind}": text for split in ("train", "dev") for kind, text in (("tsv", rows), ("jsonl", records))}
    )
    settings = {"vocab_size": 300, "cache_directory": tmp_path / "cache"}
    expected = [(example.source.tolist(), example.target.tolist()) for example in build(corpus_directory).train]
    for shape in (tsv, jsonl):
        corpus = shape(directory, "en", "de", **settings)
        assert [(example.source.tolist(), example.target.tolist()) for example in corpus.train] == expected
        turned = shape(directory, "de", "en", tokenizer=None, **settings)
        assert turned.train.sources() == corpus.train.references()


def test_loading_in_batches_and_in_worker_processes(build: Callable[..., Corpus], corpus_directory: Path) -> None:
    train = build(corpus_directory).train
    assert pickle.loads(pickle.dumps(train))[7].target.tolist() == train[7].target.tolist()
    sampler = TokenBatchSampler(train.source_lengths, train.target_lengths, 200)
    seen = []
    for workers in (0, 2):
        loader = DataLoader(train, batch_sampler=sampler, collate_fn=collate, num_workers=workers)
        seen.append([(batch.ids.tolist(), batch.source.tolist()) for batch in loader])
        assert sorted(index for ids, _ in seen[-1] for index in ids) == list(range(40))
    assert seen[0] == seen[1]


def test_rows_in_several_record_batches(
    build: Callable[..., Corpus], corpus_directory: Path, monkeypatch: pytest.MonkeyPatch, pairs: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(preparation, "ROWS_AT_ONCE", 7)
    corpus = build(corpus_directory)
    assert [corpus.tokenizer.decode(example.target) for example in corpus.train] == [target for _, target in pairs]
    assert corpus.train.references([39, 0, 6, 7]) == [pairs[index][1] for index in (39, 0, 6, 7)]
    assert [example.id for example in corpus.train.__getitems__([39, 0])] == [39, 0]
    with pytest.raises(IndexError):
        corpus.train[40]


def test_nothing_to_train_on(build: Callable[..., Corpus], write_text: Write) -> None:
    text = {f"{split}.{side}": "\n" for split in ("train", "val") for side in ("en", "de")}
    with pytest.raises(UserError, match=r"No pair of .*train\.en and .*train\.de can be used: 1 are blank"):
        build(write_text(text)).prepare()


@pytest.mark.parametrize("setting", ["max_length", "train_limit", "batch_tokens", "pool_size"])
def test_limits_must_be_positive(build: Callable[..., Corpus], corpus_directory: Path, setting: str) -> None:
    with pytest.raises(UserError, match=rf"data\.{setting}=0: it must be a whole number of at least 1"):
        build(corpus_directory, **{setting: 0})


@pytest.mark.parametrize("shape", [text_files, tsv, jsonl, multi30k])
def test_nothing_is_read_before_it_is_needed(shape: Callable[..., Corpus], tmp_path: Path) -> None:
    """So that Hydra, which builds the corpus, does not wrap the mistake in an exception of its own."""
    corpus = shape(tmp_path / "nowhere", "en", "de")
    with pytest.raises(UserError, match=r"data\.path=.*nowhere is not a directory"):
        corpus.prepare()


def test_a_source_of_ones_own(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    class Memory:
        source_language, target_language = "en", "de"

        def splits(self) -> Splits:
            return Splits("train", "train", {})

        def names(self, split: str) -> tuple[str, str]:
            return "memory", "memory"

        def fingerprint(self, split: str) -> str:
            return "1"

        def pairs(self, split: str) -> Iterator[Pair]:
            return (Pair(*pair, number) for number, pair in enumerate(pairs, start=1))

    corpus = prepare_corpus(Memory(), Preparation(300, cache_directory=tmp_path), Batching(batch_tokens=128))
    assert len(corpus.train) == len(corpus.validation) == 40
    assert corpus.tests == {}
    assert corpus.batching.batch_tokens == 128
    assert isinstance(TextFiles(tmp_path, "en", "de"), TextFiles)


def test_a_test_called_like_a_file_of_another_split(build: Callable[..., Corpus], write_text: Write) -> None:
    text = {f"{split}.{side}": f"{split}.\n" for split in ("train", "val", "test") for side in ("en", "de")}
    corpus = build(write_text(text), tests=["val=test", "test=val"])
    assert {name: test.sources() for name, test in corpus.tests.items()} == {"val": ["test."], "test": ["val."]}
