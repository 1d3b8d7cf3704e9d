"""Which runs belong together: variants, the conditions they were tried in, seeds, and what is there twice."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from minitx.analysis.configuration import (
    as_text,
    corpus_names,
    distinguishing_keys,
    fingerprint,
    most_common,
    say,
    short_name,
    variant_label,
)
from minitx.analysis.runs import STATUSES, Run

# Circumstances: runs are kept apart by them only where one variant was run at one seed under several.
CIRCUMSTANCES = ("data", "trainer", "training")
# d_k is what variants are compared over; runs on different data are not compared at all.
NEVER_A_VARIANT = ("d_k", "data")
FIRST_AXES = ("d_k", "data", "peak_learning_rate", "lr", "d_model", "num_heads", "num_layers")

Condition = tuple[Any, ...]


@dataclass(frozen=True)
class Placed:
    """A run and its place in the comparison.

    Attributes:
        run: the run.
        variant: the compatibility functions at its sites, and what else sets its arm apart from the others.
        condition: its value on each axis.
    """

    run: Run
    variant: str
    condition: Condition


@dataclass(frozen=True)
class Design:
    """Runs sorted into arms: those of one arm, a variant in a condition, differ in nothing but the seed.

    Attributes:
        runs: ordered by condition, variant and seed.
        axes: the configuration keys that differ between conditions, by their short names; `d_k` first.
        companions: for an axis, the keys that change along with it.
        circumstances: keys of data, trainer and training that differ between runs and are no axes.
        left_out: runs that repeat another, and why each is left out.
    """

    runs: tuple[Placed, ...]
    axes: tuple[str, ...]
    companions: Mapping[str, tuple[str, ...]]
    circumstances: tuple[str, ...]
    left_out: tuple[tuple[Run, str], ...]

    @property
    def variants(self) -> list[str]:
        """Each variant once: scaled first, the others by name."""
        return sorted({placed.variant for placed in self.runs}, key=variant_order)

    @property
    def conditions(self) -> list[Condition]:
        """Each condition once, in ascending order."""
        return list(dict.fromkeys(placed.condition for placed in self.runs))

    def label(self, condition: Condition) -> str:
        """A condition in words: `d_k 512, warmup_steps 400`; "all runs" where there is only one."""
        words = [f"{axis} {say(value)}" for axis, value in zip(self.axes, condition, strict=True)]
        return ", ".join(words) or "all runs"


class _Candidate(NamedTuple):
    """A run, the variant its sites name, and the keys that may set it apart."""

    run: Run
    variant: str
    keys: Mapping[str, Any]

    def text(self, key: str) -> str:
        return as_text(self.keys.get(key))


def variant_order(variant: str) -> tuple[bool, str]:
    """Sorts scaled attention, the usual point of reference, first."""
    return variant != "scaled", variant


def arrange(runs: Sequence[Run]) -> Design:
    """Sort runs into arms, and keep one of those that repeat each other."""
    corpora = corpus_names(runs)
    candidates = [
        _Candidate(run, variant_label(run.config), distinguishing_keys(run) | {"data": corpora[fingerprint(run)]})
        for run in runs
    ]
    kept, left_out = _without_repeats(candidates)
    own_keys = _axes(kept)
    axes, companions = _independent(own_keys, kept)
    labels = [key for key in axes if key not in NEVER_A_VARIANT and _names_one_variant(key, kept)]
    axes = [key for key in axes if key not in labels]
    usual = {key: as_text(most_common([own.keys.get(key) for own in kept])) for key in labels}
    placed = []
    for own in kept:
        unusual = [f"{short_name(key)} {say(own.keys.get(key))}" for key in labels if own.text(key) != usual[key]]
        condition = tuple(own.keys.get(key) for key in axes)
        placed.append(Placed(own.run, ", ".join([own.variant, *unusual]), condition))
    placed.sort(key=lambda p: ([_rank(v) for v in p.condition], variant_order(p.variant), p.run.seed, str(p.run.path)))
    names = [short_name(axis) for axis in axes]
    names = [name if names.count(name) == 1 else axis for name, axis in zip(names, axes, strict=True)]
    along = {name: tuple(map(short_name, companions[axis])) for name, axis in zip(names, axes, strict=True)}
    return Design(tuple(placed), tuple(names), along, tuple(_circumstances(own_keys, kept)), tuple(left_out))


def _without_repeats(candidates: Sequence[_Candidate]) -> tuple[list[_Candidate], list[tuple[Run, str]]]:
    """Of runs with one configuration, data and seed, the finished one, the latest sibling, is kept."""
    alike: dict[str, list[_Candidate]] = defaultdict(list)
    for own in candidates:
        alike[json.dumps([own.run.seed, own.variant, own.keys], sort_keys=True, default=str)].append(own)
    kept, left_out = [], []
    for same in alike.values():
        *others, best = sorted(same, key=lambda own: _precedence(own.run))
        kept.append(best)
        reason = (
            f"repeats the configuration and seed of {best.run.path.name} ({best.run.status}), which is used instead"
        )
        left_out += [(own.run, reason) for own in others]
    return sorted(kept, key=lambda own: str(own.run.path)), sorted(left_out, key=lambda pair: str(pair[0].path))


def _precedence(run: Run) -> tuple[int, int, float, str]:
    """Sorts the run to keep last: by status, number among siblings, age of run.json, path."""
    number = re.search(r"-[0-9a-f]{8}-(\d+)$", run.path.name)
    try:
        age = (run.path / "run.json").stat().st_mtime
    except OSError:
        age = 0.0
    return -STATUSES.index(run.status), int(number[1]) if number else 1, age, str(run.path)


def _axes(runs: Sequence[_Candidate]) -> list[str]:
    """The keys that differ, and those circumstances that were varied on purpose.

    That is: they tell apart runs of one variant, seed and condition. Other circumstances that differ are no reason not
    to compare; the report warns of them. The data themselves are one: losses on two corpora have no difference.
    """
    differing = _differing(runs)
    axes = [key for key in differing if key == "data" or not _is_circumstance(key)]
    together: dict[Any, list[_Candidate]] = defaultdict(list)
    for own in runs:
        together[own.variant, own.run.seed, *map(own.text, axes)].append(own)
    varied = {key for same in together.values() for key in _differing(same)}
    return [key for key in differing if key in axes or key in varied]


def _circumstances(axes: Sequence[str], runs: Sequence[_Candidate]) -> list[str]:
    """The circumstances that differ, without those that were varied on purpose or follow from one that was."""
    on_purpose = [key for key in axes if _is_circumstance(key)]
    others = [key for key in _differing(runs) if _is_circumstance(key) and key not in axes]
    return [key for key in others if not any(_decides(axis, key, runs) for axis in on_purpose)]


def _is_circumstance(key: str) -> bool:
    return key.partition(".")[0] in CIRCUMSTANCES


def _differing(runs: Sequence[_Candidate]) -> list[str]:
    keys = sorted({key for own in runs for key in own.keys}, key=_axis_order)
    return [key for key in keys if len({own.text(key) for own in runs}) > 1]


def _independent(keys: Sequence[str], runs: Sequence[_Candidate]) -> tuple[list[str], dict[str, list[str]]]:
    """Drop keys that one kept before decides, and say which: `num_heads` where it follows from `d_k`."""
    companions: dict[str, list[str]] = {}
    for key in keys:
        owner = next((axis for axis in companions if _decides(axis, key, runs)), None)
        if owner is None:
            companions[key] = []
        else:
            companions[owner].append(key)
    return list(companions), companions


def _decides(axis: str, key: str, runs: Sequence[_Candidate]) -> bool:
    pairs = {(own.text(axis), own.text(key)) for own in runs}
    return len(pairs) == len({value for value, _ in pairs})


def _names_one_variant(key: str, runs: Sequence[_Candidate]) -> bool:
    """Whether every unusual value of a key was tried with one variant only: then it belongs to that variant's name."""
    tried: dict[str, set[str]] = defaultdict(set)
    for own in runs:
        tried[own.text(key)].add(own.variant)
    usual = as_text(most_common([own.keys.get(key) for own in runs]))
    unusual = [variants for value, variants in tried.items() if value != usual]
    return len({own.variant for own in runs}) > 1 and all(len(variants) == 1 for variants in unusual)


def _axis_order(key: str) -> tuple[int, str]:
    name = short_name(key)
    return FIRST_AXES.index(name) if name in FIRST_AXES else len(FIRST_AXES), key


def _rank(value: Any) -> tuple[int, float, str]:
    """Orders numbers by size, before words; what was left to its default first."""
    if value is None:
        return 0, 0.0, ""
    return (1, float(value), "") if isinstance(value, int | float) else (2, 0.0, str(value))
