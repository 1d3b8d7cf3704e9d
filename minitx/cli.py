"""The command `minitx`: which command was asked for, and how each kind of failure ends it.

Exit status: 0 done, 1 a fault or a failed job, 2 a mistake of the user's, 128 + N ended by signal N (130 for Ctrl-C).
Commands are imported on demand: `minitx --help` imports nothing heavy.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from minitx.errors import UserError
from minitx.output import DISK_FULL, STANDARD_OUTPUT, drop_unwritten, unwritable, writing

INTERRUPTED = 130
BROKEN_PIPE = 141


class Command(NamedTuple):
    """A command: the module whose `main(argv)` it calls, what it does and how it is typed."""

    module: str
    summary: str
    example: str


COMMANDS = {
    "train": Command("minitx.launch", "train a model, or with -m one for each combination", "minitx train model=tiny"),
    "evaluate": Command("minitx.evaluate", "loss, perplexity, BLEU and chrF of a run", "minitx evaluate RUN"),
    "translate": Command("minitx.translate", "translate lines with a run's model", "minitx translate RUN < in.txt"),
    "data check": Command("minitx.data_check", "look for faults in parallel text", "minitx data check data=multi30k"),
    "bench attention": Command(
        "minitx.bench.attention", "time and memory of each compatibility function", "minitx bench attention"
    ),
    "bench train": Command("minitx.bench.train", "what a training step takes", "minitx bench train model=tiny"),
    "bench decode": Command("minitx.bench.decode", "how fast a run's model translates", "minitx bench decode RUN"),
    "scores": Command("minitx.scores.command", "the variance argument of §3.2.1, without training", "minitx scores"),
    "report": Command("minitx.report", "compare runs: tables and figures, as a page", "minitx report runs"),
    "dashboard": Command("minitx.dashboard", "live curves in the browser", "minitx dashboard"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` (the process's own arguments unless given) and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments or os.environ.get("HYDRA_FULL_ERROR") == "1"
    arguments = [argument for argument in arguments if argument != "--debug"]
    if sys.stderr is None:  # closed; what is meant for it must not land in what is opened next
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    try:
        status = _run(arguments)
        if sys.stdout is not None:
            with writing(STANDARD_OUTPUT):
                sys.stdout.flush()
        return status
    except SystemExit as ended:
        # Rich meets a reader that has gone by leaving with status 1.
        if isinstance(ended.__context__, BrokenPipeError):
            return BROKEN_PIPE
        raise
    except BrokenPipeError:
        # The reader of our output has gone (`minitx … | head`). Python's own flush at exit must not complain either.
        drop_unwritten()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print("minitx: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            drop_unwritten()
            error = UserError(unwritable(error.filename or "the output", error))
        return _report(error)


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(help_text(), end="")
        return 0
    if arguments[0] == "--version":
        print(f"minitx {_version()}")
        return 0
    for name, command in COMMANDS.items():
        words = name.split()
        if arguments[: len(words)] == words:
            return importlib.import_module(command.module).main(arguments[len(words) :]) or 0
    return _not_a_command(arguments)


def _not_a_command(arguments: list[str]) -> int:
    below = [name for name in COMMANDS if name.split()[0] == arguments[0]]
    if below and arguments[1:] in (["-h"], ["--help"]):  # `minitx data --help`: only `data check` exists
        print(help_text(below), end="")
        return 0
    from difflib import get_close_matches

    typed = " ".join(arguments[:2] if below else arguments[:1])
    close = below or get_close_matches(typed, [*COMMANDS], n=1, cutoff=0.5)
    guess = f"did you mean `minitx {close[0]}`?" if close else f"choose one of {', '.join(COMMANDS)}."
    raise UserError(f"There is no command {typed}; {guess}")


def _report(error: Exception) -> int:
    """Say what went wrong on standard error, in a line or two, and return the exit status."""
    words = " ".join(str(error).split())
    if isinstance(error, UserError):
        print(f"minitx: {words}", file=sys.stderr)
        return 2
    if signal_number := getattr(error, "signal_number", None):  # minitx.training.interruption.Interrupted
        print(f"minitx: {words}", file=sys.stderr)
        return 128 + int(signal_number)
    if type(error).__name__ == "SweepFailed":
        print(f"minitx: {error}", file=sys.stderr)
        return 1
    notes = [*getattr(error, "__notes__", []), "Add --debug for the traceback."]
    print(f"minitx: a fault of minitx, not yours: {type(error).__name__}: {words}", *notes, file=sys.stderr)
    return 1


def help_text(names: Sequence[str] = tuple(COMMANDS)) -> str:
    """What `minitx --help` prints."""
    width = max(map(len, names))
    lines = ["Usage: minitx COMMAND …", "", "Commands:"]
    lines += [f"  {name.ljust(width)}  {COMMANDS[name].summary}" for name in names]
    lines += ["", "Examples:", *(f"  {COMMANDS[name].example}" for name in names), ""]
    lines += ["`minitx COMMAND --help` says more. --debug shows the traceback of an error, --version the version."]
    return "\n".join(lines) + "\n"


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("minitx")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
