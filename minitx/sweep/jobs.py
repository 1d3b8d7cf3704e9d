"""The jobs of a sweep: which there are, what each is called, and which are there already."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from minitx.config import config_hash
from minitx.config.compose import compose
from minitx.errors import UserError
from minitx.sweep.job import Outcome
from minitx.sweep.runs import FoundRun, done_run, find_runs


@dataclass(frozen=True)
class Job:
    """One combination of the values that a sweep's overrides list.

    Attributes:
        number: from 0, in the order of the combinations.
        overrides: of this job alone and those that all jobs share.
        config: as `compose` makes it.
    """

    number: int
    overrides: tuple[str, ...]
    config: DictConfig

    @property
    def config_hash(self) -> str:
        """The hash of its configuration."""
        return config_hash(self.config)

    @property
    def runs(self) -> Path:
        """Where its run directory is made."""
        return Path(self.config.run_directory)

    @property
    def label(self) -> str:
        """What messages call it."""
        return label(self.number, self.overrides)


def label(number: int, overrides: Sequence[str]) -> str:
    """What messages call a job: counted from 1, with its overrides."""
    return f"job {number + 1} ({' '.join(overrides) or 'no overrides'})"


def plan_jobs(batches: Sequence[Sequence[Sequence[str]]], settings: Sequence[str]) -> list[Job]:
    """The jobs, each of which is checked.

    Args:
        batches: each job's overrides, in the batches that `hydra.sweeper.max_batch_size` asks for.
        settings: overrides of Hydra's own node.

    Raises:
        UserError: if the configuration of a job is wrong.
    """
    jobs = []
    for number, overrides in enumerate(job for batch in batches for job in batch):
        try:
            jobs.append(Job(number, tuple(overrides), compose([*settings, *overrides])))
        except UserError as error:
            raise UserError(f"{label(number, overrides)}: {error}") from error
    return jobs


def combinations(settings: DictConfig, loader: ConfigLoader) -> list[list[list[str]]]:
    """Each job's overrides: the product of the values listed. Hydra's own sweeper would leave a `multirun.yaml`."""
    parameters = [f"{key}={values}" for key, values in (settings.sweeper.params or {}).items()]
    parsed = OverridesParser.create(loader).parse_overrides([*parameters, *settings.overrides.task])
    return BasicSweeper.split_arguments(parsed, settings.sweeper.max_batch_size)


class Existing:
    """What is there of jobs; each directory is read once."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._runs: dict[Path, list[FoundRun]] = {job.runs: find_runs(job.runs) for job in jobs}

    def of(self, job: Job) -> list[FoundRun]:
        """The runs of a job's configuration."""
        return [run for run in self._runs[job.runs] if run.config_hash == job.config_hash]


def repeated(jobs: Sequence[Job]) -> dict[int, Job]:
    """For the number of each job whose configuration an earlier one has, that earlier job."""
    first: dict[tuple[Path, str], Job] = {}
    twins = {job.number: first.setdefault((job.runs, job.config_hash), job) for job in jobs}
    return {number: twin for number, twin in twins.items() if twin.number != number}


def done_before(jobs: Sequence[Job]) -> dict[int, Outcome]:
    """The jobs that need not run, by number: those that are done, and repetitions of another job."""
    existing, twins = Existing(jobs), repeated(jobs)
    outcomes = {}
    for job in jobs:
        if job.number in twins:
            why = f"the same configuration as job {twins[job.number].number + 1}"
            outcomes[job.number] = Outcome("repeated", reason=why)
        elif (done := done_run(existing.of(job))) is not None:
            why = f"{done.status}: {done.path}"
            outcomes[job.number] = Outcome(done.status, done.path, earlier=True)
        else:
            continue
        print(f"minitx: {job.label} is {why}; it is not run again", file=sys.stderr)
    return outcomes


def varying(jobs: Sequence[Job]) -> list[list[str]]:
    """Each job's overrides without those that all jobs share."""
    shared = set.intersection(*(set(job.overrides) for job in jobs)) if len(jobs) > 1 else set()
    return [[override for override in job.overrides if override not in shared] for job in jobs]
