"""The plain-language summary: what was measured, in hedged words that are chosen by the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from minitx.analysis.pairs import FEWEST_PAIRS, Interval, interval
from minitx.analysis.results import Results

UNSURE = "not enough seeds to tell"
SIGNIFICANT = 0.05
MOST_UNSURE = 3


def summarise(results: Results) -> list[str]:
    """Sentences for the head of the report, in the order in which a reader asks."""
    sentences = [_what_there_is(results), *_divergence(results), *_losses(results), *_trend(results)]
    sentences += [*_times(results), *_bleu(results), *_scores(results), *_caveats(results)]
    return sentences


def _what_there_is(results: Results) -> str:
    table, arms = results.runs, results.arms
    seeds = table["seed"].nunique()
    ended = ", ".join(f"{count} {status}" for status, count in table["status"].value_counts().items())
    return (
        f"{count_of(len(table), 'run')} of {count_of(table['variant'].nunique(), 'variant')} in "
        f"{count_of(arms['condition'].nunique(), 'condition')}, {count_of(seeds, 'seed')}: {ended}."
    )


def _divergence(results: Results) -> Iterator[str]:
    arms = results.arms
    for _, arm in arms[arms["diverged"] > 0].iterrows():
        yield (
            f"{arm['variant']} diverged in {arm['diverged']} of {count_of(arm['runs'], 'run')}"
            f"{_at(arm['condition'])}. These have no final loss: every mean and difference of final figures "
            f"is over the runs that ended, and so flatters {arm['variant']}."
        )


def _losses(results: Results) -> Iterator[str]:
    rows = results.differences[results.differences["figure"] == "final_loss"]
    for variant, own in rows.groupby("variant", sort=False):
        unsure = own[~own["tells"].astype(bool)]
        short = unsure if len(unsure) > MOST_UNSURE else unsure.iloc[:0]
        spoken = own.drop(short.index)
        parts = [f"{_at(row['condition'])} {_verdict(row)}".strip() for _, row in spoken.iterrows()]
        if len(short):
            parts.append(f"{UNSURE} at {'; at '.join(short['condition'])} (intervals in the table of differences)")
        yield f"Final validation loss of {variant} against {results.reference}: {'; '.join(parts)}."


def _verdict(row: pd.Series) -> str:
    """`higher by 0.72 (95 % interval 0.60 to 0.84, 5 pairs)`, or that it cannot be told."""
    pairs = count_of(int(row["pairs"]), "pair")
    if row["pairs"] == 0:
        return f"{UNSURE} (no pair of finished runs at one seed)"
    if row["pairs"] < FEWEST_PAIRS:
        return f"{UNSURE} ({pairs}; seen {signed(row['difference'])})"
    spread = f"95 % interval {signed(row['low'])} to {signed(row['high'])}, {pairs}"
    if not row["tells"]:
        return f"{UNSURE} (seen {signed(row['difference'])}; {spread}, which holds zero)"
    direction = "higher" if row["difference"] > 0 else "lower"
    return f"{direction} in these runs by {plain(abs(row['difference']))} on average ({spread})"


def _trend(results: Results) -> Iterator[str]:
    """Whether the gap grew from the smallest to the largest d_k, paired by seed."""
    if not results.has_sizes:
        return
    for variant in results.others:
        for rest, gaps in results.gaps(variant, "final_loss").items():
            sizes = sorted(gaps)
            if len(sizes) > 1:
                low, high = gaps[sizes[0]], gaps[sizes[-1]]
                change = interval([high[seed] - low[seed] for seed in sorted(high.keys() & low.keys())])
                where = f" at {rest}" if rest else ""
                head = (
                    f"From d_k {sizes[0]:,.0f} to {sizes[-1]:,.0f} the gap of {variant} to {results.reference}{where}"
                )
                yield f"{head} {_change(change)}"


def _change(change: Interval) -> str:
    seeds = count_of(change.number, "seed")
    spread = f"95 % interval of the change {signed(change.low)} to {signed(change.high)}, {seeds}"
    if change.number < FEWEST_PAIRS:
        return f"may have changed: {UNSURE} ({seeds} at both ends)."
    if not change.tells:
        return f"may have changed: {UNSURE} (seen {signed(change.mean)}; {spread}, which holds zero)."
    return f"{'rose' if change.mean > 0 else 'fell'} in these runs by {plain(abs(change.mean))} ({spread})."


def _times(results: Results) -> Iterator[str]:
    parts = []
    for variant in [results.reference, *results.others]:
        arms = results.arms[results.arms["variant"] == variant]
        missed = arms[arms["reached"] < arms["runs"]]
        words = f"{variant} in {arms['reached'].sum()} of {count_of(int(arms['runs'].sum()), 'run')}"
        if len(arms) > 1 and 0 < len(missed) <= MOST_UNSURE:
            where = [f"{arm['reached']} of {arm['runs']}{_at(arm['condition'])}" for _, arm in missed.iterrows()]
            words += f" (but {', '.join(where)})"
        parts.append(words)
    yield f"The target loss {plain(results.target.loss)} was reached by {', by '.join(parts)}."


def _bleu(results: Results) -> Iterator[str]:
    tests = results.bootstrap
    if tests.empty:
        return
    parts = []
    for variant in results.others:
        own = tests[tests["variant"] == variant]
        sure = own[own["p_value"] < SIGNIFICANT]
        lower, higher = int((sure["difference"] < 0).sum()), int((sure["difference"] > 0).sum())
        undecided = len(own) - len(sure)
        if len(own):
            pairs = count_of(len(own), "pair")
            parts.append(f"{variant} lower in {lower}, higher in {higher}, undecided in {undecided} of {pairs}")
    yield (
        f"BLEU on {tests['split'].iloc[0]} against {results.reference}, a paired bootstrap for each pair of runs at "
        f"p < {SIGNIFICANT}: {'; '.join(parts)}. This speaks of other sentences, not of other seeds."
    )


def _scores(results: Results) -> Iterator[str]:
    scores = results.scores[results.scores["statistic"] == "saturated"]
    means = scores.groupby(["condition", "variant"], sort=False)["mean"].mean()
    conditions = [c for c in dict.fromkeys(scores["condition"]) if (c, results.reference) in means.index]
    if not conditions:
        return
    shown = means[conditions[-1]]
    parts = ", ".join(f"{value:.2f} with {variant}" for variant, value in shown.items())
    yield (
        f"The share of saturated rows (largest weight above 0.99){_at(conditions[-1])} was {parts}, "
        "averaged over sites, layers, probes and seeds. Such a share stands beside a difference in loss; it does not "
        "show a cause."
    )


def _caveats(results: Results) -> Iterator[str]:
    intervals = int((results.differences["pairs"] >= FEWEST_PAIRS).sum())
    if intervals > 1:
        yield (
            f"The report holds {intervals} intervals, none corrected for their number: if there were no difference at "
            f"all, about {max(1, round(intervals * 0.05))} of them would leave zero out by chance."
        )
    if results.rate is None:
        yield "Every variant was trained with the learning rate of its condition: none was given its own best."
    else:
        yield "Where learning rates were varied, “own best” gives each variant its own, chosen by the loss compared."


def _at(condition: str) -> str:
    """Where, with a blank before it; nothing where there is one condition."""
    return "" if condition == "all runs" else f" at {condition}"


def count_of(number: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plain(value: float) -> str:
    """A loss or a score with three decimals, more where they would all be zero."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.3f}" if abs(value) >= 0.001 or value == 0 else f"{value:.1e}"


def signed(value: float) -> str:
    """The same with its sign, a true minus."""
    return "–" if not math.isfinite(value) else ("+" if value >= 0 else "−") + plain(abs(value))


def method(results: Results) -> list[str]:
    """How the numbers were made, a sentence or two for each rule."""
    first, last = results.common_steps
    sentences = [
        f"{results.target.rule} It is {plain(results.target.loss)}.",
        "The time to the target is that of the first crossing, with a straight line between the two validations around "
        "it; where the first validation is already below the target, it is an upper bound.",
        "Runs that do not reach the target are censored where they were last followed, never dropped; a diverged run "
        "counts as never reaching it. Medians over them are Kaplan-Meier estimates.",
        f"Mean loss is the area under the validation curve, in straight lines, over the steps that all finished runs "
        f"share ({first:,.0f} to {last:,.0f}), divided by their number.",
        "Differences are paired by seed within a condition: variants at one seed start from the same numbers wherever "
        "they share a parameter and see the same batches. Intervals are 95 % t intervals of the mean difference.",
        f"“{UNSURE.capitalize()}” stands for fewer than {FEWEST_PAIRS} pairs, or an interval that holds zero.",
        "Final losses and test scores are of finished runs; the test is made with the mean of the last checkpoints.",
    ]
    for axis, keys in results.design.companions.items():
        if keys:
            sentences.append(f"Along with {axis}, {', '.join(keys)} changed from run to run.")
    return sentences
