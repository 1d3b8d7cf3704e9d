"""The cost of a token against one quantity at a time: corpora, points and tables."""

import json

import cost_laws
import numpy as np
import pytest
from cost_laws import LAWS, Law, cells, points, table
from invented_text import all_of, news, write_text

RECORD = {
    "target_tokens_per_step": 4000.0,
    "pairs_per_step": 200.0,
    "tokens_per_second": 8000.0,
    "flops_per_token": 8e6,
    "product_rate": 160e9,
    "share_of_product_rate": 0.4,
    "peak_memory_bytes": {"host": 1_500_000_000},
    "share_by_operation": {"matrix products": 0.5, "other operations": 0.2},
}


def test_invented_sentences_have_the_words_they_should(tmp_path) -> None:
    write_text(tmp_path / "corpus", {"train": 30, "val": 7}, all_of(5))
    for split, pairs in (("train", 30), ("val", 7)):
        for language in ("en", "de"):
            lines = (tmp_path / "corpus" / f"{split}.{language}").read_text().splitlines()
            assert [len(line.split(" ")) for line in lines] == [5] * pairs
    lengths = news(np.random.default_rng(1), 20_000)
    assert lengths.mean() == pytest.approx(26, abs=1)
    assert (lengths.min(), lengths.max()) == (2, 100)


def test_one_quantity_is_varied_at_a_time() -> None:
    found = [(law.name, variant, value) for law, variant, value in points()]
    assert len(found) == len(set(found)) == sum(len(law.values) * len(law.variants) for law in LAWS)
    assert {law.override.split("=")[0] for law in LAWS} == {
        "model.d_k",
        "data.path",
        "data.vocab_size",
        "data.batch_tokens",
    }


def test_a_row() -> None:
    assert cells(RECORD) == ["20", "8,000", "125.0", "8.00", "40%", "1.50", "50%", "0%", "0%", "0%", "0%"]
    law = Law("d_k", (8, 1024), "model.d_k={}")
    lines = table(law, [{**RECORD, "law": "d_k", "variant": "scaled", "value": value} for value in law.values]).split(
        "\n"
    )
    assert len({line.count("|") for line in lines}) == 1
    assert [line[:18] for line in lines[2:]] == ["| 8 | scaled | 20 ", "| 1,024 | scaled |"]


def test_a_point_is_measured_once_and_drawn(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cost_laws, "LAWS", (Law("words a sentence", (8,), "model.d_k=4"),))
    monkeypatch.setattr(cost_laws, "WORDS_IN_ALL", 24_000)
    monkeypatch.setattr("sys.argv", ["cost_laws.py", str(tmp_path / "out"), "--quick", "data.batch_tokens=500"])
    cost_laws.main()
    [line] = (tmp_path / "out/points.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record["overrides"][-1] == "model.d_k=4"
    assert record["target_tokens_per_step"] <= 500
    monkeypatch.setattr(cost_laws, "measure", None)
    cost_laws.main()
    assert (tmp_path / "out/cost_laws.md").read_text().count("\n") == 3
    assert {path.suffix for path in (tmp_path / "out").glob("cost_laws.*")} == {".md", ".png", ".svg"}
