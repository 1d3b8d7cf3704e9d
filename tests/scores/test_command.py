"""`minitx scores` as a user types it."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from minitx.cli import main
from minitx.errors import UserError
from minitx.scores.command import main as scores

SMALL = ["--d-k", "4,16", "--draws", "50", "--keys", "8", "--threads", "1"]


def run(tmp_path, *arguments):
    """The records of a call whose files go to `tmp_path`."""
    file = tmp_path / "scores.jsonl"
    assert main(["scores", *SMALL, "--out", str(tmp_path), "--json", str(file), *arguments]) == 0
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_table_a_figure_and_a_record_for_each_case(tmp_path, capsys):
    records = run(tmp_path)
    assert [(record["variant"], record["d_k"]) for record in records] == [
        (variant, d_k) for variant in ("scaled", "unscaled", "additive") for d_k in (4, 16)
    ]
    assert [record["expected_variance"] for record in records[:4]] == [1.0, 1.0, 4.0, 16.0]
    printed = capsys.readouterr().out
    for word in ("unscaled", "within rows", "saturated", "50 queries with 8 keys", f"figure {tmp_path / 'scores.svg'}"):
        assert word in printed
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "scores.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(svg)
    for word in ("variance of the scores", "gradient that reaches the query", "additive"):
        assert word in svg
    run(tmp_path)
    assert (tmp_path / "scores-2.svg").exists()  # nothing is overwritten


def test_a_model_is_read_at_each_kind_of_site(tmp_path):
    for split in ("train", "val", "test"):
        for language, sentence in (("en", "A small dog runs across the street."), ("de", "Ein Hund läuft.")):
            (tmp_path / f"{split}.{language}").write_text(f"{sentence}\n" * 10, encoding="utf-8")
    overrides = ["trainer=smoke", "data=text_files", f"data.path={tmp_path}", "data.source_language=en",
                 "data.target_language=de"]  # fmt: skip
    records = run(tmp_path, "--variants", "unscaled", "--model", *overrides)
    assert [(record["source"], record["d_k"]) for record in records] == [
        *[("drawn", 4), ("drawn", 16)],
        *[(f"{site}_attention", d_k) for d_k in (4, 16) for site in ("encoder_self", "decoder_self", "cross")],
    ]
    assert all(record["variance"] > 0 and record["rows"] >= 20 for record in records[2:])


def test_a_variant_may_be_named_by_its_class(tmp_path):
    [record, _] = run(tmp_path, "--variants", "minitx.nn.compatibility.Cosine")
    assert (record["variant"], record["expected_variance"]) == ("minitx.nn.compatibility.Cosine", 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--variants", "scalled"], "did you mean attention=scaled"),
        (["--variants", ","], "at least one variant"),
        (["--d-k", "0"], "0 is no whole number of at least 1"),
        (["--keys", "1"], "2 or more"),
        (["--model", "attention=additive"], "--model attention=additive: give --variants instead"),
        (["--model", "model.d_k=3"], "give --d-k instead"),
        (["--model", "modle.d_model=3"], "modle"),
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
    ],
)
def test_mistakes_are_said_in_a_sentence(tmp_path, arguments, words):
    with pytest.raises(UserError) as caught:
        scores([*SMALL, "--out", str(tmp_path), *arguments])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as caught:
        scores(["--help"])
    assert caught.value.code == 0
    assert "minitx scores --model" in capsys.readouterr().out
