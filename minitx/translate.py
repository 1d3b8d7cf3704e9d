"""The command `minitx translate`: as many lines out as in, from a file, a pipe or a prompt.

`minitx.translator` is what it calls, and what a Python program uses.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from minitx.data.lines import decode_lines, read_lines
from minitx.errors import UserError
from minitx.heatmap import check_format
from minitx.loading import load_run
from minitx.output import STANDARD_OUTPUT, writing
from minitx.training.machine import prepare_process
from minitx.translation_pool import Lines, TranslationPool
from minitx.translator import Translation, Translator

__all__ = ["Translation", "Translator", "main"]

CHUNK = 2000
"""Lines that are read, sorted into batches and written together: memory does not grow with the file."""
SHARE = 512
"""The same for each of several processes."""
EXAMPLES = """examples:
  minitx translate runs/RUN < in.txt > out.txt              N lines in, N lines out
  minitx translate runs/RUN in.txt.gz --output out.txt --beam-size 5 --n-best 5 --scores
  minitx translate runs/RUN                                 at a terminal: one sentence at a time
  echo "A dog runs." | minitx translate runs/RUN --attention dog.png

An empty line gives an empty line. A line longer than the model's max_length is refused, by number; with --split-long
it is cut at its sentence ends, translated piece by piece and joined again. It is never shortened.
With --n-best K every line gives K lines, best first.
"""


def main(argv: Sequence[str]) -> int:
    """Translate what `argv` names; the exit status is 0.

    Raises:
        UserError: the run, an option or a line is at fault.
    """
    arguments = _parser().parse_intermixed_args(argv)
    if arguments.attention:
        check_format(arguments.attention)
    file = None if arguments.file in (None, Path("-")) else arguments.file
    if file and arguments.output and arguments.output.exists() and file.exists() and file.samefile(arguments.output):
        raise UserError(f"{file} cannot be both what is read and --output: give another name.")
    if arguments.processes < 1:
        raise UserError(f"--processes {arguments.processes}: there must be at least 1.")
    if arguments.processes > 1 and arguments.device not in ("auto", "cpu"):
        raise UserError(f"--processes shares out a CPU: leave it out with --device {arguments.device}.")
    if not file and sys.stdin is None:
        raise UserError("Standard input is closed: name the file to translate.")
    if not arguments.output and sys.stdout is None:
        raise UserError("Standard output is closed: give --output FILE.")
    prepare_process(None)
    command = _Command(arguments)
    if file and file.is_file():  # a pipe by name can be read only once
        command.check(read_lines(file), str(file))
    with _Output(arguments.output) as output:
        if file:
            command.translate(read_lines(file), str(file), output)
        elif sys.stdin.isatty():
            command.converse(output)
        else:
            command.translate(_standard_input(), "standard input", output)
    return 0


class _Command:
    """The translator and the options that say what becomes of its translations."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        names = ("beam_size", "length_penalty", "max_length", "batch_size")
        search = {name: getattr(arguments, name) for name in names}
        self.arguments = arguments
        run = load_run(arguments.run, arguments.checkpoint, arguments.device)
        self.n_best, self.scores = arguments.n_best, arguments.scores
        self.attention, self.layer = arguments.attention, arguments.layer
        self.options = {"split_long": arguments.split_long, "n_best": self.n_best, **search}
        self.translator = Translator(run, **self.options)

    def check(self, lines: Iterable[str], name: str) -> None:
        """See that every line can be translated, before hours of work on those ahead of one that cannot."""
        for part in _parts(lines, name, CHUNK):
            self.translator.pieces(part.texts, part.numbered)

    def translate(self, lines: Iterable[str], name: str, output: _Output) -> None:
        """Translate the `lines` of what messages call `name`, and write `output`."""
        if self.attention:
            lines = self._draw_only_sentence(lines)
        work = self._alone if self.arguments.processes == 1 else self._shared_out
        with _Progress() as progress:
            for part, found in work(lines, name, progress):
                output.write("".join(map(self._lines, found)))
                progress.part_done(len(part.texts))

    def _alone(self, lines: Iterable[str], name: str, progress: _Progress) -> Iterator[_Translated]:
        for part in _parts(lines, name, CHUNK):
            yield part, self.translator.hypotheses(part.texts, part.numbered, progress.within_part)

    def _shared_out(self, lines: Iterable[str], name: str, progress: _Progress) -> Iterator[_Translated]:
        arguments = self.arguments
        where = {"checkpoint": arguments.checkpoint, "device": "cpu"}
        with TranslationPool(arguments.processes, arguments.run, **where, **self.options) as pool:
            yield from pool.translate(_parts(lines, name, SHARE))

    def converse(self, output: _Output) -> None:
        """Translate sentence by sentence at a terminal until the input ends."""
        print("One sentence a line; Ctrl-D ends.", file=sys.stderr)
        while True:
            print("> ", end="", file=sys.stderr, flush=True)
            typed = sys.stdin.buffer.readline()
            if not typed:
                print(file=sys.stderr)
                return
            try:
                [line] = decode_lines([typed], "standard input")
                found = self.translator.hypotheses([line], lambda _: "This line")[0]
                if self.attention and found:
                    self.translator.draw_attention(line, self.attention, self.layer)
            except UserError as error:
                print(error, file=sys.stderr)
            else:
                output.write(self._lines(found))

    def _draw_only_sentence(self, lines: Iterable[str]) -> list[str]:
        few = list(islice(lines, CHUNK))
        sentences = [line for line in few if line.strip()]
        if len(sentences) != 1:
            count = "none" if not sentences else "several"
            raise UserError(f"--attention draws one sentence, and the input has {count}: give it that sentence alone.")
        self.translator.draw_attention(sentences[0], self.attention, self.layer)
        return few

    def _lines(self, found: list[Translation]) -> str:
        """The output lines of one input line: always `n_best` of them."""
        lines = []
        for rank in range(self.n_best):
            translation = found[rank] if rank < len(found) else None
            text = translation.text if translation else ""
            score = f"{translation.score:.4f}" if translation else ""
            lines.append(f"{score}\t{text}\n" if self.scores else f"{text}\n")
        return "".join(lines)


class _Progress:
    """How many lines are done, on standard error, where that is a terminal that the translations do not go to."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, TextColumn, TimeElapsedColumn

        quiet = not sys.stderr.isatty() or sys.stdout.isatty()
        columns = TextColumn("{task.completed:,.0f} lines translated"), TimeElapsedColumn()
        self._bar = Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True)
        self._task = self._bar.add_task("", total=None)
        self._done = 0

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def within_part(self, done: int) -> None:
        self._bar.update(self._task, completed=self._done + done)

    def part_done(self, lines: int) -> None:
        self._done += lines
        self._bar.update(self._task, completed=self._done)


_Translated = tuple[Lines, list[list[Translation]]]


def _parts(lines: Iterable[str], name: str, size: int) -> Iterator[Lines]:
    """Lines in groups of at most `size`."""
    remaining, first = iter(lines), 1
    while texts := list(islice(remaining, size)):
        yield Lines(name, first, texts)
        first += len(texts)


def _standard_input() -> Iterator[str]:
    try:
        yield from decode_lines(sys.stdin.buffer, "standard input")
    except OSError as error:  # a directory, for instance
        raise UserError(f"Cannot read standard input: {error.strerror or error}.") from error


class _Output:
    """The file called `path`, or standard output: what is written is there at once, or a UserError says why not."""

    def __init__(self, path: Path | None) -> None:
        self._name = path or STANDARD_OUTPUT
        with writing(self._name):
            # Unbuffered: after a failure nothing is left that closing would try to write again.
            self._stream = cast(BinaryIO, path.open("wb", buffering=0) if path else sys.stdout.buffer)
        self._own = path is not None

    def __enter__(self) -> _Output:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            with writing(self._name):
                self._stream.close()

    def write(self, text: str) -> None:
        rest = memoryview(text.encode())
        with writing(self._name):
            while rest:  # an unbuffered file may take a part
                rest = rest[self._stream.write(rest) :]
            self._stream.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="minitx translate",
        description="Translate lines of text with the model of a run.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help="a run directory")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="text, plain or .gz; else standard input")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where translations go; else standard output")
    add_search_options(parser)
    parser.add_argument("--n-best", type=int, default=1, metavar="K", help="translations of each line (1)")
    parser.add_argument("--scores", action="store_true", help="put log P / length penalty and a tab before each")
    parser.add_argument("--split-long", action="store_true", help="cut lines that are too long at sentence ends")
    parser.add_argument(
        "--processes", type=int, default=1, metavar="N", help="on a CPU: one a core for large files (1)"
    )
    parser.add_argument("--attention", type=Path, metavar="FILE.png|svg", help="draw the sentence's cross-attention")
    parser.add_argument("--layer", type=int, metavar="L", help="with --attention: the heads of this decoder layer")
    return parser


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """The options that `translate` and `evaluate` have in common."""
    parser.add_argument("--beam-size", type=int, metavar="K", help="width of the beam, 1: greedy (the run's own)")
    parser.add_argument("--length-penalty", type=float, metavar="α", help="of Wu et al. 2016, 0: none (the run's own)")
    parser.add_argument("--max-length", type=int, metavar="N", help="most tokens of a translation (its source's + 50)")
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help="sentences at once; changes speed only")
    parser.add_argument("--checkpoint", metavar="NAME", help="final, best, last or a file name (final if there is one)")
    parser.add_argument("--device", default="auto", metavar="NAME", help="cpu, cuda, cuda:1, … (cuda if there is one)")
