"""The one place that uses the network: a model of the catalogue, downloaded when the user asked for it.

What has come stays in a `.part` file and is gone on from, however the last try ended. The file takes its name
only when it has the catalogue's hash, so a server can waste our time but cannot give us anything else.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import ssl
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Self

import httpx
import truststore

from engine.errors import Code, EngineError
from engine.models.catalog import CatalogEntry, human_size, url
from engine.models.disk import check_space, writing
from engine.models.ggml import read_model
from engine.models.hashing import pour
from engine.models.speed import DownloadProgress, Speedometer
from engine.models.store import ModelStore, StoredModel, parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SILENCE = 30.0  # seconds without a byte before a connection counts as dead
_PAUSES = (1.0, 2.0, 4.0, 8.0)  # seconds before each further try; after the last, the download has failed
_ENOUGH = 1 << 20  # bytes a try must bring so that the next failure counts as the first
_LONGEST_PAUSE = 60.0  # whatever a server asks for
_COME_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


def download(
    entry: CatalogEntry,
    store: ModelStore,
    progress: DownloadProgress | None = None,
    base_url: str | None = None,
    silence: float = _SILENCE,
    pauses: Sequence[float] = _PAUSES,
) -> StoredModel:
    """Bring a model into the store; at once when it is there. To cancel, raise in `progress` or kill the process.

    EngineError DOWNLOAD_FAILED (what came is kept, try again), DOWNLOAD_WRONG (what came was thrown away),
    MODEL_BUSY (another process does it), ALREADY_THERE (an import has the name), DISK_FULL, NOT_WRITABLE.
    """
    address = _address(entry, base_url)
    with store.lock(entry.name):
        if stored := _already_there(entry, store):
            return stored
        part_file, file = store.part(entry), store.file(entry.name)
        with writing(file):
            for other in parts_of(file):  # of another revision
                if other != part_file:
                    other.unlink()
        with _Part(part_file, entry) as part:
            check_space(store.folder, entry.bytes - part.done)
            _fetch(address, part, Speedometer(progress, entry.bytes), silence, pauses)
            part.check()
        with writing(file):
            part_file.replace(file)  # if a power cut undoes this, the whole .part is found again
        return store.register(entry.name, "download", _without_password(address), entry.sha256)


class _Part:
    """The file of what has come so far; its hash grows with it."""

    def __init__(self, path: Path, entry: CatalogEntry) -> None:
        self._path = path
        self.entry = entry
        with writing(path):
            self._file = path.open("a+b", buffering=0)
            self._file.seek(0)
            self._digest = hashlib.sha256()
            self.done = pour(self._file, self._digest.update)
        if self.done > entry.bytes:
            self.start_over()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if not self.done:
            self._path.unlink(missing_ok=True)

    @property
    def missing(self) -> int:
        return self.entry.bytes - self.done

    def write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        with writing(self._path):
            while rest:  # a disk that fills up takes a piece first
                rest = rest[self._file.write(rest) :]
        self._digest.update(chunk)
        self.done += len(chunk)

    def start_over(self) -> None:
        with writing(self._path):
            self._file.truncate(0)
        self._digest = hashlib.sha256()
        self.done = 0

    def wrong(self, what: str) -> EngineError:
        """Throw away what has come, as nothing in it can be believed."""
        self._file.close()
        with writing(self._path):
            self._path.unlink()
        return EngineError(Code.DOWNLOAD_WRONG, f"{self.entry.file}: {what}.")

    def check(self) -> None:
        if self._digest.hexdigest() != self.entry.sha256:
            raise self.wrong(f"it has the SHA-256 {self._digest.hexdigest()}, not {self.entry.sha256}")
        with writing(self._path):
            os.fsync(self._file.fileno())
        read_model(self._path)


class _InterruptedError(Exception):
    """This try is over, another may succeed; `pause` is what the server asks for, in seconds."""

    def __init__(self, why: str, pause: float = 0.0) -> None:
        super().__init__(why)
        self.why = why
        self.pause = pause


def _already_there(entry: CatalogEntry, store: ModelStore) -> StoredModel | None:
    """Return the model if it is here and in order; None if it has to be downloaded, over a damaged one too."""
    stored = store.get(entry.name)
    if stored is None:
        return None
    if stored.origin == "import" and not stored.official:
        raise EngineError(Code.ALREADY_THERE, f"{entry.name} was imported; remove it to download it instead.")
    try:
        store.path(entry.name)
    except EngineError as error:
        if error.code in {Code.MODEL_DAMAGED, Code.MODEL_CHANGED}:
            return None
        raise
    return store.get(entry.name)


def _fetch(address: httpx.URL, part: _Part, speed: Speedometer, silence: float, pauses: Sequence[float]) -> None:
    """Try until all bytes are there; as often as `pauses` says in a row without getting anywhere."""
    failures = 0
    with _client(address, silence) as client:
        while part.missing:
            before = part.done
            try:
                _try(client, address, part, speed)
            except _InterruptedError as interruption:
                failures = 1 if part.done - before >= _ENOUGH else failures + 1
                if failures > len(pauses):
                    raise _failed(part, interruption.why) from interruption
                time.sleep(max(pauses[failures - 1], interruption.pause))


def _try(client: httpx.Client, address: httpx.URL, part: _Part, speed: Speedometer) -> None:
    """Ask for what is missing and take it as it comes; _InterruptedError if it ends early."""
    headers = {"Range": f"bytes={part.done}-"} if part.done else {}
    try:
        with client.stream("GET", address, headers=headers) as response:
            _accept(response, part)
            for chunk in response.iter_raw():  # as it comes: nothing is lost in a buffer if it is cut
                if len(chunk) > part.missing:
                    raise part.wrong(f"the server sends more than its {part.entry.bytes} bytes")
                part.write(chunk)
                speed.tell(part.done)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        if not part.done:  # nobody there, or no network at all: say so at once
            raise _failed(part, _why(error)) from error
        raise _InterruptedError(_why(error)) from error
    except httpx.TransportError as error:
        raise _InterruptedError(_why(error)) from error
    except httpx.TooManyRedirects as error:
        raise _failed(part, "the server sends us in circles") from error
    if part.missing:
        raise _InterruptedError("the server stopped early")


def _accept(response: httpx.Response, part: _Part) -> None:
    """Look at the head of an answer: afterwards its body goes on where the part ends."""
    status = response.status_code
    if status == HTTPStatus.PARTIAL_CONTENT:
        match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if match and match[2] not in {"*", str(part.entry.bytes)}:
            raise _other_file(part, match[2])
        if match is None or int(match[1]) != part.done:
            part.start_over()
            raise _InterruptedError("the server went on at the wrong place")
    elif status == HTTPStatus.OK:
        length = response.headers.get("Content-Length", str(part.entry.bytes))
        if length != str(part.entry.bytes):
            raise _other_file(part, length)
        if part.done:  # it cannot go on, it can only begin again
            part.start_over()
    elif status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and part.done:
        part.start_over()
        raise _InterruptedError("the server has no such part of the file")
    elif status in _COME_AGAIN:
        raise _InterruptedError(f"the server answered {status}", _pause(response.headers.get("Retry-After", "")))
    else:
        raise _failed(part, f"the server answered {status} {response.reason_phrase}")


def _client(address: httpx.URL, silence: float) -> httpx.Client:
    """Trust what the system trusts, use its proxy (never for this machine), follow to safe addresses only."""

    def check(request: httpx.Request) -> None:
        _check_address(request.url, loopback_is_fine=_is_loopback(address))

    try:
        return httpx.Client(
            verify=truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            trust_env=not _is_loopback(address),
            follow_redirects=True,
            timeout=httpx.Timeout(silence),
            headers={"Accept-Encoding": "identity", "User-Agent": "Sottovoce"},
            event_hooks={"request": [check]},
        )
    except (ValueError, ImportError) as error:  # a proxy setting that httpx cannot use, such as SOCKS
        raise EngineError(Code.DOWNLOAD_FAILED, f"The system's proxy setting cannot be used: {error}") from error


def _address(entry: CatalogEntry, base_url: str | None) -> httpx.URL:
    try:
        address = httpx.URL(url(entry, base_url))
    except httpx.InvalidURL as error:
        raise EngineError(Code.DOWNLOAD_FAILED, f"{url(entry, base_url)!r} is not an address: {error}") from error
    _check_address(address, loopback_is_fine=_is_loopback(address))
    return address


def _check_address(address: httpx.URL, loopback_is_fine: bool) -> None:
    safe = address.scheme == "https" and address.host
    if not safe and not (loopback_is_fine and address.scheme == "http" and _is_loopback(address)):
        raise EngineError(Code.DOWNLOAD_FAILED, f"{_without_password(address)} is not a secure address (https).")


def _without_password(address: httpx.URL) -> str:
    return str(address.copy_with(userinfo=b""))


def _is_loopback(address: httpx.URL) -> bool:
    try:
        return ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return address.host == "localhost"


def _pause(retry_after: str) -> float:
    """Read how long a server wants to be left alone; dates, which it may also name, are not waited for."""
    return min(float(retry_after), _LONGEST_PAUSE) if retry_after.isdecimal() else 0.0


def _why(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the server fell silent"
    return str(error) or type(error).__name__


def _other_file(part: _Part, size: str) -> EngineError:
    """Refuse what is announced; what has come before may still be right, and is kept."""
    return EngineError(Code.DOWNLOAD_WRONG, f"{part.entry.file} has {size} bytes there, not {part.entry.bytes}.")


def _failed(part: _Part, why: str) -> EngineError:
    kept = f" {human_size(part.done)} of {human_size(part.entry.bytes)} are here already." if part.done else ""
    return EngineError(Code.DOWNLOAD_FAILED, f"{part.entry.name}: {why}.{kept}")
