"""Each thing that makes runs hard to compare is named, with the runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from minitx.analysis.results import analyse
from minitx.analysis.runs import read_run


def warnings(paths: list[Path]) -> tuple[str, ...]:
    return analyse([read_run(path) for path in paths]).warnings


def test_runs_alike_give_no_warning(write_sweep: Callable[..., Path]) -> None:
    assert warnings(sorted(write_sweep().iterdir())) == ()


@pytest.mark.parametrize(
    ("changes", "facts", "parts"),
    [
        ({}, {"data_fingerprint": "b" * 64}, ["The data", "aaaaaaaa in 2 runs (one, two)", "bbbbbbbb in 1 run (odd)"]),
        ({"training.beam_size": 7}, {}, ["training.beam_size", "7 in 1 run (odd)", "their BLEU and chrF."]),
        ({"trainer.precision": "16-mixed"}, {}, ["The precision", "16-mixed in 1 run (odd)", "Rounding"]),
        ({"training.max_steps": 100}, {}, ["The budget", "400 in 2 runs", "100 in 1 run (odd)", "budgets"]),
        ({"training.max_epochs": 3}, {}, ["The budget", "3 in 1 run (odd)", "default in 2 runs"]),
        ({"data.batch_tokens": 64}, {}, ["data.batch_tokens", "64 in 1 run (odd)", "same amount of training"]),
        ({}, {"git_commit": "d" * 40}, ["The code", "cccccccccccc in 2 runs", "dddddddddddd in 1 run (odd)"]),
        ({}, {"git_commit": "c" * 40 + "-dirty"}, ["uncommitted changes: odd"]),
        ({}, {"versions": {"minitx": "0.1.0", "torch": "2.12.0"}}, ["version of torch", "2.12.0 in 1 run (odd)"]),
        ({}, {"device_name": "GPU"}, ["The device", "GPU in 1 run (odd)", "Do not compare their seconds"]),
        ({}, {"threads": 8}, ["number of threads", "8 in 1 run (odd)", "Do not compare their seconds"]),
        ({"callbacks": {"probe": {"every": 10}}}, {}, ["callbacks", "Do not compare their seconds"]),
    ],
)
def test_a_difference_is_named(write_run: Callable[..., Path], changes: dict, facts: dict, parts: list[str]) -> None:
    paths = [write_run("one"), write_run("two", seed=2), write_run("odd", "unscaled", changes=changes, facts=facts)]

    found = warnings(paths)

    assert len(found) == 1
    assert all(part in found[0] for part in parts), found


def test_an_accelerator_is_the_device_it_stood_for(write_run: Callable[..., Path]) -> None:
    assert warnings([write_run("one"), write_run("odd", "unscaled", changes={"trainer.accelerator": "auto"})]) == ()


def test_data_differ_even_where_every_variant_was_tried_on_both(write_run: Callable[..., Path]) -> None:
    paths = [
        write_run(f"{name}-{letter}", name, facts={"data_fingerprint": letter * 64})
        for name in ("scaled", "unscaled")
        for letter in "ab"
    ]

    [found] = warnings(paths)

    assert "measure different tasks" in found


def test_other_bleu_signatures(write_run: Callable[..., Path]) -> None:
    one, odd = write_run("one", bleu=30.0), write_run("odd", "unscaled", bleu=31.0)
    (odd / "summary.json").write_text((odd / "summary.json").read_text().replace("v:1", "v:2"))

    assert "Do not compare their BLEU" in " ".join(warnings([one, odd]))


def test_early_stopping(write_run: Callable[..., Path]) -> None:
    paths = [write_run("one"), write_run("odd", "unscaled", losses=[(100, 3.0)])]

    assert "length of finished runs differs: 100 steps in 1 run (odd); 400 steps in 1 run (one)" in warnings(paths)[0]


def test_runs_matched_by_flops_differ_in_steps_as_they_should(write_run: Callable[..., Path]) -> None:
    changes = {"training.max_flops": 1e7, "training.max_steps": None}
    paths = [
        write_run("one", changes=changes),
        write_run("other", "unscaled", losses=[(100, 3.0)], changes=changes),
    ]

    assert warnings(paths) == ()


def test_what_is_swept_is_no_fault(write_run: Callable[..., Path]) -> None:
    paths = [
        write_run(f"{name}-{precision}", name, changes={"trainer.precision": precision}, facts={"precision": precision})
        for name in ("scaled", "unscaled")
        for precision in ("32-true", "16-mixed")
    ]

    assert warnings(paths) == ()


def test_many_runs_are_named_in_part(write_run: Callable[..., Path]) -> None:
    paths = [write_run(f"run-{seed}", seed=seed) for seed in range(6)]
    paths.append(write_run("odd", seed=7, facts={"device_name": "GPU"}))

    assert "CPU in 6 runs (run-0, run-1, run-2 and 3 more)" in warnings(paths)[0]
