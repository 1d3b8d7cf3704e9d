"""Datasets in the Hub's two shapes: from a directory, from a stand-in for the Hub, and from nowhere."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import datasets
import pytest

from minitx.data.corpora import hub, multi30k
from minitx.data.hub import Hub, HubDataset
from minitx.data.sources import Pair
from minitx.errors import UserError

if TYPE_CHECKING:
    from conftest import FakeHub

RUN = """
import json, sys, time
from minitx.data.corpora import hub
from minitx.errors import UserError
for name in sys.argv[1:]:
    start = time.perf_counter()
    try:
        corpus = hub(name, "en", "de", vocab_size=300).prepare()
        answer = [len(corpus.train), corpus.train.references([0]), corpus.fingerprint]
    except UserError as error:
        answer = str(error)
    print(json.dumps([answer, time.perf_counter() - start]))
"""


def rows(kind: str, number: int = 6) -> list[dict[str, object]]:
    texts = [{"en": f"A house {i}.", "de": f"Ein Haus {i}.", "fr": f"Une maison {i}."} for i in range(number)]
    return [{"translation": text} for text in texts] if kind == "nested" else texts


def save(directory: Path, kind: str, splits: tuple[str, ...] = ("train", "validation", "test")) -> Path:
    directory.mkdir()
    for split in splits:
        data = datasets.Dataset.from_list(rows(kind))
        if kind == "nested":
            languages = datasets.Translation(languages=["de", "en", "fr"])
            data = data.cast(datasets.Features({"translation": languages}))
        data.to_parquet(directory / f"{split}.parquet")
    return directory


@pytest.mark.parametrize("kind", ["flat", "nested"])
def test_both_shapes_in_any_direction(tmp_path: Path, kind: str) -> None:
    dataset = HubDataset(str(save(tmp_path / "set", kind)))
    pairs = list(Hub(dataset, "en", "fr").pairs("train"))
    assert pairs[2] == Pair("A house 2.", "Une maison 2.", 3)
    assert [(pair.target, pair.source) for pair in Hub(dataset, "fr", "en").pairs("train")] == [
        pair[:2] for pair in pairs
    ]
    assert Hub(dataset, "en", "fr").splits() == ("train", "validation", {"test": "test"})
    with pytest.raises(UserError, match=r"no 'ru' in the dataset, whose (languages|text columns) are .*fr"):
        list(Hub(dataset, "en", "ru").pairs("train"))
    fingerprints = {Hub(dataset, *sides).fingerprint("train") for sides in (("en", "fr"), ("fr", "en"), ("en", "de"))}
    assert len(fingerprints) == 3


def test_a_whole_corpus_from_one_split_cut_in_parts(tmp_path: Path) -> None:
    corpus = hub(
        str(save(tmp_path / "set", "nested", ("train",))),
        "en",
        "de",
        train="train[3:]",
        validation="train[:2]",
        tests=["test=train[2:3]"],
        vocab_size=300,
        cache_directory=tmp_path / "cache",
    ).prepare()
    assert (len(corpus.train), len(corpus.validation), len(corpus.tests["test"])) == (3, 2, 1)
    assert corpus.tests["test"].references() == ["Ein Haus 2."]
    with pytest.raises(UserError, match="has no split dev; it has train"):
        corpus.source.fingerprint("dev")


def test_null_is_a_blank_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"en": "A", "de": null}\n{"en": "B", "de": "Zwei"}\n')
    assert next(iter(Hub(HubDataset(str(tmp_path)), "en", "de").pairs("train"))) == Pair("A", "", 1)


def test_d8_a_loading_script(tmp_path: Path) -> None:
    directory = tmp_path / "old"
    directory.mkdir()
    (directory / "old.py").write_text("import datasets\n")
    with pytest.raises(UserError, match=r"loading script.*data\.revision=refs/convert/parquet.*data=text_files"):
        HubDataset(str(directory)).split_names()


def test_d9_offline_and_not_cached() -> None:
    start = time.perf_counter()
    with pytest.raises(UserError, match=r"nobody/nothing is not in the cache .* cannot be reached.*data=text_files"):
        hub("nobody/nothing", "en", "de").prepare()
    assert time.perf_counter() - start < 2


def test_multi30k_comes_from_the_hub_or_from_files(corpus_directory: Path) -> None:
    corpus = multi30k()
    assert isinstance(corpus.source, Hub)
    assert corpus.source.dataset.name == "bentrevett/multi30k"
    assert list(multi30k(corpus_directory).source.splits().tests) == ["test"]


def test_d8_d9_with_a_hub_that_goes_away(fake_hub: "FakeHub", tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows("flat")).encode()
    card = b"---\nlicense: mit\n---\n"
    fake_hub.datasets["org/flat"] = {
        "README.md": card,
        **{f"{split}.jsonl": lines for split in ("train", "dev", "test")},
    }
    fake_hub.datasets["org/script"] = {"script.py": b"import datasets\n"}
    run = runner(fake_hub.address, tmp_path)
    (first, _), (script, _) = run("org/flat", "org/script")
    assert first[:2] == [6, ["Ein Haus 0."]]
    assert "refs/convert/parquet" in script
    fake_hub.stop()
    requests = len(fake_hub.requests)
    # With the variable, and without it although nothing answers any more: the same corpus, and no wait.
    for environment in ({"HF_HUB_OFFLINE": "1"}, {}):
        (second, seconds), (other, seconds_to_fail) = run("org/flat", "org/other", **environment)
        assert second == first
        assert "cannot be reached" in other
        assert seconds < 10
        assert seconds_to_fail < 10
    assert len(fake_hub.requests) == requests


def runner(address: str, home: Path) -> Callable[..., list[tuple[object, float]]]:
    """Prepare datasets by name in a fresh process, which knows the Hub at ``address``; answers and seconds."""

    def run(*names: str, **environment: str) -> list[tuple[object, float]]:
        inherited = {name: value for name, value in os.environ.items() if not name.endswith("OFFLINE")}
        own = {"HF_ENDPOINT": address, "HF_HOME": str(home / "huggingface"), "MINITX_CACHE": str(home / "cache")}
        result = subprocess.run(
            [sys.executable, "-c", RUN, *names],
            env={**inherited, **own, "NO_PROXY": "*", **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert result.returncode == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    return run
