"""A small model in a file; a store under an awkward name; a server on this machine that obeys."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from engine.errors import Code, EngineError
from engine.models import catalog
from engine.models.catalog import CatalogEntry
from engine.models.download import download
from engine.models.store import ModelStore, StoredModel
from tests.engine.small_models import Small

AWKWARD = "Mödelle ☃ 模型 'q'"


@pytest.fixture(scope="session")
def small_file(small: Small, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole model of 3 MB (q4_0). Copy it before you harm it."""
    return small.write(tmp_path_factory.mktemp("small") / "ggml-small one.bin")


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    folder = tmp_path / AWKWARD
    folder.mkdir()
    return ModelStore(folder)


@pytest.fixture
def entry(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> CatalogEntry:
    """The small model as the one entry of the catalogue."""
    body = small_file.read_bytes()
    entry = CatalogEntry("tiny", len(body), hashlib.sha256(body).hexdigest())
    monkeypatch.setattr(catalog, "CATALOG", (entry,))
    return entry


Reply = Callable[["Answer"], None]


class Answer(BaseHTTPRequestHandler):
    """One answer of the server: what `Server.script` says next, else the file, from where it was asked for."""

    protocol_version = "HTTP/1.1"
    server: Server  # type: ignore[assignment]

    def do_GET(self) -> None:
        self.server.ranges.append(self.headers.get("Range"))
        reply = self.server.script.pop(0) if self.server.script else Answer.properly
        try:
            reply(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client went away

    @property
    def asked_from(self) -> int:
        return int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").removesuffix("-"))

    @property
    def rest(self) -> bytes:
        return self.server.body[self.asked_from :]

    def properly(self) -> None:
        self.part(self.asked_from, self.rest)

    def whole(self) -> None:
        """Send everything, whatever was asked for."""
        del self.headers["Range"]
        self.part(0, self.server.body)

    def slowly(self, count: int, pause: float) -> None:
        """Send what was asked for, `count` bytes at a time."""
        body = self.rest
        self.part(self.asked_from, b"", claim=len(body))
        for start in range(0, len(body), count):
            self.wfile.write(body[start : start + count])
            time.sleep(pause)

    def part(self, start: int, body: bytes, claim: int | None = None) -> None:
        """Send `body` as what begins at `start`; with a `claim` of more bytes the connection is cut after it."""
        total = len(self.server.body)
        self.send_response(206 if self.headers.get("Range") else 200)
        if self.headers.get("Range"):
            self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        self.send_header("Content-Length", str(len(body) if claim is None else claim))
        self.end_headers()
        self.wfile.write(body)
        if claim is not None:
            self.close_connection = True

    def empty(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def chunked(self, body: bytes) -> None:
        """Send a body whose length is not announced."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its own name)
        pass


@dataclass
class Server(ThreadingHTTPServer):
    """A web server on this machine with one file, `body`, under any path."""

    body: bytes
    script: list[Reply] = field(default_factory=list[Reply])
    ranges: list[str | None] = field(default_factory=list[str | None])  # what each request asked for
    scheme: str = "http"

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)

    def status(self, number: int, **headers: str) -> Reply:
        """An answer without a body."""
        return lambda answer: answer.empty(number, **headers)

    def cut_after(self, count: int) -> Reply:
        """The right answer, whose connection breaks after `count` bytes of it."""
        return lambda answer: answer.part(answer.asked_from, answer.rest[:count], claim=len(answer.rest))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when the client went away, which some tests make it do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}/models"


@pytest.fixture
def server(small_file: Path) -> Iterator[Server]:
    with Server(small_file.read_bytes()) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@dataclass(frozen=True, slots=True)
class Downloads:
    """Downloads of one model from the server, with nothing to wait for between tries."""

    entry: CatalogEntry
    store: ModelStore
    server: Server

    def get(self, silence: float = 5.0) -> StoredModel:
        return download(self.entry, self.store, base_url=self.server.url, pauses=(0.0, 0.0, 0.0), silence=silence)

    def fails(self, code: Code, silence: float = 5.0) -> str:
        """Download what must fail: nothing takes the model's name. What the user is told."""
        with pytest.raises(EngineError) as caught:
            self.get(silence)
        assert caught.value.code is code, caught.value
        assert self.store.list() == ()
        return caught.value.detail

    @property
    def kept(self) -> int | None:
        """How many bytes wait to be gone on from."""
        part = self.store.part(self.entry)
        return part.stat().st_size if part.exists() else None

    def begin(self, count: int) -> None:
        """Leave the beginning of the file, as an earlier download would."""
        self.store.part(self.entry).write_bytes(self.server.body[:count])


@pytest.fixture
def downloads(entry: CatalogEntry, store: ModelStore, server: Server) -> Downloads:
    return Downloads(entry, store, server)
