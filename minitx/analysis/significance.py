"""BLEU of two variants at one seed: sacreBLEU's paired bootstrap over the sentences that the runs translated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from minitx.analysis.arms import Placed, variant_order

RESAMPLES = 1000
# For many runs fewer, so that a report stays a matter of seconds. The signature says how many.
MANY_RUNS, RESAMPLES_OF_MANY = 60, 300
COLUMNS = ["condition", "seed", "split", "variant", "reference", "bleu", "bleu_reference", "difference", "p_value"]
COLUMNS += ["sentences", "signature", "directory", "directory_reference"]


def choose_split(runs: Sequence[Placed]) -> str | None:
    """The split that most finished runs kept translations of, the first by name; validation if no other."""
    counts = Counter(
        path.name.removesuffix(".hyp.txt")
        for placed in runs
        if placed.run.status == "finished"
        for path in (placed.run.path / "translations").glob("*.hyp.txt")
    )
    return min(counts, key=lambda split: (split == "validation", -counts[split], split), default=None)


class _System(NamedTuple):
    """A run's translations, and where the run stands in the table."""

    variant: str
    hypotheses: list[str]
    row: Mapping[Hashable, Any]


def bootstrap_table(table: pd.DataFrame, runs: Sequence[Placed], reference: str, split: str | None) -> pd.DataFrame:
    """A row for each finished run beside a finished run of the reference at its seed, condition and references.

    Args:
        table: a row a run, see `outcome_table`.
        runs: the runs, in the order of the table.
        reference: the variant that others are compared with.
        split: the evaluated split; None gives an empty table.

    Returns:
        `difference` is own BLEU minus the reference's, `p_value` sacreBLEU's: how often resampled test sets would show
        a difference of this size if there were none. Identical scores have p 1.
    """
    resamples = RESAMPLES if len(runs) <= MANY_RUNS else RESAMPLES_OF_MANY
    metrics: dict[tuple[str, ...], BLEU] = {}
    rows: list[dict[str, Any]] = []
    for references, systems in _groups(table, runs, reference, split):
        if references not in metrics:  # the references are counted once for all seeds
            metrics[references] = BLEU(references=[list(references)])
        named: list[tuple[str, Sequence[str]]] = [(system.variant, system.hypotheses) for system in systems]
        test = PairedTest(named, {"BLEU": metrics[references]}, None, test_type="bs", n_samples=resamples)
        signatures, scores = test()
        found = [result for result in scores["BLEU"] if not isinstance(result, str)]
        for system, result in zip(systems[1:], found[1:], strict=True):
            rows.append(
                {
                    **{key: system.row[key] for key in ("condition", "seed", "variant", "directory")},
                    "split": split,
                    "reference": reference,
                    "bleu": result.score,
                    "bleu_reference": found[0].score,
                    "difference": result.score - found[0].score,
                    "p_value": result.p_value if result.score != found[0].score else 1.0,
                    "sentences": len(references),
                    "signature": str(signatures["BLEU"]),
                    "directory_reference": systems[0].row["directory"],
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def _groups(
    table: pd.DataFrame, runs: Sequence[Placed], reference: str, split: str | None
) -> Iterator[tuple[tuple[str, ...], list[_System]]]:
    """Runs at one seed and condition with the same references, the reference variant first."""
    groups: dict[tuple[Any, ...], list[_System]] = {}
    for placed, row in zip(runs, table.to_dict("records"), strict=True):
        kept = placed.run.translations(split) if split is not None and placed.run.status == "finished" else None
        if kept is not None:
            hypotheses, references = kept
            key = (placed.condition, placed.run.seed, tuple(references))
            groups.setdefault(key, []).append(_System(placed.variant, hypotheses, row))
    for (_, _, references), systems in groups.items():
        systems.sort(key=lambda system: (system.variant != reference, variant_order(system.variant)))
        if systems[0].variant == reference and len(systems) > 1:
            yield references, systems
