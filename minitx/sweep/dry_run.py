"""`minitx train --dry-run`: what a command would do, without doing it."""

from collections.abc import Sequence

from rich.console import Console

from minitx.config.compose import compose
from minitx.sweep.claim import holder_of
from minitx.sweep.estimate import Estimate, Estimator
from minitx.sweep.jobs import Existing, Job, repeated, varying
from minitx.sweep.runs import done_run
from minitx.sweep.sweep import planned
from minitx.sweep.table import print_table, shown

COLUMNS = ("job", "overrides", "parameters", "FLOPs (about)", "state")


def dry_run(overrides: Sequence[str], several: bool) -> None:
    """List the jobs with what each would cost, and say which are done.

    Args:
        overrides: as given on the command line.
        several: whether they describe a sweep.

    Raises:
        UserError: if the configuration of a job is wrong.
    """
    if several:
        with planned(overrides) as (jobs, _, _):
            _list(jobs, Console())
    else:
        _list([Job(0, tuple(overrides), compose(overrides))], Console())


def _list(jobs: Sequence[Job], console: Console) -> None:
    estimate, existing = Estimator(), Existing(jobs)
    estimates = [estimate(job.config) for job in jobs]
    twins = repeated(jobs)
    states = [
        f"repeats job {twins[job.number].number + 1}" if job.number in twins else _state(job, existing) for job in jobs
    ]
    rows = [
        [str(job.number + 1), " ".join(own), f"{cost.parameters:,}", _written(cost.flops), state]
        for job, own, cost, state in zip(jobs, varying(jobs), estimates, states, strict=True)
    ]
    print_table(COLUMNS, rows, console)
    console.print(_total(states, estimates), soft_wrap=True, highlight=False, markup=False)


def _state(job: Job, existing: Existing) -> str:
    there = existing.of(job)
    if (done := done_run(there)) is not None:
        return f"{done.status}: {shown(done.path)}"
    if (holder := holder_of(job.runs, job.config_hash)) is not None:
        return f"running: {holder}"
    if not there:
        return "to do"
    status = "broken off" if there[-1].status in {"running", "started"} else there[-1].status
    return f"to do ({status} before)"


def _total(states: Sequence[str], estimates: Sequence[Estimate]) -> str:
    to_do = [cost.flops for state, cost in zip(states, estimates, strict=True) if state.startswith("to do")]
    count = f"{len(states)} job{'s' if len(states) != 1 else ''}, {len(to_do)} to do"
    if not to_do or None in to_do:
        return count
    return f"{count}: about {_written(sum(flops or 0.0 for flops in to_do))} floating-point operations"


def _written(flops: float | None) -> str:
    return "not known" if flops is None else f"{flops:.1e}"
