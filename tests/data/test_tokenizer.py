"""The joint byte-level BPE."""

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minitx.data.tokenizer import (
    BOS_ID,
    EOS_ID,
    LONGEST_WORD,
    PAD_ID,
    SMALLEST_VOCABULARY,
    UNK_ID,
    Tokenizer,
    train_tokenizer,
)
from minitx.errors import UserError

TEXTS = [f"{word} {i} Häuser, and </s> <pad> too!" for i in range(50) for word in ("Drei", "Three")]
tokenizer = train_tokenizer(TEXTS, 400)
SPELT = ["<pad>", "<s>", "</s>", "<unk>"]

TRAIN = """
import sys
from minitx.data.tokenizer import train_tokenizer
words = "the a house stands on hill near river green old über Straße".split()
texts = (" ".join(words[(i * j) % 12] for j in range(1, 9)) for i in range(400))
train_tokenizer(texts, 420).save(sys.argv[1])
"""

LOAD = """
from torch.utils.data import DataLoader
from minitx.data.batch import collate
from minitx.data.corpora import text_files
from minitx.data.sampler import TokenBatchSampler
import sys
corpus = text_files(sys.argv[1], "en", "de", cache_directory=sys.argv[2], vocab_size=300).prepare()
train = corpus.train
sampler = TokenBatchSampler(train.source_lengths, train.target_lengths, 200)
loader = DataLoader(train, batch_sampler=sampler, collate_fn=collate, num_workers=2)
print(sum(len(batch) for _ in range(2) for batch in loader), len(corpus.tokenizer.encode_batch(["A house."] * 500)))
import multiprocessing
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(len(pool.apply(corpus.tokenizer.encode_batch, (["A house."] * 500,))))
"""


@given(st.text())
@example("")
@example(" ")
@example("  two blanks, one after  ")
@example("\u0301 a mark first")
@example("a\U00000898\u0323\u0301 a mark newer than the library's tables")
@example("line\u2028ends\u0085of\x0b\x0call\r\nkinds\t\x00")
@example("😀🏳️‍🌈 日本語 עברית")
def test_any_text_round_trips_in_nfc(text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == unicodedata.normalize("NFC", text)


@given(st.lists(st.text(), max_size=4))
def test_batch_equals_one_by_one(texts: list[str]) -> None:
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]


@given(st.lists(st.sampled_from([*SPELT, " ", "x", "Häuser"])).map("".join))
@example("</s>")
@example("a</s><pad> b<s> <unk>")
def test_k3_text_that_spells_special_tokens_is_text(text: str) -> None:
    ids = tokenizer.encode(text)
    assert not {PAD_ID, BOS_ID, EOS_ID, UNK_ID} & set(ids)
    assert tokenizer.decode(ids) == text


def test_k3_holds_after_saving_and_where_the_corpus_is_full_of_them(tmp_path: Path) -> None:
    learnt = train_tokenizer(["</s></s> <pad> x<s>"] * 1000, 400)
    learnt.save(tmp_path / "tokenizer.json")
    for each in (learnt, Tokenizer.load(tmp_path / "tokenizer.json")):
        ids = each.encode("</s></s> <pad>")
        assert min(ids) > UNK_ID
        assert each.decode([BOS_ID, *ids, EOS_ID, PAD_ID]) == "</s></s> <pad>"


def test_special_ids_and_their_names() -> None:
    assert (PAD_ID, BOS_ID, EOS_ID, UNK_ID) == (0, 1, 2, 3)
    assert tokenizer.tokens(range(4)) == SPELT
    assert tokenizer.decode([BOS_ID, *tokenizer.encode("Drei"), EOS_ID, PAD_ID, PAD_ID]) == "Drei"


def test_a_first_word_has_the_pieces_it_has_inside() -> None:
    assert tokenizer.encode("Häuser Häuser") == tokenizer.encode("Häuser") * 2
    assert tokenizer.tokens(tokenizer.encode("Häuser, too")) == ["▁Häuser", ",", "▁too"]


def test_k1_two_processes_learn_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    settings = [{"PYTHONHASHSEED": "1", "RAYON_NUM_THREADS": "1"}, {"PYTHONHASHSEED": "2", "RAYON_NUM_THREADS": "4"}]
    for path, setting in zip(files, settings, strict=True):
        subprocess.run([sys.executable, "-c", TRAIN, path], env={**os.environ, **setting}, check=True)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_k2_forked_workers_after_tokenizing(corpus_directory: Path, tmp_path: Path) -> None:
    """The library's threads are lost in a fork: it must notice (0.23 does), not wait for them or warn."""
    environment = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    result = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", LOAD, corpus_directory, tmp_path / "cache"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stdout.split() == ["80", "500", "500"], result.stderr
    assert "fork" not in result.stderr
    assert "arning" not in result.stderr


def test_k4_a_vocabulary_that_cannot_be_filled() -> None:
    small = train_tokenizer(["ab ab"], 5000)
    assert SMALLEST_VOCABULARY < small.vocab_size < 300
    assert small.decode(small.encode("ab, über")) == "ab, über"


def test_too_small_a_vocabulary() -> None:
    assert train_tokenizer(["ab"], SMALLEST_VOCABULARY).vocab_size == SMALLEST_VOCABULARY
    with pytest.raises(UserError, match=r"data\.vocab_size=259 .* 260"):
        train_tokenizer(["ab"], SMALLEST_VOCABULARY - 1)


def test_saved_and_loaded_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.fingerprint == tokenizer.fingerprint
    assert loaded.encode(TEXTS[0]) == tokenizer.encode(TEXTS[0])
    assert loaded.vocab_size == tokenizer.vocab_size
    assert train_tokenizer(TEXTS, 300).fingerprint != tokenizer.fingerprint


def test_no_tokenizer_of_ours(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.json"
    with pytest.raises(UserError, match=r"foreign\.json: No such file"):
        Tokenizer.load(foreign)
    foreign.write_text('{"version": "1.0", "model": {"type": "BPE", "vocab": {}, "merges": []}}')
    with pytest.raises(UserError, match=r"foreign\.json is not a tokenizer of minitx"):
        Tokenizer.load(foreign)
    foreign.write_text("hello")
    with pytest.raises(UserError, match=r"foreign\.json is not a tokenizer of minitx"):
        Tokenizer.load(foreign)


def test_pieces_are_not_learnt_from_endless_words() -> None:
    texts = ["A dog runs.", "Ein Hund läuft."] * 20
    endless = "xy" * LONGEST_WORD
    plain, other = (train_tokenizer(several, 300) for several in (texts, [*texts, endless, f"A {endless} dog runs."]))
    assert other.encode(endless) == plain.encode(endless)
    assert other.decode(other.encode(endless)) == endless
    longest = train_tokenizer([*texts, "z" * LONGEST_WORD], 300)
    assert len(longest.encode("z" * 64)) < 64
