"""Text files side by side."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitx.data.hub import Hub, HubDataset
from minitx.data.jsonl import Jsonl
from minitx.data.sources import Pair, TextFiles, find_splits
from minitx.data.tsv import Tsv
from minitx.errors import UserError

Write = Callable[..., Path]
line = st.text(
    alphabet=st.one_of(
        st.characters(codec="utf-8", exclude_characters="\n\r\ufeff"), st.sampled_from("\u2028\u0085\v\f")
    ),
    min_size=1,
)


@settings(max_examples=50)
@given(pairs=st.lists(st.tuples(line, line), min_size=1, max_size=20))
def test_d1_pairs_never_shift(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    directory = tmp_path_factory.getbasetemp() / "never_shift"
    directory.mkdir(exist_ok=True)
    for side, language in enumerate(("en", "de")):
        (directory / f"train.{language}").write_bytes("".join(f"{pair[side]}\n" for pair in pairs).encode())
    expected = [Pair(*pair, number) for number, pair in enumerate(pairs, start=1)]
    assert list(TextFiles(directory, "en", "de").pairs("train")) == expected
    assert [(pair.target, pair.source) for pair in TextFiles(directory, "de", "en").pairs("train")] == pairs


@pytest.mark.parametrize(("source", "target"), [(100, 99), (99, 100), (100, 0)])
def test_d3_unequal_counts(write_text: Write, source: int, target: int) -> None:
    directory = write_text({"train.en": "A house.\n" * source, "train.de": "Ein Haus.\n" * target})
    with pytest.raises(UserError) as error:
        list(TextFiles(directory, "en", "de").pairs("train"))
    message = str(error.value)
    assert f"{directory / 'train.en'} has {source} lines" in message
    assert f"{directory / 'train.de'} has {target}:" in message
    assert "line is missing" in message
    assert "broken in two" in message


def test_d11_gz_gives_the_same_pairs(write_text: Write) -> None:
    text = {"train.en": b"A house.\nTwo.", "train.de": b"Ein Haus.\nZwei."}
    plain = TextFiles(write_text(text, "plain"), "en", "de")
    mixed = TextFiles(
        write_text({"train.en.gz": gzip.compress(text["train.en"]), "train.de": text["train.de"]}, "mixed"), "en", "de"
    )
    assert list(plain.pairs("train")) == list(mixed.pairs("train"))


def test_splits_are_found(write_text: Write) -> None:
    names = ["train", "val", "test_2017", "test_2016", "notes"]
    directory = write_text({f"{name}.{side}": "x\n" for name in names for side in ("en", "de.gz")})
    splits = TextFiles(directory, "en", "de").splits()
    assert splits.train == "train"
    assert splits.validation == "val"
    assert splits.tests == {"test_2016": "test_2016", "test_2017": "test_2017"}
    assert list(TextFiles(directory, "en", "de", tests=["test_2017"]).splits().tests) == ["test_2017"]


def test_splits_by_name() -> None:
    splits = find_splits(["a", "dev"], "a", None, ["test=train[1000:2000]", "b"])
    assert splits == ("a", "dev", {"test": "train[1000:2000]", "b": "b"})
    with pytest.raises(UserError, match=r"data\.validation"):
        find_splits(["train", "test"], "train", None, None)


def test_missing_file_is_named_with_what_is_there(write_text: Write) -> None:
    directory = write_text({"train.en": "x\n", "train.fr": "x\n"})
    with pytest.raises(UserError, match=r"no train\.de or train\.de\.gz in .* holds: train\.en, train\.fr"):
        TextFiles(directory, "en", "de").fingerprint("train")
    with pytest.raises(UserError, match=r"data\.path=.*nowhere is not a directory"):
        TextFiles(directory / "nowhere", "en", "de").splits()


def test_fingerprint_follows_the_contents_alone(write_text: Write) -> None:
    text = {"train.en": "A house.\n", "train.de": "Ein Haus.\n"}
    source = TextFiles(write_text(text, "one"), "en", "de")
    assert source.fingerprint("train") == TextFiles(write_text(text, "two"), "en", "de").fingerprint("train")
    before = source.fingerprint("train")
    assert TextFiles(source.directory, "de", "en").fingerprint("train") != before
    write_text({"train.de": "Ein Baum.\n"}, "one")
    assert source.fingerprint("train") != before


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (["validation=test"], "another split"),
        (["train=test"], "another split"),
        (["../../q=test"], "name of a file"),
        (["x/y=test"], "name of a file"),
        (["=test"], "name of a file"),
        (["..=test"], "name of a file"),
        (["a=test", "a=val"], "two tests"),
        (["test", "test"], "two tests"),
    ],
)
def test_names_of_tests_are_names_of_files_and_their_own(tests: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        find_splits(["train", "val", "test"], "train", None, tests)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: TextFiles("x", "en", "en"), "source_language and data.target_language are both en"),
        (lambda: Jsonl("x", "en", "en"), "source_language and data.target_language are both en"),
        (lambda: Hub(HubDataset("x/y"), "en", "en"), "source_language and data.target_language are both en"),
        (lambda: Tsv("x", "en", "en"), "source_language and data.target_language are both en"),
        (lambda: Tsv("x", "en", "de", 2, 2), "source_column and data.target_column are both 2"),
        (lambda: Tsv("x", "en", "de", "de", None), "source_column and data.target_column are both de"),
    ],
)
def test_a_sentence_is_not_its_own_translation(make: Callable[[], object], what: str) -> None:
    with pytest.raises(UserError, match=what):
        make()


def test_one_language_may_stand_in_two_columns() -> None:
    Tsv("x", "en", "en", "formal", "plain")
