"""`minitx bench decode`: what it counts, over which sentences, and what it refuses."""

import json
import shutil

import pytest
import torch

from minitx import cli
from minitx.bench import decode as bench_decode
from minitx.data.tokenizer import BOS_ID, EOS_ID
from minitx.decoding import translate_ids
from minitx.loading import load_run


@pytest.fixture
def bench(tmp_path, capsys):
    """`bench(RUN, …)`: the records and what was shown."""

    def run(*arguments, status: int = 0):
        lines = tmp_path / "lines.jsonl"
        assert cli.main(["bench", "decode", *map(str, arguments), "--json", str(lines)]) == status
        shown = capsys.readouterr()
        records = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
        return records, shown.out + shown.err

    return run


def test_records(make_run, bench) -> None:
    path = make_run()
    records, shown = bench(path, "--beam-size", "2,1", "--max-length", 9, "--limit", 3, "--repeats", 2, "--threads", 1)

    run = load_run(path)
    dataset = run.corpus().split("test")
    sources = [dataset[i].source for i in range(3)]
    assert [record["beam_size"] for record in records] == [1, 2]
    for record in records:
        found = translate_ids(
            run.model,
            sources,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            beam_size=record["beam_size"],
            length_penalty=0.6,
            max_length=9,
        )
        assert record["target_tokens"] == sum(len(best[0].ids) + 1 for best in found)
        assert (record["benchmark"], record["sentences"], record["passes"]) == ("decode", 3, 2)
        assert (record["split"], record["checkpoint"], record["max_length"]) == ("test", "final.ckpt", 9)
        assert (record["batch_size"], record["length_penalty"], record["dtype"]) == (64, 0.6, "float32")
        assert (record["threads"], record["torch"]) == (1, torch.__version__)
        assert record["sentences_per_second_lower"] <= record["sentences_per_second"]
        rate = record["target_tokens"] / record["seconds"]
        assert record["tokens_per_second"] == pytest.approx(rate, rel=0.5)  # the median of quotients, and its quotient
    assert "2 times 3 sentences, about" in shown
    assert "sentences/s" in shown


def test_data_that_have_moved(make_run, bench, tmp_path) -> None:
    path = make_run()
    shutil.move(tmp_path / "data", tmp_path / "elsewhere")
    records, _ = bench(path, f"data.path={tmp_path / 'elsewhere'}", "--beam-size", 1, "--split", "test_other")
    assert records[0]["sentences"] == 3


def test_interrupted_it_keeps_complete_passes(make_run, bench, monkeypatch) -> None:
    calls = []

    def impatient(*arguments, **options):
        calls.append(options["beam_size"])
        if len(calls) == 6:  # two and two of warm-up, a pass of each, and no more
            raise KeyboardInterrupt
        return translate_ids(*arguments, **options)

    monkeypatch.setattr(bench_decode, "translate_ids", impatient)
    records, shown = bench(make_run(), "--beam-size", "1,2", "--max-length", 5, status=130)
    assert [(record["beam_size"], record["passes"]) for record in records] == [(1, 1)]
    assert "interrupted" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--beam-size", "1,0"], "argument --beam-size: 0 is no whole number of at least 1"),
        (["--limit", "many"], "many is no whole number"),
        (["--split", "nonsense"], "nonsense"),
        (["split=test"], "split=test is not understood here: write data.path=DIR."),
        (["--checkpoint", "nonsense"], "no checkpoint nonsense"),
        (["--device", "toaster"], "There is no device toaster here"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(make_run, capsys, arguments: list[str], words: str) -> None:
    assert cli.main(["bench", "decode", str(make_run()), *arguments]) == 2
    shown = capsys.readouterr().err
    assert words in shown
    assert shown.count("minitx: ") == 1


def test_no_run(tmp_path, capsys) -> None:
    assert cli.main(["bench", "decode", str(tmp_path / "nowhere")]) == 2
    assert "There is no run directory" in capsys.readouterr().err
