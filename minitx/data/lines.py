"""The lines of a text file, ended by ``\\n`` and by nothing else."""

from __future__ import annotations

import gzip
import hashlib
import stat
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import BufferedReader
from pathlib import Path

from minitx.errors import UserError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, plain or ``.gz``, without their ends (``\\n`` or ``\\r\\n``) and the byte order mark.

    ``str.splitlines`` would also split at U+2028, U+0085, VT, FF and others, which stand inside sentences of real
    corpora and would shift one side of the pairs against the other. A last line without an end counts.

    Raises:
        UserError: the file cannot be read, or is not UTF-8 (with the line and the byte offset).
    """
    try:
        with _open(path) as stream:
            yield from decode_lines(stream, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path} is damaged or not gzip ({error}): get the file again.") from error
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error


def decode_lines(stream: Iterable[bytes], name: Path | str) -> Iterator[str]:
    """`read_lines` for a binary stream that is open already, such as standard input; messages call it ``name``.

    Raises:
        UserError: it is not UTF-8 (with the line and the byte offset).
    """
    start = 0
    for number, line in enumerate(stream, start=1):
        yield _decode(line, name, number, start)
        start += len(line)


def one_line(text: str) -> str:
    """``text`` with each line break in it as a blank, whatever any tool takes for one: it fills one line of a file.

    A model of bytes may spell them; as many translations as sentences must stay as many lines.
    """
    return " ".join(text.splitlines())


def sentence(line: str) -> str:
    """The sentence on a line: NFC, no white space at its edges, a line break inside (JSON may hold one) as a blank.

    The ids, the references and what `minitx translate` reads are all made from this form.
    """
    if "\n" in line or "\r" in line:
        line = line.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    return unicodedata.normalize("NFC", line.strip())


def content_hash(path: Path) -> str:
    """A hash of the file's bytes (1.5 GB/s or so: under a second for millions of pairs).

    Raises:
        UserError: the file cannot be read, or only once, as a pipe can.
    """
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise UserError(f"{path} is not a file that can be read more than once: save its lines in a file first.")
        return _hash_of(path, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise UserError(f"Cannot read {path}: {error.strerror or error}.") from error


@lru_cache(maxsize=256)
def _hash_of(path: Path, size: int, modified: int) -> str:
    """Once in a process for a file that has not changed since: the tokenizer and the pairs both ask for it."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _open(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _decode(line: bytes, path: Path | str, number: int, start: int) -> str:
    body = line.removesuffix(b"\n").removesuffix(b"\r")
    if number == 1:
        body = body.removeprefix(BYTE_ORDER_MARK)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        skipped = len(BYTE_ORDER_MARK) if number == 1 and line.startswith(BYTE_ORDER_MARK) else 0
        offset = start + skipped + error.start
        guess = "it looks like UTF-16" if line[:2] in (b"\xff\xfe", b"\xfe\xff") and number == 1 else "invalid UTF-8"
        raise UserError(
            f"{path}, line {number}, byte offset {offset}: {guess} (byte 0x{body[error.start]:02x}). "
            "Convert the file to UTF-8, with iconv for instance."
        ) from error
