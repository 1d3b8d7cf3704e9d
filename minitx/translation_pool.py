"""Several processes that translate side by side: on a CPU, one thread each keeps the cores busier than one process."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from minitx.errors import UserError
from minitx.translator import Translation, Translator


class Lines(NamedTuple):
    """Lines to translate: what messages call the whole, the number of the first line, and the texts."""

    name: str
    first: int
    texts: list[str]

    def numbered(self, number: int) -> str:
        """What messages call the text of a number, counted from 1."""
        return f"{self.name}, line {self.first + number - 1}"


class TranslationPool:
    """`processes` processes with a translator each. Use it as a context manager.

    Args:
        processes: how many.
        path, options: as for `Translator.from_run`.
    """

    def __init__(self, processes: int, path: str | Path, **options: Any) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads that hold locks
        self.ahead = 2 * processes
        self.executor = ProcessPoolExecutor(processes, context, _start, (path, options))

    def __enter__(self) -> TranslationPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)

    def translate(self, parts: Iterable[Lines]) -> Iterator[tuple[Lines, list[list[Translation]]]]:
        """Each part with its translations, in the order of `parts`, of which only a few are read ahead.

        Raises:
            UserError: as `Translator.translate`; or a process was killed.
        """
        waiting: deque[tuple[Lines, Future[list[list[Translation]]]]] = deque()
        try:
            for part in parts:
                waiting.append((part, self.executor.submit(_translate, part)))
                if len(waiting) > self.ahead:
                    yield _result(*waiting.popleft())
            while waiting:
                yield _result(*waiting.popleft())
        except BrokenProcessPool as error:
            raise UserError(
                "A translating process was killed, most likely because memory ran out: use fewer with --processes."
            ) from error


def _result(part: Lines, future: Future[list[list[Translation]]]) -> tuple[Lines, list[list[Translation]]]:
    return part, future.result()


_translator: Translator | None = None  # of this process


def _start(path: str | Path, options: dict[str, Any]) -> None:
    """Load the run in a new process. Ctrl-C reaches all processes; the first one decides what it means."""
    global _translator
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    from minitx.training.machine import prepare_process

    prepare_process(1)
    _translator = Translator.from_run(path, **options)


def _translate(lines: Lines) -> list[list[Translation]]:
    assert _translator is not None
    return _translator.hypotheses(lines.texts, lines.numbered)
