"""What else than the variant differs between runs, and so may stand behind a difference in their results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pandas as pd

from minitx.analysis.arms import Design
from minitx.analysis.configuration import corpus_names, fingerprint, flatten, say
from minitx.analysis.runs import Run, mapping

MOST_NAMED = 3
LOSSES = "A difference between their losses may come from this."
SECONDS = "Do not compare their seconds, tokens/s and memory."
# The beginnings of keys, and what a difference there means; the first that fits counts.
MEANING = {
    "data": "Their losses and scores measure different tasks: do not compare them, report each corpus alone.",
    "data.batch_tokens": "A step is not the same amount of training.",
    "data.pool_size": LOSSES,
    "training.max": "They had different budgets: compare them at equal steps, not by their final figures.",
    "training.patience": "They had different budgets: compare them at equal steps, not by their final figures.",
    "training.accumulate_batches": "A step is not the same amount of training.",
    "training.validate_every": "Times to the target are interpolated over different distances.",
    "training.log_every": "",
    "training.beam_size": "Do not compare their BLEU and chrF.",
    "training.length_penalty": "Do not compare their BLEU and chrF.",
    "training.average_last": "Do not compare their BLEU, chrF and test losses.",
    "trainer.precision": "Rounding differs: a difference between their losses may come from this.",
    "trainer.": SECONDS,
    "": LOSSES,
}
WORDS = {
    "data": "The data (fingerprint of text and vocabulary)",
    "trainer.precision": "The precision",
    "training.max_steps": "The budget (training.max_steps)",
    "training.max_epochs": "The budget (training.max_epochs)",
}


def comparability_warnings(design: Design, table: pd.DataFrame) -> list[str]:
    """A sentence for each circumstance that differs between runs and is no axis: what differs, and which runs.

    Of different data it warns in any case, for no comparison of losses leads over them.

    Covered are data, batches, precision, budget, lengths, code and libraries, BLEU signatures, and, where seconds,
    tokens/s and memory are concerned, device, threads and what was measured along the way.
    """
    names = [str(name) for name in table["name"]]
    runs = [placed.run for placed in design.runs]
    found = []
    for key in _circumstances(design):
        values = _values(runs, key)
        meaning = MEANING.get(key) or next(MEANING[start] for start in _longest_first(MEANING) if key.startswith(start))
        found.append(f"{_differs(WORDS.get(key, key), values, names)} {meaning}")
    for words, values, meaning in _recorded(runs):
        if len({value for value in values if value}) > 1:
            found.append(f"{_differs(words, values, names)} {meaning}")
    return [sentence.strip() for sentence in [*found, *_lengths(design, table), *_uncommitted(runs, names)]]


def _longest_first(starts: dict[str, str]) -> list[str]:
    return sorted(starts, key=len, reverse=True)


def _circumstances(design: Design) -> list[str]:
    # The device that an accelerator stands for is recorded by its name.
    others = [key for key in design.circumstances if key not in ("data", "trainer.accelerator")]
    return ["data", *others] if len({fingerprint(placed.run) for placed in design.runs}) > 1 else others


def _values(runs: Sequence[Run], key: str) -> list[str]:
    if key == "data":
        names = corpus_names(runs)
        return [names[fingerprint(run)] for run in runs]
    return [say(flatten(run.config).get(key)) for run in runs]


def _recorded(runs: Sequence[Run]) -> Iterator[tuple[str, list[str], str]]:
    """What run.json says of code and machine: words, each run's value ("" where it is not said), meaning."""

    def fact(key: str) -> list[str]:
        return [str(run.facts[key]) if run.facts.get(key) is not None else "" for run in runs]

    yield "The code (git commit)", [commit[:12] for commit in _commits(runs)], LOSSES
    versions = [mapping(run.facts.get("versions")) for run in runs]
    for library in sorted({library for own in versions for library in own}):
        yield f"The version of {library}", [str(own.get(library) or "") for own in versions], LOSSES
    yield "The BLEU signature", [run.bleu_signature for run in runs], "Do not compare their BLEU."
    yield "The device", fact("device_name"), SECONDS
    yield "The number of threads", fact("threads"), SECONDS
    yield "The treatment of subnormal numbers", fact("flush_denormal"), SECONDS
    callbacks = [str(sorted(flatten(mapping(run.config.get("callbacks"))).items())) for run in runs]
    if len(set(callbacks)) > 1:
        yield "What was measured along the way (callbacks)", callbacks, SECONDS


def _commits(runs: Sequence[Run]) -> list[str]:
    return [str(run.facts.get("git_commit") or "").removesuffix("-dirty") for run in runs]


def _lengths(design: Design, table: pd.DataFrame) -> Iterator[str]:
    """Runs that finished after different numbers of steps though their budgets are the same.

    Early stopping does that. Runs matched by tokens, FLOPs or seconds differ in steps as they should.
    """
    finished = table[(table["status"] == "finished") & table["steps"].notna()]
    limits = ("max_tokens", "max_flops", "max_seconds")
    matched = any(mapping(placed.run.config.get("training")).get(limit) for placed in design.runs for limit in limits)
    budgets = [key for key in (*design.circumstances, *design.axes) if "max_" in key]
    if not budgets and not matched and finished["steps"].nunique() > 1:
        steps = [f"{value:,.0f} steps" for value in finished["steps"]]
        yield f"{_differs('The length of finished runs', steps, list(finished['name']))} {MEANING['training.max']}"


def _uncommitted(runs: Sequence[Run], names: Sequence[str]) -> Iterator[str]:
    changed = [n for n, run in zip(names, runs, strict=True) if str(run.facts.get("git_commit")).endswith("-dirty")]
    if changed:
        yield f"The commit does not identify the code, for the checkout had uncommitted changes: {_some(changed)}."


def _differs(what: str, values: Sequence[str], names: Sequence[str]) -> str:
    """`The precision differs: 32-true in 6 runs; 16-mixed in 2 runs (a, b).`"""
    holders: dict[str, list[str]] = defaultdict(list)
    for value, name in zip(values, names, strict=True):
        holders[value or "not recorded"].append(name)
    ordered = sorted(holders.items(), key=lambda item: (-len(item[1]), item[0]))
    parts = [f"{value} in {_count(own)} ({_some(own)})" for value, own in ordered]
    if len(parts) > 4:
        parts = [*parts[:3], f"{len(parts) - 3} other values in {sum(len(own) for _, own in ordered[3:])} runs"]
    return f"{what} differs: {'; '.join(parts)}."


def _count(names: Sequence[str]) -> str:
    return f"{len(names)} run{'s' if len(names) > 1 else ''}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
