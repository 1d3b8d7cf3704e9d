"""All that a report says, computed once: from runs to tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from minitx.analysis.arms import Design, Placed, arrange, variant_order
from minitx.analysis.comparability import comparability_warnings
from minitx.analysis.comparison import arm_table, by_seed, choose_reference, difference_table
from minitx.analysis.configuration import say
from minitx.analysis.outcomes import add_convergence, common_steps, outcome_table
from minitx.analysis.pairs import paired_differences
from minitx.analysis.runs import Run
from minitx.analysis.scores import score_table
from minitx.analysis.significance import bootstrap_table, choose_split
from minitx.analysis.target import Target, choose_target, rate_axis

SIZE = "d_k"


@dataclass(frozen=True)
class Results:
    """What runs say together.

    Attributes:
        design: the runs in their arms.
        runs: a row a run, see `outcomes`.
        arms: a row a variant in a condition, see `comparison.arm_table`.
        differences: see `comparison.difference_table`.
        bootstrap: see `significance.bootstrap_table`.
        scores: see `scores.score_table`.
        target: the loss that runs are timed to.
        reference: the variant that the others are compared with.
        warnings: what makes runs hard to compare, a sentence each.
        left_out: directories that are not in `runs`, and why.
    """

    design: Design
    runs: pd.DataFrame
    arms: pd.DataFrame
    differences: pd.DataFrame
    bootstrap: pd.DataFrame
    scores: pd.DataFrame
    target: Target
    reference: str
    warnings: tuple[str, ...]
    left_out: tuple[tuple[Path, str], ...]

    @property
    def axes(self) -> tuple[str, ...]:
        """The keys that differ between conditions."""
        return self.design.axes

    @property
    def rate(self) -> str | None:
        """The axis that is a learning rate, if one is."""
        return rate_axis(self.axes)

    @property
    def others(self) -> list[str]:
        """The variants that are compared with the reference."""
        return sorted(set(self.runs["variant"]) - {self.reference}, key=variant_order)

    @property
    def common_steps(self) -> tuple[float, float]:
        """The steps between which every finished run was validated."""
        return common_steps(self.runs, self.design.runs)

    @property
    def has_sizes(self) -> bool:
        """Whether d_k is an axis, with numbers on it."""
        return SIZE in self.axes and all(isinstance(value, int | float) for value in self.runs[SIZE])

    def placed(self, condition: str, variant: str) -> list[Placed]:
        """An arm's runs, in the order of seeds."""
        rows = (self.runs["condition"] == condition) & (self.runs["variant"] == variant)
        return [placed for placed, chosen in zip(self.design.runs, rows, strict=True) if chosen]

    def gaps(self, variant: str, figure: str) -> Mapping[str, Mapping[float, Mapping[int, float]]]:
        """own - reference by d_k and seed, for each setting of the other axes (in words; "" if there are none)."""
        found: dict[str, dict[float, dict[int, float]]] = {}
        for _, rows in self.runs.groupby("condition", sort=False):
            first = rows.iloc[0]
            rest = ", ".join(f"{axis} {say(first[axis])}" for axis in self.axes if axis != SIZE)
            sides = (by_seed(rows[rows["variant"] == side], figure) for side in (variant, self.reference))
            pairs = paired_differences(*sides)
            if pairs:
                found.setdefault(rest, {})[float(first[SIZE])] = pairs
        return found


def analyse(
    runs: Sequence[Run],
    left_out: Sequence[tuple[Path, str]] = (),
    *,
    target: float | None = None,
    reference: str | None = None,
    split: str | None = None,
) -> Results:
    """Compute a report.

    Args:
        runs: the runs, in any order.
        left_out: directories that could not be read, and why.
        target: the loss to time runs to; None: chosen by the rule of `choose_target`.
        reference: the variant to compare with; None: scaled where there is one.
        split: the split whose translations are compared; None: chosen by `choose_split`.

    Raises:
        UserError: if no run was validated, or there is no such reference.
    """
    design = arrange(runs)
    table = outcome_table(design)
    goal = choose_target(table, design.axes, target)
    table = add_convergence(table, design.runs, goal.loss)
    base = choose_reference(table, reference)
    repeats = [(run.path, reason) for run, reason in design.left_out]
    return Results(
        design=design,
        runs=table,
        arms=arm_table(table),
        differences=difference_table(table, base, design.axes),
        bootstrap=bootstrap_table(table, design.runs, base, split or choose_split(design.runs)),
        scores=score_table(design.runs, table),
        target=goal,
        reference=base,
        warnings=tuple(comparability_warnings(design, table)),
        left_out=tuple(sorted([*left_out, *repeats])),
    )
