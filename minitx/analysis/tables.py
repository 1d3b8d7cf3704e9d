"""The tables of a report: figures as words, a cell each, with the column's unit in its head."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from minitx.analysis.outcomes import test_splits
from minitx.analysis.results import Results
from minitx.analysis.scores import SITES, STATISTICS
from minitx.analysis.wording import SIGNIFICANT, UNSURE, plain, signed

MEASURES = {"steps": "steps", "tokens": "tokens", "seconds": "seconds", "flops": "FLOPs"}
FIGURES = {"final_loss": "final validation loss", "mean_loss": "mean validation loss (area)"}


class Table(NamedTuple):
    """A table ready to be printed.

    Attributes:
        title: what it holds.
        note: how to read it, a sentence or two.
        head: the columns' names.
        rows: cells, as many a row as there are columns.
        words: how many columns at the left hold words rather than numbers.
        file: the CSV file with the same figures at full length.
    """

    title: str
    note: str
    head: list[str]
    rows: list[list[str]]
    words: int
    file: str


def make_tables(results: Results) -> Iterator[Table]:
    """Every table that these results have rows for, in the order of the report."""
    candidates = (_outcomes, _differences, _times, _bootstrap, _costs, _scores, _runs, _left_out)
    for make in candidates:
        table = make(results)
        if table.rows:
            yield table


def _outcomes(results: Results) -> Table:
    splits = test_splits(results.runs)
    spreads = {"final loss": "final_loss", "best loss": "best_loss", "mean loss": "mean_loss"}
    spreads |= {f"{word} {split}": f"{word.lower()}_{split}" for split in splits for word in ("BLEU", "chrF")}
    rows = []
    for _, arm in results.arms.iterrows():
        ended = [f"{arm[status]}" for status in ("finished", "diverged", "unfinished")]
        decimals = {name: 2 if name.startswith(("BLEU", "chrF")) else 3 for name in spreads}
        cells = [_spread(arm, column, decimals[name]) for name, column in spreads.items()]
        rows.append([arm["condition"], arm["variant"], *ended, *cells])
    first, last = results.common_steps
    note = (
        "Mean ± standard deviation over seeds, with the number of runs where it is not that of the finished ones. "
        "Final loss and test scores are those of finished runs, best loss that of all. "
        f"Mean loss is the area under the validation curve from step {first:,.0f} to {last:,.0f}, divided by that "
        "length; runs that do not cover it have none."
    )
    head = ["condition", "variant", "finished", "diverged", "unfinished", *spreads]
    return Table("Outcomes", note, head, rows, 2, "arms.csv")


def _spread(arm: pd.Series, column: str, decimals: int, scale: float = 1.0) -> str:
    count, mean, deviation = (arm.get(f"{column}_{part}", 0) for part in ("n", "mean", "sd"))
    if not count or not math.isfinite(mean):
        return "–"
    words = f"{mean / scale:,.{decimals}f}"
    if count > 1:
        words += f" ± {deviation / scale:,.{decimals}f}"
    return words if count == arm["finished"] else f"{words} (n {count:.0f})"


def _differences(results: Results) -> Table:
    rows = []
    for _, row in results.differences.iterrows():
        name = FIGURES.get(row["figure"], str(row["figure"]).replace("bleu_", "BLEU "))
        verdict = ("higher" if row["difference"] > 0 else "lower") if row["tells"] else UNSURE
        spread = f"{signed(row['low'])} to {signed(row['high'])}" if row["pairs"] > 1 else "–"
        numbers = [str(row["pairs"]), signed(row["difference"]), _number(row["sd"], 3), spread]
        rows.append([row["condition"], row["variant"], name, verdict, row["left_out"] or "", *numbers])
    note = (
        f"Own figure minus that of {results.reference} at the same seed; 95 % t interval of the mean. Fewer than three "
        f"pairs, or an interval that holds zero: {UNSURE}. No correction for the number of intervals."
    )
    head = ["condition", "variant", "figure", "verdict", "pairs left out", "pairs", "difference", "sd", "95 % interval"]
    return Table(f"Differences to {results.reference}, paired by seed", note, head, rows, 5, "differences.csv")


def _times(results: Results) -> Table:
    rows = []
    for _, arm in results.arms.iterrows():
        cells = [_median(arm, measure) for measure in MEASURES]
        rows.append([arm["condition"], arm["variant"], f"{arm['reached']} of {arm['runs']}", *cells])
    note = (
        f"{results.target.rule} It is {plain(results.target.loss)}. The time is that of the first crossing, between "
        "two validations by a straight line. Medians are Kaplan-Meier estimates: the first time by which at least "
        "half of the runs had got there; runs that did not are in them as censored, diverged ones as never reaching "
        "it. “> x” says that fewer than half had got there when the last run was at x."
    )
    head = ["condition", "variant", "reached", *(f"median {name}" for name in MEASURES.values())]
    return Table("Time to the target loss", note, head, rows, 2, "arms.csv")


def _median(arm: pd.Series, measure: str) -> str:
    if math.isfinite(arm[f"{measure}_median"]):
        return amount(arm[f"{measure}_median"], measure)
    followed = arm[f"{measure}_followed"]
    return f"> {amount(followed, measure)}" if math.isfinite(followed) else "–"


def amount(value: float, measure: str) -> str:
    """Steps and seconds in full, tokens and FLOPs to three digits."""
    if not math.isfinite(value):
        return "–"
    if measure in ("steps", "seconds"):
        return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
    for unit, letter in ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g} {letter}" if value < 999.5 * unit else f"{value / unit:,.0f} {letter}"
    return f"{value:.3g}"


def _bootstrap(results: Results) -> Table:
    rows = []
    for _, row in results.bootstrap.iterrows():
        verdict = ("higher" if row["difference"] > 0 else "lower") if row["p_value"] < SIGNIFICANT else "undecided"
        numbers = [f"{row[key]:.2f}" for key in ("bleu", "bleu_reference")]
        numbers += [signed(round(row["difference"], 2)), f"{row['p_value']:.3f}"]
        rows.append([row["condition"], row["variant"], row["split"], verdict, str(row["seed"]), *numbers])
    signatures = ", ".join(sorted(set(results.bootstrap["signature"])))
    sentences = ", ".join(f"{number:,}" for number in sorted(set(results.bootstrap["sentences"])))
    note = (
        f"Two runs at one seed on the same {sentences} sentences, resampled by sacreBLEU ({signatures}). p speaks of "
        "other sentences like these for these two runs, not of other seeds; no correction for the number of tests."
    )
    head = [
        "condition",
        "variant",
        "split",
        f"verdict at p < {SIGNIFICANT}",
        "seed",
        "BLEU",
        f"BLEU {results.reference}",
    ]
    return Table("BLEU, paired bootstrap", note, [*head, "difference", "p"], rows, 4, "bootstrap.csv")


def _costs(results: Results) -> Table:
    mebibyte = 2.0**20
    rows = []
    for _, arm in results.arms.iterrows():
        parameters = arm["parameters_mean"]
        rows.append(
            [
                arm["condition"],
                arm["variant"],
                _spread(arm, "tokens_per_second", 0),
                _spread(arm, "peak_memory_bytes", 0, mebibyte),
                _spread(arm, "training_seconds", 0),
                amount(arm["flops_mean"], "flops"),
                _number(parameters, 0),
            ]
        )
    note = (
        "Tokens are source and target without padding, per second of training (validation left out). Memory is the "
        "most that the GPU held for the run, without one the most that the process held. Runs that shared their "
        "machine with other work, or ran on different ones, do not show what a variant costs."
    )
    head = ["condition", "variant", "tokens/s", "peak memory, MiB", "training, s", "FLOPs", "parameters"]
    return Table("Cost", note, head, rows, 2, "arms.csv")


def _scores(results: Results) -> Table:
    shown = [name for name in STATISTICS if (results.scores["statistic"] == name).any()]
    means = results.scores.groupby(["condition", "variant", "site", "statistic"], sort=False)["mean"].mean()
    rows = []
    for condition, variant, site in dict.fromkeys(key[:3] for key in means.index):
        cells = [_digits(float(means.get((condition, variant, site, name), math.nan))) for name in shown]
        rows.append([condition, variant, SITES[site], *cells])
    note = (
        "Means over heads, layers, probes of the whole training and runs. Saturated: the largest weight is above "
        "0.99. They are evidence about a suspected cause and no proof of it."
    )
    head = ["condition", "variant", "site", *(STATISTICS[name][0] for name in shown)]
    return Table("Scores", note, head, rows, 3, "scores.csv")


def _runs(results: Results) -> Table:
    split = next(iter(test_splits(results.runs)), None)
    rows = [[*_run_words(run), *_run_numbers(run, split)] for _, run in results.runs.iterrows()]
    head = ["run", "condition", "variant", "status", "device", "commit", "notes", "seed", "steps", "final loss"]
    head += ["last loss", "steps to target", *([f"BLEU {split}"] if split else []), "tokens/s"]
    note = (
        "Every run that the report is made of; each number above is computed from these. The CSV file has all columns."
    )
    return Table("Runs", note, head, rows, 7, "runs.csv")


def _run_words(run: pd.Series) -> list[str]:
    threads = f", {run['threads']:.0f} threads" if math.isfinite(run["threads"]) else ""
    device, commit = (run["device_name"] or "–") + threads, run["git_commit"][:10] or "–"
    return [run["name"], run["condition"], run["variant"], run["status"], device, commit, run["notes"]]


def _run_numbers(run: pd.Series, split: str | None) -> list[str]:
    if run["reached"]:
        time = amount(run["steps_to_target"], "steps")
    elif run["status"] == "diverged":
        time = f"never (diverged by {amount(run['steps'], 'steps')})"
    else:
        time = f"> {amount(run['steps'], 'steps')}"
    losses = [_number(run[name], 3) for name in ("final_loss", "last_loss")]
    bleu = [_number(run[f"bleu_{split}"], 2)] if split else []
    return [str(run["seed"]), amount(run["steps"], "steps"), *losses, time, *bleu, _number(run["tokens_per_second"], 0)]


def _left_out(results: Results) -> Table:
    rows = [[path.name, reason] for path, reason in results.left_out]
    note = "Directories that were found and are in none of the figures."
    return Table("Left out", note, ["directory", "why"], rows, 2, "left_out.csv")


def _number(value: Any, decimals: int) -> str:
    return f"{value:,.{decimals}f}" if isinstance(value, int | float) and math.isfinite(value) else "–"


def _digits(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "–"
