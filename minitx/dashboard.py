"""`minitx dashboard`: TensorBoard over the run directories, on this machine, without an account."""

import argparse
import threading
from collections.abc import Sequence
from pathlib import Path

from minitx.errors import UserError


def main(argv: Sequence[str]) -> None:
    """Serve the curves of all runs until interrupted."""
    parser = argparse.ArgumentParser(
        "minitx dashboard",
        description="Live curves of all runs in the browser.",
        epilog="Example: minitx dashboard --runs runs --port 6007",
    )
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the directory that holds runs (default: runs)")
    parser.add_argument("--port", type=int, help="the port to serve on (default: the first free one from 6006)")
    arguments = parser.parse_args(argv)
    address = serve(arguments.runs, arguments.port)
    print(f"{address} shows the runs in {arguments.runs}; Ctrl-C ends it.", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print()


def serve(runs: Path, port: int | None = None) -> str:
    """Start TensorBoard in the background of this process and return its address.

    Raises:
        UserError: if `runs` is no directory, holds no curves, or the port is taken.
    """
    if not runs.is_dir():
        raise UserError(f"There is no directory {runs}: train first, or name the directory of your runs with --runs.")
    if next(runs.rglob("events.out.tfevents.*"), None) is None:
        raise UserError(f"{runs} holds no run with curves yet: `minitx train` writes them unless logger=none.")
    from tensorboard import program

    tensorboard = program.TensorBoard()
    tensorboard.configure(argv=["minitx", "--logdir", str(runs), *(["--port", str(port)] if port else [])])
    try:
        return str(tensorboard.launch())
    except program.TensorBoardServerException as error:
        raise UserError(f"The dashboard cannot start on port {port or 6006}: {error} Try another --port.") from error
