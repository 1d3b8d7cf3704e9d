"""The paired bootstrap has the right sign, pairs the right runs, and does not find a difference where there is none."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from minitx.analysis.results import analyse
from minitx.analysis.runs import read_run
from minitx.analysis.significance import choose_split


def bootstrap(*paths: Path) -> pd.DataFrame:
    return analyse([read_run(path) for path in paths]).bootstrap


def spoil(references: list[str], every: int) -> list[str]:
    return [line.replace("runs over", "is") if i % every == 0 else line for i, line in enumerate(references)]


def test_a_worse_variant_has_a_negative_difference(write_run: Callable[..., Path], references: list[str]) -> None:
    good = write_run("good", hypotheses=spoil(references, 12))
    bad = write_run("bad", "unscaled", hypotheses=spoil(references, 1))

    [row] = bootstrap(good, bad).to_dict("records")

    assert (row["variant"], row["reference"], row["seed"], row["split"]) == ("unscaled", "scaled", 1, "test")
    assert row["bleu"] < row["bleu_reference"]
    assert row["difference"] == row["bleu"] - row["bleu_reference"]
    assert row["p_value"] < 0.01
    assert row["sentences"] == len(references)
    assert "bs:1000" in row["signature"]
    assert (row["directory"], row["directory_reference"]) == (str(bad), str(good))


def test_a_better_variant_has_a_positive_difference(write_run: Callable[..., Path], references: list[str]) -> None:
    bad = write_run("bad", hypotheses=spoil(references, 1))
    good = write_run("good", "unscaled", hypotheses=spoil(references, 12))

    [row] = bootstrap(good, bad).to_dict("records")

    assert row["difference"] > 0
    assert row["p_value"] < 0.01


def test_equal_translations_differ_by_nothing(write_run: Callable[..., Path], references: list[str]) -> None:
    lines = spoil(references, 3)

    [row] = bootstrap(write_run("a", hypotheses=lines), write_run("b", "unscaled", hypotheses=lines)).to_dict("records")

    assert (row["difference"], row["p_value"]) == (0.0, 1.0)


def test_only_finished_runs_at_one_seed_on_the_same_references_are_compared(
    write_run: Callable[..., Path], references: list[str]
) -> None:
    reference = write_run("a", seed=1, hypotheses=references)
    others = [
        write_run("other-seed", "unscaled", seed=2, hypotheses=references),
        write_run("unfinished", "additive", seed=1, hypotheses=references, status="running"),
        write_run("other-references", "Bilinear", seed=1, hypotheses=references),
        write_run("none-kept", "Cosine", seed=1),
    ]
    (others[2] / "translations/test.ref.txt").write_text("".join(f"{line}!\n" for line in references))

    assert bootstrap(reference, *others).empty


def test_the_split(write_run: Callable[..., Path], references: list[str]) -> None:
    runs = [write_run("a", hypotheses=references), write_run("b", seed=2, hypotheses=references)]
    for run in runs:
        (run / "translations/validation.hyp.txt").write_text("x\n")
    (runs[0] / "translations/a_rare_one.hyp.txt").write_text("x\n")

    placed = analyse([read_run(run) for run in runs]).design.runs

    assert choose_split(placed) == "test"
    assert choose_split([]) is None
