"""A sweep: what is missing is trained through Hydra's launcher, then a table says what came of each job."""

import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hydra._internal.callbacks import Callbacks
from hydra.core.config_loader import ConfigLoader
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig, open_dict
from rich.console import Console

from minitx.config.compose import hydra_settings
from minitx.config.hydra_tree import config_tree, expand_home
from minitx.config.targets import make_importable
from minitx.errors import UserError
from minitx.sweep.claim import DIRECTORY
from minitx.sweep.job import Outcome, run_alone
from minitx.sweep.jobs import Job, combinations, done_before, label, plan_jobs
from minitx.sweep.runs import find_runs
from minitx.sweep.table import print_outcomes


class SweepFailed(Exception):
    """Some jobs of a sweep failed while the others finished; the message names each and its reason."""


class SweepInterrupted(Exception):
    """The sweep was asked to end, by the signal `signal_number`."""

    def __init__(self, signal_number: int) -> None:
        super().__init__("The sweep was interrupted. The same command goes on with the jobs that are missing.")
        self.signal_number = signal_number


@dataclass(frozen=True)
class Launch:
    """What a job must know, in whatever process and on whatever machine the launcher runs it.

    Attributes:
        stop_file: a file whose existence says that no further job is to begin; see `minitx.sweep.job.run_alone`.
        process: machine and number of the process that launched the sweep.
        numbers: the number of each job launched; a launcher counts only those that it is given.
    """

    stop_file: Path
    process: tuple[str, int]
    numbers: tuple[int, ...]


def sweep(overrides: Sequence[str]) -> None:
    """Train one run for each combination of the values that overrides list, those that are missing.

    Every job's configuration is checked before the first job begins, and one that fails leaves the others running.

    Raises:
        UserError: if the configuration of a job is wrong.
        SweepFailed: if a job failed.
        SweepInterrupted: after a signal; the jobs that were done stay done.
    """
    with planned(overrides) as (jobs, config, loader):
        print(f"minitx: a sweep of {len(jobs)} jobs", file=sys.stderr)
        outcomes = done_before(jobs)
        missing = [job for job in jobs if job.number not in outcomes]
        with _stop_file(jobs[0].runs) as (stop_file, received):
            if missing:
                launch = Launch(stop_file, _this_process(), tuple(job.number for job in missing))
                outcomes |= _launch(missing, launch, config, loader)
    print_outcomes(jobs, outcomes, Console())
    if received:
        raise SweepInterrupted(received[0])
    _raise_failures(jobs, outcomes)


@contextmanager
def planned(overrides: Sequence[str]) -> Iterator[tuple[list[Job], DictConfig, ConfigLoader]]:
    """The jobs of a sweep, its whole configuration and Hydra's reader of it, which lasts as long as the block.

    Raises:
        UserError: if the configuration of a job is wrong.
    """
    overrides = [*map(expand_home, overrides), "hydra.mode=MULTIRUN"]
    hydra_settings(overrides)  # for its errors, which are in plain words
    with config_tree(overrides) as tree:
        config = tree.compose(overrides, RunMode.MULTIRUN)
        sweeper = config.hydra.sweeper._target_
        if not sweeper.endswith(".BasicSweeper"):
            raise UserError(
                f"{sweeper} chooses jobs as it goes, but minitx must know them before the first one begins."
            )
        batches = combinations(config.hydra, tree.loader)
        jobs = plan_jobs(batches, config.hydra.overrides.hydra)
        if not jobs:
            raise UserError("This sweep has no job: one of its overrides lists no value.")
        yield jobs, config, tree.loader


def _launch(jobs: Sequence[Job], launch: Launch, config: DictConfig, loader: ConfigLoader) -> dict[int, Outcome]:
    """The outcomes of jobs that are missing, by number."""
    context = HydraContext(config_loader=loader, callbacks=Callbacks(config))
    _no_more_workers_than(len(jobs), config)
    outcomes: dict[int, Outcome] = {}
    size = config.hydra.sweeper.max_batch_size or len(jobs)
    try:
        launcher = Plugins.instance().instantiate_launcher(context, partial(run_job, launch), config)
        for first in range(0, len(jobs), size):
            batch = jobs[first : first + size]
            returned = launcher.launch([[*job.overrides] for job in batch], initial_job_idx=first)
            outcomes |= {job.number: _outcome(result) for job, result in zip(batch, returned, strict=True)}
    except Exception as error:  # of the launcher itself: a worker process was killed, the cluster cannot be reached
        reason = f"the launcher broke off: {type(error).__name__}: {' '.join(str(error).split())}"
        print(f"minitx: {reason}", file=sys.stderr)
        outcomes |= {job.number: _left_behind(job, reason) for job in jobs if job.number not in outcomes}
    return outcomes


def _no_more_workers_than(jobs: int, config: DictConfig) -> None:
    """joblib shares the cores out among its workers; one without a job would have its share for nothing."""
    launcher = config.hydra.launcher
    if "joblib" in str(launcher.get("_target_")):
        from joblib import effective_n_jobs

        with open_dict(launcher):
            launcher.n_jobs = min(jobs, effective_n_jobs(launcher.n_jobs))


def run_job(launch: Launch, _: DictConfig) -> Outcome:
    """One job of a sweep, in whatever process the launcher runs it. Its configuration is composed as a single run's."""
    settings = HydraConfig.get()
    name = label(launch.numbers[settings.job.num], settings.overrides.task)
    if launch.process != _this_process():  # a worker: Ctrl-C is the sweep's to answer
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if launch.stop_file.exists():
        return Outcome("not run")
    print(f"minitx: {name}", file=sys.stderr)
    overrides = [override for override in settings.overrides.hydra if not override.startswith("hydra.mode=")]
    overrides += [*settings.overrides.task, "hydra.mode=RUN"]
    directory = Path(settings.runtime.cwd)
    make_importable(directory)
    outcome = run_alone(overrides, directory, launch.stop_file)
    if outcome.status != "finished" or outcome.earlier:
        words = [f"{name} {_verb(outcome)}", *([outcome.reason] if outcome.reason else [])]
        print(f"minitx: {': '.join(words)}", file=sys.stderr)
    return outcome


def _verb(outcome: Outcome) -> str:
    if outcome.earlier:
        return "has been done meanwhile"
    forms = {"running": "is not started", "interrupted": "was interrupted"}
    return forms.get(outcome.status, outcome.status)


def _outcome(returned: JobReturn) -> Outcome:
    value: Any = returned._return_value
    if returned.status == JobStatus.COMPLETED:
        assert isinstance(value, Outcome)
        return value
    return Outcome("failed", reason=f"{type(value).__name__}: {value}")


def _left_behind(job: Job, reason: str) -> Outcome:
    """The outcome of a job that the launcher did not report."""
    there = find_runs(job.runs, job.config_hash)
    done = next((run for run in there if run.status in {"finished", "diverged"}), None)
    return Outcome(done.status, done.path) if done else Outcome("failed", there[-1].path if there else None, reason)


def _raise_failures(jobs: Sequence[Job], outcomes: Mapping[int, Outcome]) -> None:
    failed = [job for job in jobs if outcomes[job.number].failed]
    if failed:
        lines = [f"{len(failed)} of {len(jobs)} jobs failed."]
        for job in failed:
            outcome = outcomes[job.number]
            where = f" ({outcome.path / 'traceback.txt'})" if outcome.status == "failed" and outcome.path else ""
            lines.append(f"{job.label}: {outcome.reason or outcome.status}{where}")
        raise SweepFailed("\n".join(lines))


@contextmanager
def _stop_file(runs: Path) -> Iterator[tuple[Path, list[int]]]:
    """A file that a signal makes, and the signals received.

    The first one ends the sweep after the step that each job is at, the second does not wait for that, the third does
    not wait for the jobs.
    """
    host, process = _this_process()
    file = runs / DIRECTORY / f"stop-{host}-{process}"
    received: list[int] = []

    def receive(number: int, _: Any) -> None:
        received.append(number)
        if len(received) > 2:
            raise KeyboardInterrupt
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as stop:
            stop.write(b".")
        words = "ends after the step that is going on; once more ends it at once" if len(received) == 1 else "ends now"
        os.write(sys.__stderr__.fileno(), f"minitx: {signal.Signals(number).name}: the sweep {words}\n".encode())

    file.unlink(missing_ok=True)  # of an older process with the same number
    before = {number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield file, received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:  # after a third signal it stays, for jobs that still wait in a cluster's queue
        file.unlink(missing_ok=True)
        for directory in (file.parent, runs):
            with suppress(OSError):
                directory.rmdir()


def _this_process() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()
