"""The command `minitx data check`: what it is pointed at, what it prints, how it ends."""

import json
import re
from pathlib import Path

import pytest

from minitx.data_check import main
from minitx.errors import UserError

WORDS = ["tree", "house", "river", "cat", "hill", "road", "lamp", "boat"]
TEXT = {
    "en": [f"A {WORDS[i % 8]} {'very ' * (i * i % 7)}near {i} old stones." for i in range(300)],
    "de": [f"Ein {WORDS[i % 8]} {'sehr ' * (i * i % 7)}nah bei {i} alten Steinen." for i in range(300)],
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for split in ("train", "val", "test"):
        for language, lines in TEXT.items():
            (tmp_path / f"{split}.{language}").write_text("".join(f"{split} {line}\n" for line in lines))
    return tmp_path


def test_two_files(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--source", str(directory / "train.en"), "--target", str(directory / "train.de")]) == 0
    out = capsys.readouterr().out
    assert "train.en" in out
    assert "No fault" in out


def test_a_slipped_file_ends_with_status_1_and_the_place(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (directory / "train.de").read_text().splitlines(keepends=True)
    (directory / "train.de").write_text("".join(lines[:150] + lines[151:]))
    assert main(["--source", str(directory / "train.en"), "--target", str(directory / "train.de")]) == 1
    out = capsys.readouterr().out
    assert "has 300 lines and" in out
    assert "has 299:" in out
    assert re.search(r"lines 15\d-299 of train.en seem to belong to the train.de 1 line before", out)


def test_a_directory_as_json(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(directory), "en", "de", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report["splits"]) == ["train", "test", "val"]
    assert report["also_in_train"]["val"] == {"pairs": 0, "sources": 0, "targets": 0}
    assert report["sides"] == ["en", "de"]


def test_words_as_for_train(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data=multi30k", f"data.path={directory}", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["splits"]) == ["train", "val", "test"]


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "minitx data check --source a.en --target a.de" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Give --source FILE --target FILE"),
        (["--source", "a.en"], "Give both --source FILE and --target FILE"),
        (["nowhere", "en", "de"], "nowhere is not a directory"),
        ([".", "en", "de"], "no two files that differ only in .en and .de"),
        (["data=multy30k"], "multi30k"),
    ],
)
def test_mistakes(words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        main(words)
