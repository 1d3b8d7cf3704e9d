"""The main program of a runner: reads a job, measures, prints one JSON line. Standard library only.

    python -m peers.run_PEER JOB.json

A runner gives two functions. `train(job, window)` runs the peer's own training loop and lets it call
`window.step(tokens)` after each update, which raises `WindowOver` in the end. `load(job)` loads the model and returns
`translate(sources, beam_size)`; ids go in and out, without marks, and nothing of what `load` does is timed.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peers.job import BATCH_SENTENCES, BEAMS, SOURCE, Job
from peers.window import Window, WindowOver, sentences_per_second, timed_passes

Translate = Callable[[list[list[int]], int], list[list[int]]]


def main(train: Callable[[Job, Window], None] | None, load: Callable[[Job], Translate]) -> None:
    job = Job.read(Path(sys.argv[1]))
    Path(job.output).mkdir(parents=True, exist_ok=True)
    if job.phase == "train":
        assert train is not None, f"{job.system} does not train"
        figures = measure_training(job, train)
    else:
        figures = measure_decoding(job, load(job))
    line = {"system": job.system, "phase": job.phase, **figures, "peak_memory_bytes": peak_memory()}
    print("\n" + json.dumps(line), flush=True)


def measure_training(job: Job, train: Callable[[Job, Window], None]) -> dict[str, Any]:
    window = Window(job.warm_up, job.seconds)
    with contextlib.suppress(WindowOver):
        train(job, window)
    return window.figures()


def measure_decoding(job: Job, translate: Translate) -> dict[str, Any]:
    sources = job.ids("test", SOURCE)[: job.sentences]
    figures: dict[str, Any] = {"sentences": len(sources)}
    for name, beam_size in BEAMS.items():
        translate(sources[: 2 * BATCH_SENTENCES], beam_size)  # warm-up
        found, durations = timed_passes(lambda beam=beam_size: translate(sources, beam), job.seconds / 2)
        text = "".join(" ".join(map(str, ids)) + "\n" for ids in found)
        Path(job.output, f"{name}.ids").write_text(text, encoding="utf-8")
        figures[f"{name}_sentences_per_second"] = sentences_per_second(len(sources), durations)
        figures[f"{name}_pass_seconds"] = [round(duration, 3) for duration in durations]
        print(f"{name}: {figures[f'{name}_sentences_per_second']} sentences/s", file=sys.stderr, flush=True)
    return figures


def peak_memory() -> int:
    """The most memory this process has held, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
