"""The command `minitx evaluate`: loss, perplexity, BLEU and chrF of a run on any of its splits, or on other files.

The figures come from `minitx.evaluation`, which training uses for its own test: same weights, same figures.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from minitx.data.corpus import Batching, Corpus, Preparation
from minitx.data.dataset import ParallelDataset
from minitx.data.lines import content_hash
from minitx.data.sources import Pair, Splits, aligned, digest
from minitx.errors import UserError
from minitx.evaluation import Translations, evaluate_split
from minitx.loading import LoadedRun, load_run
from minitx.output import printing, require_standard_output, writing
from minitx.training.machine import prepare_process
from minitx.training.run_directory import RunDirectory
from minitx.translate import add_search_options
from minitx.translator import tested_with

EXAMPLES = """examples:
  minitx evaluate runs/RUN                                     the main test set, as the run was tested
  minitx evaluate runs/RUN split=validation,test --beam-size 1
  minitx evaluate runs/RUN --source a.en --target a.de         any other sentences, plain or .gz
  minitx evaluate runs/RUN data.path=DIR                       where the run's data have been moved

Loss is the cross-entropy of the references per target token in nats, without label smoothing, and perplexity its
exponential. BLEU and chrF are sacreBLEU's, of detokenised text; the signatures say which. Each evaluation is added to
the run directory, as evaluations/SPLIT-….json and translations/SPLIT-….{hyp,ref,src}.txt; none is overwritten.
"""
WIDTH_OF_A_FILE = 120


class FilePair:
    """Two files with a sentence a line, as a source of pairs with a single split."""

    def __init__(self, source: Path, target: Path) -> None:
        self.files = source, target
        self.source_language, self.target_language = source.name, target.name

    def splits(self) -> Splits:
        """The pair of files stands for each of them."""
        return Splits("pairs", "pairs", {})

    def names(self, split: str) -> tuple[str, str]:
        """The files' names."""
        return str(self.files[0]), str(self.files[1])

    def fingerprint(self, split: str) -> str:
        """A hash of what the files hold."""
        return digest("text", *map(content_hash, self.files))

    def pairs(self, split: str) -> Iterator[Pair]:
        """Line by line; refused where one file has more lines."""
        return aligned(*self.files)


def main(argv: Sequence[str]) -> int:
    """Evaluate as `argv` says; the exit status is 0.

    Raises:
        UserError: the run, the data or an option is at fault.
    """
    arguments = _parser().parse_intermixed_args(argv)
    splits, data_path = _words(arguments.words)
    if (arguments.source is None) != (arguments.target is None):
        raise UserError("Give both --source FILE and --target FILE: a score compares translations with references.")
    if arguments.source and (splits or data_path):
        raise UserError("Give either split=… or --source and --target, not both.")
    require_standard_output()
    prepare_process(None)
    run = load_run(arguments.run, arguments.checkpoint, arguments.device)
    names = ("beam_size", "length_penalty", "max_length", "batch_size")
    given = {name: getattr(arguments, name) for name in names}
    search = tested_with(run) | {name: value for name, value in given.items() if value is not None}
    if arguments.source:
        datasets = {_stem(arguments.source): _from_files(run, arguments.source, arguments.target)}
    else:
        corpus = run.corpus(data_path)
        datasets = {name: corpus.split(name) for name in splits or ["test"]}  # all of them, before any is translated
    _require_writable(run.path)
    records = [_evaluate(run, name, dataset, search) for name, dataset in datasets.items()]
    with printing():
        if arguments.json:
            print(json.dumps(records, ensure_ascii=False, indent=2))
        else:
            _print(records)
    return 0


def _words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """The splits asked for, each once, and where the data are."""
    values = {"split": "", "data.path": ""}
    for word in words:
        key, equals, value = word.partition("=")
        if key not in values or not equals or not value:
            raise UserError(f"{word} is not understood here: write split=NAME[,NAME…] or data.path=DIR.")
        values[key] = ",".join(filter(None, [values[key], value])) if key == "split" else value
    splits = [name.strip() for name in values["split"].strip("[]").split(",")]
    return list(dict.fromkeys(filter(None, splits))), values["data.path"] or None


def _from_files(run: LoadedRun, source: Path, target: Path) -> ParallelDataset:
    preparation = Preparation(
        tokenizer=run.path / "tokenizer.json",
        max_length=run.model.max_length,
        cache_directory=run.config["data"].get("cache_directory"),
    )
    return Corpus(FilePair(source, target), preparation, Batching()).validation


def _require_writable(directory: Path) -> None:
    """Raise UserError now, before minutes of work, if results could not be kept."""
    for name in ("evaluations", "translations"):
        with writing(directory / name):
            (directory / name).mkdir(exist_ok=True)
            tempfile.TemporaryFile(dir=directory / name).close()


def _stem(file: Path) -> str:
    """newstest.en.gz -> newstest"""
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name


def _evaluate(run: LoadedRun, split: str, dataset: ParallelDataset, search: dict[str, Any]) -> dict[str, Any]:
    """Evaluate one split and add the result to the run directory."""
    clock = _Clock(split, len(dataset))
    with clock:
        scores, translations = evaluate_split(run.model, run.tokenizer, dataset, on_progress=clock.tick, **search)
    record = {
        "split": split,
        "checkpoint": run.checkpoint.name,
        "step": run.step,
        **{name: _finite(value) for name, value in scores.items()},
        **search,
        "sentences_per_second": round(len(dataset) / clock.seconds, 2),
        "device": str(next(run.model.parameters()).device),
        "files": list(dataset.split.names),
        "data_fingerprint": dataset.fingerprint,
    }
    record["name"] = _keep(run, record, translations)
    return record


def _keep(run: LoadedRun, record: dict[str, Any], translations: Translations) -> str:
    """Write a record and its translations under a name of their own, which is returned."""
    parts = [record["split"], f"beam{record['beam_size']}", f"lp{record['length_penalty']:g}"]
    parts += [f"max{record['max_length']}"] if "max_length" in record else []
    parts += [run.checkpoint.stem] if run.checkpoint.stem != "final" else []
    wanted = "-".join(parts).replace("/", "_")
    name, number = wanted, 1
    directory = run.path / "evaluations"
    with writing(directory):
        directory.mkdir(exist_ok=True)
    while (directory / f"{name}.json").exists():
        number += 1
        name = f"{wanted}-{number}"
    record_of_run = RunDirectory(run.path)
    record_of_run.write_translations(name, **translations)
    record_of_run.write_json(f"evaluations/{name}.json", record)
    return name


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Clock:
    """Seconds of translating alone, and a bar where standard error is a terminal."""

    def __init__(self, split: str, sentences: int) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}")
        console = Console(stderr=True)
        self._bar = Progress(*columns, TimeRemainingColumn(), console=console, disable=not sys.stderr.isatty())
        self._task = self._bar.add_task(split, total=sentences)
        self._started = time.perf_counter()
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._bar.start()

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tick(self, done: int) -> None:
        """So many sentences are translated."""
        now = time.perf_counter()
        if not done:
            self._started = now
        self.seconds = max(now - self._started, 1e-9)
        self._bar.update(self._task, completed=done)


def _print(records: Sequence[dict[str, Any]]) -> None:
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH_OF_A_FILE
    first = records[0]
    title = f"{first['checkpoint']}, beam {first['beam_size']}, length penalty {first['length_penalty']:g}"
    table = Table("split", title=title, title_justify="left")
    columns = {
        "sentences": "sentences",
        "loss": "loss",
        "perplexity": "perplexity",
        "bleu": "BLEU",
        "bleu_lowercase": "BLEU lowercase",
        "chrf": "chrF",
        "sentences_per_second": "sentences/s",
    }
    for heading in columns.values():
        table.add_column(heading, justify="right")
    forms = {"sentences": "{:,}", "loss": "{:.4f}", "sentences_per_second": "{:.1f}"}
    for record in records:
        cells = ("–" if record[name] is None else forms.get(name, "{:.2f}").format(record[name]) for name in columns)
        table.add_row(record["split"], *cells)
    console.print(table)
    for name in ("bleu", "bleu_lowercase", "chrf"):
        console.print(f"{columns[name]}: {first[f'{name}_signature']}", highlight=False, soft_wrap=True)
    kept = ", ".join(record["name"] for record in records)
    console.print(f"kept in evaluations/ and translations/ as {kept}", highlight=False, soft_wrap=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="minitx evaluate",
        description="Loss and translation quality of a run.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help="a run directory")
    parser.add_argument("words", nargs="*", metavar="split=NAME[,NAME…]", help="train, validation or a test set (test)")
    parser.add_argument("--source", type=Path, metavar="FILE", help="sentences to translate, in place of a split")
    parser.add_argument("--target", type=Path, metavar="FILE", help="their reference translations, line by line")
    add_search_options(parser)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser
