"""Train and decode the same work with minitx and with what a user would pick instead; print them side by side.

    .venv/bin/python scripts/bench_peers.py DIR --corpus MULTI30K --run RUN

DIR takes environments, inputs, logs and results, and is used again by later calls: about 3 GB. MULTI30K is a directory
of train.en[.gz], train.de, val.en, … RUN is a finished minitx run of `experiment=multi30k_tiny`; without one,
`minitx train` first makes one of --updates updates. Its tokenizer and sizes are every system's, and decoding uses its
weights in every system, because what a decoder costs hangs on how long its translations are.

Training: the peer's own loop, non-pad source and target tokens counted from its batches over --seconds after
--warm-up. Decoding: --sentences of the first test set, batches of 64 of like length, at most 60 tokens, greedy and beam
5, each toolkit's own length normalisation; loading is not counted. Peak RSS is that of the training process.
Results: DIR/results.jsonl, appended, and the table. A maintainers' tool: run it on an idle machine, and compare figures
of one call only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers.environments import InstallationFailed, python_of, reason
from peers.job import Job
from peers.report import merge, parse_result, table
from peers.systems import SYSTEMS, System, minitx_with

SCRIPTS = Path(__file__).resolve().parent
SLOWEST = 1800
"""Seconds after which a runner is given up."""
BUSY = 0.5


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    directory = arguments.directory.resolve()
    systems = chosen(arguments.systems, arguments.minitx)
    directory.mkdir(parents=True, exist_ok=True)
    pythons, lines = install(directory, systems)
    if arguments.only == "install":
        print("\n".join(f"{name}: {path or 'failed'}" for name, path in pythons.items()))
        return 0
    prepare(directory, arguments)
    if (load := os.getloadavg()[0]) > BUSY:
        say(f"warning: other work is going on here (load {load:.1f}), so the figures will be too low")
    results = directory / "results.jsonl"
    for round_number in range(1, arguments.rounds + 1):
        for system in systems:
            for phase in system.phases:
                if pythons[system.name] and arguments.only in (None, phase):
                    line = measure(directory, system, phase, pythons[system.name], arguments)
                    lines.append(line)
                    stamp = {"round": round_number, "time": time.strftime("%Y-%m-%dT%H:%M:%S"), **settings(arguments)}
                    with results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({**line, **stamp}) + "\n")
    print(table(systems, merge(lines)))
    return 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="Multi30k as text files")
    parser.add_argument("--run", type=Path, metavar="RUN", help="a minitx run: tokenizer, sizes and weights")
    parser.add_argument("--updates", type=int, default=1000, help="of the run that is made where none is given (1000)")
    parser.add_argument("--systems", metavar="A,B", help=f"which of {', '.join(system.name for system in SYSTEMS)}")
    parser.add_argument(
        "--minitx",
        action="append",
        default=[],
        metavar="OVERRIDES",
        help="a further row: minitx trained with these overrides, such as 'trainer.precision=bf16-mixed'",
    )
    parser.add_argument("--only", choices=["install", "train", "decode"])
    parser.add_argument("--seconds", type=float, default=75, help="measured seconds of each training (75)")
    parser.add_argument("--warm-up", type=float, default=15, help="seconds of training before them (15)")
    parser.add_argument("--sentences", type=int, default=1000, help="test sentences to translate (1000)")
    parser.add_argument("--rounds", type=int, default=1, help="times through all systems; medians are reported (1)")
    parser.add_argument("--threads", type=int, default=2, help="of each system (2)")
    parser.add_argument("--batch-tokens", type=int, default=4096, help="tokens of a training batch on a side (4096)")
    return parser


def chosen(names: str | None, further: Sequence[str]) -> list[System]:
    """The systems asked for, in the table's order.

    Raises:
        SystemExit: there is no such system.
    """
    known = {system.name: system for system in SYSTEMS}
    wanted = names.split(",") if names else list(known)
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"There is no system {unknown[0]}; choose from {', '.join(known)}.")
    systems = [system for name, system in known.items() if name in wanted]
    return systems + [minitx_with(overrides) for overrides in further]


def install(directory: Path, systems: Sequence[System]) -> tuple[dict[str, Path | None], list[dict[str, Any]]]:
    """The interpreter of each system, None where its environment cannot be made, and lines that say why."""
    pythons: dict[str, Path | None] = {}
    failures = []
    for system in systems:
        try:
            pythons[system.name] = Path(sys.executable)
            if system.environment:
                pythons[system.name] = python_of(directory, system.environment)
        except InstallationFailed as error:
            pythons[system.name] = None
            say(f"{system.name}: cannot be installed: {error}")
            failure = f"not installed: {error}"
            failures += [{"system": system.name, "phase": phase, "failure": failure} for phase in system.phases]
    return pythons, failures


def prepare(directory: Path, arguments: argparse.Namespace) -> None:
    """Write the common inputs, after making a run if none is given.

    Raises:
        SystemExit: the corpus or the run is missing or cannot be used.
    """
    from peers.preparation import Unsuitable
    from peers.preparation import prepare as write_inputs

    from minitx.errors import UserError

    if arguments.corpus is None:
        raise SystemExit("Say where Multi30k lies, as text files: --corpus DIR.")
    run = arguments.run or own_run(directory, arguments)
    try:
        facts = write_inputs(directory / "work", run, arguments.corpus, arguments.batch_tokens)
    except (Unsuitable, UserError) as error:
        raise SystemExit(str(error)) from error
    say(f"{facts}")


def own_run(directory: Path, arguments: argparse.Namespace) -> Path:
    """A run made by this tool, now or before."""
    place = directory / "runs"
    finished = [path.parent for path in place.glob("*/summary.json")]
    if not finished:
        say(f"training {arguments.updates} updates for weights to decode with")
        overrides = [f"data.path={arguments.corpus.resolve()}", f"run_directory={place}", "logger=none"]
        overrides += [f"training.max_steps={arguments.updates}", "training.validate_every=250", "trainer=cpu"]
        command = [sys.executable, "-m", "minitx.cli", "train", "experiment=multi30k_tiny", *overrides]
        if subprocess.run(command).returncode:
            raise SystemExit("minitx train failed: give a finished run with --run RUN.")
        finished = [path.parent for path in place.glob("*/summary.json")]
    return finished[-1]


def measure(directory: Path, system: System, phase: str, python: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """One phase of one system in a process of its own; its figures, or the reason of its failure."""
    slug = system.name.replace(" ", "_").replace("/", "_")
    output = directory / "output" / slug
    job = Job(
        system=system.name,
        phase=phase,
        work=str(directory / "work"),
        output=str(output),
        threads=arguments.threads,
        warm_up=arguments.warm_up,
        seconds=arguments.seconds,
        sentences=arguments.sentences,
        options=dict(system.options),
    )
    output.mkdir(parents=True, exist_ok=True)
    log = directory / "logs" / f"{slug}.{phase}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    job.write(output / f"{phase}.json")
    say(f"{system.name}: {phase} …")
    code = run([str(python), "-m", f"peers.{system.runner}", str(output / f"{phase}.json")], system, job, log)
    text = log.read_text(encoding="utf-8", errors="replace")
    line = parse_result(text, system.name, phase)
    if line is None:
        why = f"no result within {SLOWEST} s" if code is None else reason(text)
        say(f"{system.name}: {phase} failed: {why} (see {log})")
        return {"system": system.name, "phase": phase, "failure": why}
    if phase == "decode":
        line |= quality(directory, output)
    say(json.dumps(line))
    return line


def run(command: list[str], system: System, job: Job, log: Path) -> int | None:
    """The exit status; None where the runner took too long and was stopped."""
    threads = {name: str(job.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1"}
    environment = {**os.environ, **threads, **offline, "PYTHONPATH": str(SCRIPTS), **system.variables}
    with log.open("w", encoding="utf-8") as file:
        try:
            done = subprocess.run(
                command, stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=job.output, timeout=SLOWEST
            )
        except subprocess.TimeoutExpired:
            return None
    return done.returncode


def quality(directory: Path, output: Path) -> dict[str, Any]:
    """What shows that a system did the same work: BLEU, mean length, and the share of minitx's greedy translations."""
    from peers.preparation import agreement, score

    figures: dict[str, Any] = score(directory / "work", output)
    ours = directory / "output" / "minitx" / "greedy.ids"
    if ours.is_file() and len(ours.read_text().splitlines()) == len((output / "greedy.ids").read_text().splitlines()):
        figures["greedy_agreement"] = agreement(ours, output / "greedy.ids")
    return figures


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"threads": arguments.threads, "window_seconds": arguments.seconds, "batch_tokens": arguments.batch_tokens}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
