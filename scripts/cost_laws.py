"""The cost of a training step's token against d_k, sentence length, vocabulary and batch, each alone from `model=tiny`.

    python scripts/cost_laws.py OUT [OVERRIDE …] [--quick]

Each point is a `minitx bench train` of its own on invented text, one after another on the same machine; further
overrides, such as trainer.precision=bf16-products, are those of every point. OUT gets points.jsonl, cost_laws.md (a
table for each law) and cost_laws.svg and .png. About twelve minutes on two cores; points that OUT has already are not
measured again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invented_text import all_of, write_text

WORDS_IN_ALL = 600_000
"""On each side of a corpus, whatever its sentences' length."""
USUAL_WORDS = 12
QUICK = ["model.num_layers=1", "model.d_model=16", "model.num_heads=2", "model.d_ff=32"]


@dataclass(frozen=True)
class Law:
    """One quantity that is varied alone: the points of its axis, and the overrides of each."""

    name: str
    values: tuple[int, ...]
    override: str
    variants: tuple[str, ...] = ("scaled",)


LAWS = (
    Law("d_k", (8, 32, 128, 512), "model.d_k={}", ("scaled", "additive")),
    Law("words a sentence", (8, 32, 128, 256), "data.path={{corpora}}/words_{}", ("scaled", "additive")),
    Law("vocabulary", (1_000, 4_000, 10_000, 37_000), "data.vocab_size={}"),
    Law("tokens a batch", (512, 1_024, 4_096, 16_384), "data.batch_tokens={}"),
)
KINDS = ("matrix products", "batched products", "softmax and exponentials", "copies and casts", "random numbers")


def main() -> None:
    """Measure what is missing, then write the tables and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE")
    parser.add_argument("--quick", action="store_true", help="a very small model and few steps: does everything run?")
    arguments = parser.parse_intermixed_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    records = arguments.out / "points.jsonl"
    write_corpora(arguments.out / "corpora")
    for law, variant, value in points():
        if not any(is_point(record, law, variant, value) for record in read(records)):
            print(f"{law.name} {value:,}, {variant}", flush=True)
            found = measure(arguments.out, law, variant, value, [*arguments.overrides, *QUICK * arguments.quick])
            with records.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"law": law.name, "variant": variant, "value": value, **found}) + "\n")
    found = read(records)
    (arguments.out / "cost_laws.md").write_text("\n\n".join(table(law, found) for law in LAWS) + "\n", encoding="utf-8")
    draw(found, arguments.out)


def write_corpora(directory: Path) -> None:
    lengths = next(law for law in LAWS if "words" in law.name).values
    for words in {USUAL_WORDS, *lengths}:
        if not (corpus := directory / f"words_{words}").exists():
            write_text(corpus, {"train": WORDS_IN_ALL // words, "val": 100}, all_of(words))


def points() -> Iterator[tuple[Law, str, int]]:
    for law in LAWS:
        for variant in law.variants:
            yield from ((law, variant, value) for value in law.values)


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def is_point(record: dict[str, Any], law: Law, variant: str, value: int) -> bool:
    return (record["law"], record["variant"], record["value"]) == (law.name, variant, value)


def measure(out: Path, law: Law, variant: str, value: int, overrides: list[str]) -> dict[str, Any]:
    """One `minitx bench train`; its record."""
    corpora = out.resolve() / "corpora"
    steps = (3, 1, 2) if any(override in QUICK for override in overrides) else (14, 5, 3)
    command = [sys.executable, "-m", "minitx.cli", "bench", "train", "--json", "-", "model=tiny", "data=text_files"]
    command += [f"--{name}={count}" for name, count in zip(("steps", "warmup", "profile"), steps, strict=True)]
    command += [f"data.path={corpora}/words_{USUAL_WORDS}", "data.source_language=en", "data.target_language=de"]
    command += [f"data.cache_directory={corpora}/cache", "data.vocab_size=10000", "model.max_length=2048"]
    command += [f"attention={variant}", *overrides, law.override.format(value).format(corpora=corpora)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"This failed: {' '.join(command)}")
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def table(law: Law, records: list[dict[str, Any]]) -> str:
    """Markdown: a row for each point of a law."""
    heads = [law.name, "", "tokens a sentence", "tokens/s", "µs a token", "MFLOP a token", "of product rate"]
    heads += ["peak memory, GB", *KINDS]
    rows = ["| " + " | ".join(heads) + " |", "|---:|---|" + "---:|" * (len(heads) - 2)]
    for variant in law.variants:
        for value in law.values:
            record = next(record for record in records if is_point(record, law, variant, value))
            rows.append("| " + " | ".join([f"{value:,}", variant, *cells(record)]) + " |")
    return "\n".join(rows)


def cells(record: dict[str, Any]) -> list[str]:
    memory = record["peak_memory_bytes"]
    shares = [record["share_by_operation"].get(kind, 0.0) for kind in KINDS]
    return [
        f"{record['target_tokens_per_step'] / record['pairs_per_step']:.0f}",
        f"{record['tokens_per_second']:,.0f}",
        f"{1e6 / record['tokens_per_second']:.1f}",
        f"{record['flops_per_token'] / 1e6:.2f}",
        f"{record['share_of_product_rate']:.0%}",
        f"{memory.get('device', memory['host']) / 1e9:.2f}",
        *(f"{share:.0%}" for share in shares),
    ]


def draw(records: list[dict[str, Any]], out: Path) -> None:
    """Microseconds a token beside those of its operations at the machine's product rate, a panel for each law."""
    from minitx.analysis.style import FIXED, panels

    figure, [axes_of_laws] = panels(1, len(LAWS), (2.6, 2.6), sharey=True)
    for law, axes in zip(LAWS, axes_of_laws, strict=True):
        for variant in law.variants:
            found = [record for value in law.values for record in records if is_point(record, law, variant, value)]
            look = FIXED[variant]
            measured = [1e6 / record["tokens_per_second"] for record in found]
            least = [1e6 * record["flops_per_token"] / record["product_rate"] for record in found]
            axes.loglog(law.values, measured, color=look.colour, linestyle=look.line, marker=look.marker, label=variant)
            axes.loglog(law.values, least, color=look.colour, linestyle=":", label=f"{variant}: products alone")
        axes.set_xlabel(law.name)
        axes.set_xticks(law.values, [f"{value:,}" for value in law.values])
        axes.minorticks_off()
    axes_of_laws[0].set_ylabel("µs a token")
    axes_of_laws[0].legend(frameon=False, fontsize=7)
    for ending in ("svg", "png"):
        figure.savefig(out / f"cost_laws.{ending}", dpi=150)


if __name__ == "__main__":
    main()
