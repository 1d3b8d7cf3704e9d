"""H3: relative paths start at the launch directory."""

from pathlib import Path

import pytest

from minitx.config import compose


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_h3_relative_paths_start_at_the_launch_directory(elsewhere: Path) -> None:
    config = compose(["data.path=corpus", "data.tokenizer=../tokenizer.json", "run_directory=there", "resume=runs/one"])

    assert Path(config.data.path) == elsewhere / "corpus"
    assert Path(config.data.tokenizer).resolve() == elsewhere.parent / "tokenizer.json"
    assert Path(config.run_directory) == elsewhere / "there"
    assert Path(config.resume) == elsewhere / "runs" / "one"


def test_h3_a_launch_directory_that_is_not_the_current_one(elsewhere: Path) -> None:
    assert Path(compose(["data.path=corpus"], elsewhere / "launch").data.path) == elsewhere / "launch" / "corpus"


def test_h3_absolute_paths_home_and_words_that_are_no_paths(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(elsewhere / "home"))

    config = compose([f"data.path={elsewhere}/corpus", "data.tokenizer=~/tokenizer.json", "resume=auto"])

    assert config.data.path == str(elsewhere / "corpus")
    assert config.data.tokenizer == str(elsewhere / "home" / "tokenizer.json")
    assert config.resume == "auto"


def test_h3_a_dataset_on_the_hub_is_no_path_unless_it_is_a_directory(elsewhere: Path) -> None:
    overrides = ["data=hub", "data.name=owner/pairs", "data.source_language=en", "data.target_language=de"]

    assert compose(overrides).data.name == "owner/pairs"
    (elsewhere / "owner" / "pairs").mkdir(parents=True)
    assert compose(overrides).data.name == str(elsewhere / "owner" / "pairs")


def test_composing_leaves_no_files(elsewhere: Path) -> None:
    compose(["attention=additive"])

    assert not [*elsewhere.iterdir()]
