"""One job of a sweep: a single run in a process of its own, of which only the outcome comes back.

A process of its own keeps a job that is killed, or leaves the device unusable, from ending the others, and makes its
peak memory and its speed those of a single run. It is forked from a server that has imported the libraries once.
"""

import atexit
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from hydra.errors import InstantiationException
from omegaconf import DictConfig

from minitx.config import config_hash, readable_name, to_plain
from minitx.config.compose import compose
from minitx.config.targets import make_importable
from minitx.errors import UserError
from minitx.sweep.claim import claimed
from minitx.sweep.runs import DONE, done_run, find_runs

SECONDS_BETWEEN_LOOKS = 0.5


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        status: a run's (finished, diverged, failed, interrupted), or "running" where another process is at it,
            "repeated" where an earlier job of the sweep is the same, "not run" where the sweep ended before it.
        path: its run directory, if there is one.
        reason: why it failed, in words.
        earlier: whether it was done before this sweep began.
    """

    status: str
    path: Path | None = None
    reason: str = ""
    earlier: bool = False

    @property
    def failed(self) -> bool:
        """Whether it counts against the sweep's exit status."""
        return self.status not in {*DONE, "running", "repeated"}


def run_alone(overrides: list[str], launch_directory: Path, stop_file: Path) -> Outcome:
    """`train_job` in a process of its own, which a byte added to `stop_file` ends after the step that is going on."""
    if multiprocessing.get_start_method() not in (usual := multiprocessing.get_all_start_methods()):
        # Joblib's processes have a way of their own to start others ("loky"), which the server does not know.
        multiprocessing.set_start_method(usual[0], force=True)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["minitx.train"])
    receiver, sender = context.Pipe(duplex=False)
    arguments = (sender, dict(os.environ), overrides, launch_directory, stop_file)
    process = context.Process(target=_answer, args=arguments)
    started = time.time()
    with _without_launch_directory():
        process.start()
    sender.close()
    try:
        outcome: Outcome = receiver.recv()
    except EOFError:
        process.join()
        return _killed(process.exitcode or 0, started, compose(overrides, launch_directory))
    except KeyboardInterrupt:
        process.kill()
        raise
    process.join()
    return outcome


@contextmanager
def _without_launch_directory() -> Iterator[None]:
    """The server, which this may start, imports nothing from the directory that minitx was started in."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def train_job(overrides: list[str], launch_directory: Path) -> Outcome:
    """Train the run that the overrides describe, unless it is done or another process is at it."""
    make_importable(launch_directory)
    config = compose(overrides, launch_directory)
    runs, key = Path(config.run_directory), config_hash(config)
    with claimed(runs, key) as holder:
        if holder is not None:
            return Outcome("running", reason=f"{holder} is at it")
        there = find_runs(runs, key)
        if (done := done_run(there)) is not None:
            return Outcome(done.status, done.path, earlier=True)
        argv, sys.argv = sys.argv, [sys.argv[0], "train", *overrides]  # Lightning starts a run's further processes so
        try:
            train_once(config)
            outcome = Outcome("finished")
        except BaseException as error:
            outcome = _broken_off(error)
            text = traceback.format_exc()
        finally:
            sys.argv = argv
        new = [run for run in find_runs(runs, key) if run.path not in {other.path for other in there}]
        if outcome.status == "failed":
            return replace(outcome, path=_record_failure(config, new[-1].path if new else None, text))
        if not new:
            return outcome
        status = new[-1].status if outcome.status == "finished" else outcome.status  # a divergence may be a result
        return replace(outcome, status=status, path=new[-1].path)


def train_once(config: DictConfig) -> Any:
    """One run in this process; returns its summary."""
    # Lightning and the data libraries take seconds to import: a mistake in the configuration is reported before that.
    from minitx.train import train

    try:
        return train(config)
    except InstantiationException as error:  # Hydra wraps what a constructor raises
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from error
        raise


def _broken_off(error: BaseException) -> Outcome:
    if isinstance(error, KeyboardInterrupt) or getattr(error, "signal_number", None):
        return Outcome("interrupted", reason=" ".join(str(error).split()))
    if isinstance(error, UserError):
        return Outcome("failed", reason=" ".join(str(error).split()))
    return Outcome("failed", reason=f"{type(error).__name__}: {error}")


def _record_failure(config: DictConfig, path: Path | None, text: str) -> Path:
    """See to it that a failed job has a run directory that says so, with its traceback."""
    from minitx.training.run_directory import RunDirectory

    if path is None:
        run = RunDirectory.create(Path(config.run_directory), f"{readable_name(config)}-{config_hash(config)}")
    else:
        run = RunDirectory(path)
    if not run.read_json("run.json"):
        facts = {"config": to_plain(config), "config_hash": config_hash(config), "seed": config.seed}
        run.write_json("run.json", facts | {"name": run.path.name, "group": config.group, "tags": list(config.tags)})
    run.update_json("run.json", status="failed")
    file = run.path / "traceback.txt"
    if not file.exists():
        file.write_text(text, encoding="utf-8")
    return run.path


def _killed(exit_code: int, started: float, config: DictConfig) -> Outcome:
    """The outcome of a job whose process was started then and ended without a word."""
    by = f"was ended by {signal.Signals(-exit_code).name}" if exit_code < 0 else f"ended with status {exit_code}"
    hint = " (out of memory?)" if exit_code == -signal.SIGKILL else ""
    reason = f"its process {by}{hint}"
    there = find_runs(Path(config.run_directory), config_hash(config))
    new = [run.path for run in there if run.status not in DONE and run.path.stat().st_mtime >= started - 1.0]
    return Outcome("failed", _record_failure(config, new[-1] if new else None, reason + "\n"), reason)


def _answer(
    sender: Connection,
    environment: Mapping[str, str],
    overrides: list[str],
    launch_directory: Path,
    stop_file: Path,
) -> None:
    """What the job's own process does."""
    os.environ.clear()
    os.environ.update(environment)  # the server's may be older
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # where training does not answer them itself
    os.setpgid(0, 0)  # Ctrl-C reaches the sweep, which asks its jobs to end, wherever they run
    threading.Thread(target=_watch, args=(stop_file, _parent_is_alive), daemon=True).start()
    try:
        outcome = train_job(overrides, launch_directory)
    except BaseException as error:
        outcome = _broken_off(error)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sender.send(outcome)
    sender.close()
    atexit._run_exitfuncs()  # multiprocessing leaves them out, and dashboards end their own processes in theirs


def _watch(stop_file: Path, parent_is_alive: Callable[[], bool]) -> None:
    """Send this process SIGINT for each byte in `stop_file`, and one if the process that waits for it has died."""
    sent, orphaned = 0, False
    while True:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        bytes_there = stop_file.stat().st_size if stop_file.exists() else 0
        if not orphaned and not parent_is_alive():
            orphaned, bytes_there = True, max(bytes_there, sent + 1)
        if bytes_there > sent:
            sent += 1
            os.kill(os.getpid(), signal.SIGINT)


def _parent_is_alive() -> bool:
    parent = multiprocessing.parent_process()
    return parent is None or parent.is_alive()
