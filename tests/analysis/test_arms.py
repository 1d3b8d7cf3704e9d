"""Runs sorted into variants, conditions and seeds."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from minitx.analysis.arms import Design, arrange
from minitx.analysis.runs import read_run


def design(paths: Sequence[Path]) -> Design:
    return arrange([read_run(path) for path in paths])


def test_variants_conditions_and_seeds(write_sweep: Callable[..., Path]) -> None:
    found = design(sorted(write_sweep().iterdir()))

    assert found.variants == ["scaled", "unscaled"]
    assert found.axes == ("d_k",)
    assert [found.label(condition) for condition in found.conditions] == ["d_k 16", "d_k 256"]
    assert [placed.run.seed for placed in found.runs] == [1, 2, 3] * 4
    assert found.circumstances == ()


def test_one_condition_needs_no_name(write_run: Callable[..., Path]) -> None:
    found = design([write_run("a"), write_run("b", "unscaled")])

    assert found.axes == ()
    assert found.label(()) == "all runs"


def test_a_key_that_follows_an_axis_is_its_companion(write_run: Callable[..., Path]) -> None:
    paths = [
        write_run(f"{attention}-{d_k}", attention, changes={"model.d_k": d_k, "model.num_heads": 256 // d_k})
        for attention in ("scaled", "unscaled")
        for d_k in (16, 64)
    ]

    found = design(paths)

    assert found.axes == ("d_k",)
    assert "num_heads" in found.companions["d_k"]


def test_a_value_tried_with_one_variant_is_part_of_its_name(write_run: Callable[..., Path]) -> None:
    changes = {"model.initialisation": "variance"}
    paths = [write_run(name, name, changes=changes) for name in ("scaled", "unscaled", "additive")]
    paths.append(write_run("arm", "unscaled", changes={"model.initialisation": "small_query"}))

    found = design(paths)

    assert found.axes == ()
    assert found.variants == ["scaled", "additive", "unscaled", "unscaled, initialisation small_query"]


def test_learning_rates_crossed_with_variants_are_an_axis(write_run: Callable[..., Path]) -> None:
    paths = [
        write_run(f"{name}-{rate}", name, changes={"schedule.peak_learning_rate": rate})
        for name in ("scaled", "unscaled")
        for rate in (None, 0.001, 0.01)
    ]

    found = design(paths)

    assert found.axes == ("peak_learning_rate",)
    assert found.conditions == [(None,), (0.001,), (0.01,)]


def test_budget_and_precision_do_not_keep_variants_apart(write_run: Callable[..., Path]) -> None:
    first = write_run("a")
    second = write_run("b", "unscaled", changes={"training.max_steps": 100, "trainer.precision": "16-mixed"})

    found = design([first, second])

    assert found.axes == ()
    assert found.circumstances == ("trainer.precision", "training.max_steps")


def test_different_data_keep_runs_apart_under_the_corpus_own_name(write_run: Callable[..., Path]) -> None:
    other = {"facts": {"data_fingerprint": "b" * 64}, "changes": {"options.data": "multi30k"}}
    found = design([write_run("a"), write_run("b", "unscaled"), write_run("c", "additive", **other)])

    assert found.axes == ("data",)
    assert found.variants == ["scaled", "additive", "unscaled"]
    [unusual, usual] = found.conditions
    assert [placed.condition for placed in found.runs] == [
        unusual if p.variant == "additive" else usual for p in found.runs
    ]
    assert found.label(("multi30k bbbbbbbb",)) == "data multi30k bbbbbbbb"
    assert ("multi30k bbbbbbbb",) in found.conditions


def test_a_precision_varied_on_purpose_is_an_axis(write_run: Callable[..., Path]) -> None:
    paths = [
        write_run(f"{name}-{precision}", name, changes={"trainer.precision": precision})
        for name in ("scaled", "unscaled")
        for precision in ("32-true", "16-mixed")
    ]

    assert design(paths).axes == ("precision",)
    assert design(paths).circumstances == ()


def test_of_repeats_the_finished_one_is_kept(write_run: Callable[..., Path]) -> None:
    name = "run-0123abcd"
    paths = [
        write_run(name, status="interrupted"),
        write_run(f"{name}-2"),
        write_run(f"{name}-10"),
        write_run(f"{name}-11", status="running"),
    ]

    found = design(paths)

    assert [placed.run.path.name for placed in found.runs] == [f"{name}-10"]
    assert [(run.path.name, reason) for run, reason in found.left_out] == [
        (other, f"repeats the configuration and seed of {name}-10 (finished), which is used instead")
        for other in (name, f"{name}-11", f"{name}-2")
    ]


def test_of_copies_without_a_number_the_newest_is_kept(write_run: Callable[..., Path]) -> None:
    old, new = write_run("old"), write_run("new", changes={"data.path": "elsewhere", "name": "other"})
    os.utime(old / "run.json", (1_000, 1_000))
    os.utime(new / "run.json", (2_000, 2_000))

    assert [placed.run.path for placed in design([new, old]).runs] == [new]
