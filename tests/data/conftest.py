"""Small corpora in each shape, and a stand-in for the Hub that serves files of its own."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

SENTENCES = [(f"A house with {i} doors.", f"Ein Haus mit {i} Türen.") for i in range(40)]


@pytest.fixture
def pairs() -> list[tuple[str, str]]:
    """Forty aligned English and German sentences."""
    return list(SENTENCES)


@pytest.fixture
def write_text(tmp_path: Path) -> Callable[..., Path]:
    """Write text files: `write_text({"train.en": "A house.\\n"})`; returns their directory."""

    def write(files: dict[str, str | bytes], below: str = "text") -> Path:
        directory = tmp_path / below
        directory.mkdir(exist_ok=True)
        for name, content in files.items():
            (directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return directory

    return write


@pytest.fixture
def corpus_directory(write_text: Callable[..., Path]) -> Path:
    """The forty pairs as training, validation and test text."""
    sides = {"en": "".join(f"{en}\n" for en, _ in SENTENCES), "de": "".join(f"{de}\n" for _, de in SENTENCES)}
    return write_text({f"{split}.{side}": text for split in ("train", "val", "test") for side, text in sides.items()})


class FakeHub:
    """Datasets by id, each a dict of file names and contents, served as the Hub's API does."""

    commit = "c" * 40

    def __init__(self) -> None:
        self.datasets: dict[str, dict[str, bytes]] = {}
        self.requests: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        self.requests.append(path)
        if path == "/":
            return 200, b"", {}
        if match := re.match(r"/datasets/([^/]+/[^/]+)/resolve/[^/]+/(.*)", path):
            return self._file(*match.groups())
        if match := re.match(r"/api/datasets/([^/]+/[^/]+?)(?:/(revision|tree|paths-info)/[^/]+.*)?$", path):
            return self._description(*match.groups(), body)
        return 404, b"", {}

    def _file(self, dataset: str, name: str) -> tuple[int, bytes, dict[str, str]]:
        files = self.datasets.get(dataset)
        if files is None or name not in files:
            missing = "RepoNotFound" if files is None else "EntryNotFound"
            return 404, b"", {"X-Error-Code": missing, "X-Repo-Commit": self.commit}
        etag = hashlib.sha1(files[name]).hexdigest()
        return 200, files[name], {"ETag": f'"{etag}"', "X-Repo-Commit": self.commit}

    def _description(self, dataset: str, what: str | None, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        files = self.datasets.get(dataset)
        if files is None:
            return 404, b"", {"X-Error-Code": "RepoNotFound"}
        entries = [
            {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
            for name, content in files.items()
        ]
        if what == "paths-info":
            entries = [entry for entry in entries if entry["path"] in json.loads(body)["paths"]]
        siblings = [{"rfilename": name} for name in files]
        description = {"id": dataset, "sha": self.commit, "siblings": siblings, "private": False, "tags": []}
        answer = entries if what in ("tree", "paths-info") else description
        return 200, json.dumps(answer).encode(), {"Content-Type": "application/json"}

    def _handler(hub) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, content, headers = hub.answer(unquote(urlparse(self.path).path), body)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_HEAD = do_GET = do_POST = respond

            def log_message(self, *arguments: object) -> None:
                """Nothing on stderr."""

        return Handler


@pytest.fixture
def fake_hub() -> Iterator[FakeHub]:
    """A running `FakeHub`; its address goes into HF_ENDPOINT of a fresh process."""
    hub = FakeHub()
    yield hub
    hub.stop()
