"""Downloads against a server on this machine that misbehaves in every way we know of."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import Code, EngineError
from engine.models import catalog
from engine.models.catalog import CatalogEntry
from engine.models.download import download
from engine.models.importers import import_model
from engine.models.store import ModelStore, StoredModel

if TYPE_CHECKING:
    from tests.engine.models.conftest import Answer, Server

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
HALF = 1_500_000  # bytes: about half of the small model, and enough for a try to count as a success
AT_ONCE = (0.0, 0.0, 0.0)


def get(entry: CatalogEntry, store: ModelStore, server: Server, **more: float) -> StoredModel:
    return download(entry, store, base_url=server.url, pauses=AT_ONCE, silence=more.get("silence", 5.0))


def fails(code: Code, entry: CatalogEntry, store: ModelStore, server: Server, **more: float) -> str:
    """Download what must fail: nothing takes the model's name. What the user is told."""
    with pytest.raises(EngineError) as caught:
        get(entry, store, server, **more)
    assert caught.value.code is code, caught.value
    assert store.list() == ()
    return caught.value.detail


def cut_after(count: int) -> Callable[[Answer], None]:
    return lambda answer: answer.part(answer.asked_from, answer.rest[:count], claim=len(answer.rest))


def status(number: int, **headers: str) -> Callable[[Answer], None]:
    return lambda answer: answer.empty(number, **headers)


def kept(entry: CatalogEntry, store: ModelStore) -> int | None:
    """How many bytes wait to be gone on from."""
    return store.part(entry).stat().st_size if store.part(entry).exists() else None


def begun(entry: CatalogEntry, store: ModelStore, server: Server, count: int = HALF) -> None:
    store.part(entry).write_bytes(server.body[:count])


def test_a_model_is_downloaded_checked_and_recorded(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    stored = get(entry, store, server)
    assert stored.path.read_bytes() == server.body
    assert (stored.name, stored.origin, stored.official, stored.sha256) == ("tiny", "download", True, entry.sha256)
    assert stored.source == f"{server.url}/ggml-tiny.bin"
    assert store.list() == (stored,)
    assert store.path("tiny") == stored.path
    assert {file.name for file in store.folder.iterdir()} == {"ggml-tiny.bin", "ggml-tiny.json", "ggml-tiny.lock"}
    assert server.ranges == [None]


def test_what_is_here_is_not_downloaded_again(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    first = get(entry, store, server)
    assert get(entry, store, server) == first
    assert len(server.ranges) == 1


def test_a_file_put_there_by_hand_is_checked_and_not_downloaded_again(
    entry: CatalogEntry, store: ModelStore, server: Server, small_file: Path
) -> None:
    shutil.copy(small_file, store.file("tiny"))
    assert get(entry, store, server).official
    assert server.ranges == []


def test_a_damaged_download_is_replaced(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    path = get(entry, store, server).path
    for harm in (lambda: path.write_text("gone"), lambda: path.write_bytes(server.body[:-1] + b"?")):
        harm()
        assert get(entry, store, server).path.read_bytes() == server.body
        assert store.verify("tiny").official


def test_an_import_of_the_same_name_is_not_replaced(
    entry: CatalogEntry, store: ModelStore, server: Server, small: object, small_file: Path
) -> None:
    other = store.folder / "other"
    other.write_bytes(small_file.read_bytes()[:-1] + b"?")
    before = import_model(other, store, "tiny")
    with pytest.raises(EngineError) as caught:
        get(entry, store, server)
    assert caught.value.code is Code.ALREADY_THERE
    assert store.verify("tiny") == before


def test_a_download_goes_on_where_it_was_stopped(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    begun(entry, store, server)
    assert get(entry, store, server).official
    assert server.ranges == [f"bytes={HALF}-"]


def test_a_download_that_was_whole_but_had_no_name_yet_needs_no_server(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    begun(entry, store, server, entry.bytes)
    assert get(entry, store, server).official
    assert server.ranges == []


def test_a_cut_connection_is_gone_on_from(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.script = [cut_after(HALF), cut_after(1000), cut_after(0)]
    assert get(entry, store, server).official
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={HALF + 1000}-", f"bytes={HALF + 1000}-"]


def test_a_server_that_stays_bad_ends_in_failure_and_what_came_is_kept(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    server.script = [cut_after(HALF), *[cut_after(10)] * 10]
    told = fails(Code.DOWNLOAD_FAILED, entry, store, server)
    assert "2 MB of 3 MB are here already" in told
    assert len(server.ranges) == 1 + len(AT_ONCE)
    assert kept(entry, store) == HALF + 30
    server.script = []
    assert get(entry, store, server).official
    assert server.ranges[-1] == f"bytes={HALF + 30}-"


def test_progress_between_failures_earns_new_tries(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    bad = [status(503)] * len(AT_ONCE)
    server.script = [*bad[1:], cut_after(HALF), *bad[1:]]
    assert get(entry, store, server).official


def test_a_server_that_cannot_go_on_begins_again(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    begun(entry, store, server)
    server.script = [lambda answer: answer.whole()]
    assert get(entry, store, server).official
    assert server.ranges == [f"bytes={HALF}-"]


def test_an_answer_from_the_wrong_place_is_not_taken(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    begun(entry, store, server)
    server.script = [lambda answer: answer.part(HALF - 7, answer.server.body[HALF - 7 :])]
    assert get(entry, store, server).official
    assert server.ranges == [f"bytes={HALF}-", None]


def test_an_answer_that_does_not_say_its_place_is_not_taken(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    begun(entry, store, server)
    server.script = [status(206)]
    assert get(entry, store, server).official
    assert server.ranges == [f"bytes={HALF}-", None]


def test_a_range_that_the_server_does_not_have_is_started_over(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    begun(entry, store, server)
    server.script = [status(416)]
    assert get(entry, store, server).official
    assert server.ranges == [f"bytes={HALF}-", None]


def test_a_part_longer_than_the_file_is_started_over(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    store.part(entry).write_bytes(server.body + b"more")
    assert get(entry, store, server).official
    assert server.ranges == [None]


def test_a_file_of_another_size_is_refused_and_what_came_before_is_kept(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    """A hotel's log-in page answers 200 with a page of its own; what came before is still good."""
    begun(entry, store, server)
    whole, server.body = server.body, b"<html>Please log in</html>"
    server.script = [lambda answer: answer.whole()]
    assert "has 26 bytes there" in fails(Code.DOWNLOAD_WRONG, entry, store, server)
    server.body = whole + b"?"
    server.script = [lambda answer: answer.part(HALF, answer.rest)]
    assert f"has {len(whole) + 1} bytes there" in fails(Code.DOWNLOAD_WRONG, entry, store, server)
    assert kept(entry, store) == HALF


def test_a_body_longer_than_promised_is_stopped(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.script = [lambda answer: answer.chunked(answer.server.body + b"!" * 5_000_000)]
    assert "sends more" in fails(Code.DOWNLOAD_WRONG, entry, store, server)
    assert kept(entry, store) is None


def test_a_body_without_a_length_is_taken_if_it_is_right(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    server.script = [lambda answer: answer.chunked(answer.server.body[:HALF])]
    assert get(entry, store, server).official
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_another_content_is_thrown_away(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.body = server.body[:-1] + b"?"
    assert "SHA-256" in fails(Code.DOWNLOAD_WRONG, entry, store, server)
    assert kept(entry, store) is None


def test_a_spoilt_beginning_is_thrown_away(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    store.part(entry).write_bytes(bytes(HALF))
    assert "SHA-256" in fails(Code.DOWNLOAD_WRONG, entry, store, server)
    assert get(entry, store, server).official


def test_a_beginning_of_another_revision_is_not_gone_on_from(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    begun(replace(entry, sha256="0" * 64), store, server)
    assert get(entry, store, server).official
    assert server.ranges == [None]
    assert not list(store.folder.glob("*.part"))


def test_what_has_the_right_hash_and_is_no_model_is_refused(
    entry: CatalogEntry, store: ModelStore, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.body = b"a catalogue with a mistake in it"
    wrong = CatalogEntry("tiny", len(server.body), hashlib.sha256(server.body).hexdigest())
    monkeypatch.setattr(catalog, "CATALOG", (wrong,))
    fails(Code.MODEL_DAMAGED, wrong, store, server)


def test_a_silent_server_is_left_and_asked_again(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    waiting = threading.Event()

    def stall(answer: Answer) -> None:
        cut_after(HALF)(answer)
        waiting.wait(20)

    server.script = [stall]
    started = time.monotonic()
    assert get(entry, store, server, silence=0.5).official
    waiting.set()
    assert time.monotonic() - started < 15
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_a_server_that_is_always_silent_ends_in_failure(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    waiting = threading.Event()

    def stall(answer: Answer) -> None:
        waiting.wait(20)

    server.script = [stall] * 9
    assert "fell silent" in fails(Code.DOWNLOAD_FAILED, entry, store, server, silence=0.1)
    waiting.set()


@pytest.mark.parametrize("number", [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(entry: CatalogEntry, store: ModelStore, server: Server, number: int) -> None:
    server.script = [status(number, Retry_After="0"), status(number, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT")]
    assert get(entry, store, server).official
    assert len(server.ranges) == 3


def test_a_server_that_asks_for_a_pause_gets_it(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.script = [status(429, Retry_After="1")]
    started = time.monotonic()
    assert get(entry, store, server).official
    assert time.monotonic() - started >= 1


@pytest.mark.parametrize("number", [401, 403, 404, 410, 501])
def test_a_refusal_is_told_at_once(entry: CatalogEntry, store: ModelStore, server: Server, number: int) -> None:
    begun(entry, store, server)
    server.script = [status(number)]
    assert f"answered {number}" in fails(Code.DOWNLOAD_FAILED, entry, store, server)
    assert len(server.ranges) == 1
    assert kept(entry, store) == HALF


def test_a_redirect_is_followed_with_its_range(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    begun(entry, store, server)
    server.script = [status(302, Location="/elsewhere/file?token=1")]
    assert get(entry, store, server).official
    assert server.ranges == [f"bytes={HALF}-"] * 2


@pytest.mark.parametrize("target", ["http://models.example/file", "ftp://models.example/file", "http://10.0.0.1/file"])
def test_a_redirect_to_an_unsafe_address_is_not_followed(
    entry: CatalogEntry, store: ModelStore, server: Server, target: str
) -> None:
    server.script = [status(302, Location=target)]
    assert fails(Code.DOWNLOAD_FAILED, entry, store, server)


def test_a_mirrors_password_is_used_and_not_recorded(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    stored = download(entry, store, base_url=server.url.replace("127", "me:secret@127"))
    assert stored.source == f"{server.url}/ggml-tiny.bin"
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url="http://me:secret@models.example")
    assert "secret" not in str(caught.value)


def test_a_circle_of_redirects_ends(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.script = [status(302, Location="/round")] * 100
    assert "circles" in fails(Code.DOWNLOAD_FAILED, entry, store, server)


@pytest.mark.parametrize(
    "base",
    [
        "http://models.example/x",
        "http://192.168.0.1",
        "ftp://127.0.0.1",
        "file:///etc",
        "https://",
        "x",
        "http://[",
        "https://a:b:c",
    ],
)
def test_only_safe_addresses_are_used(entry: CatalogEntry, store: ModelStore, base: str) -> None:
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url=base)
    assert caught.value.code is Code.DOWNLOAD_FAILED
    assert list(store.folder.iterdir()) == []


def test_without_a_server_it_is_told_at_once(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.server_close()
    started = time.monotonic()
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url=server.url)
    assert caught.value.code is Code.DOWNLOAD_FAILED
    assert time.monotonic() - started < 5
    assert not list(store.folder.glob("*.part"))


def test_a_proxy_is_never_used_for_this_machine(
    entry: CatalogEntry, store: ModelStore, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert get(entry, store, server).official


@pytest.mark.parametrize(
    ("proxy", "why"), [("http://127.0.0.1:9", "refused"), ("gopher://127.0.0.1:9", "proxy setting")]
)
def test_a_proxy_is_used_for_everything_else(
    entry: CatalogEntry, store: ModelStore, monkeypatch: pytest.MonkeyPatch, proxy: str, why: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url="https://models.example")
    assert caught.value.code is Code.DOWNLOAD_FAILED
    assert why in caught.value.detail


def test_progress_is_shown_with_speed_and_ends_at_the_whole(
    entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    seen: list[tuple[int, int, int | None]] = []
    server.script = [lambda answer: answer.slowly(entry.bytes // 5, 0.15)]
    download(entry, store, lambda *told: seen.append(told), server.url)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert {total for _, total, _ in seen} == {entry.bytes}
    assert seen[-1][0] == entry.bytes
    assert 3 <= len(seen) <= 12
    speeds = [speed for _, _, speed in seen if speed]
    assert all(200_000 < speed < 20_000_000 for speed in speeds)
    assert speeds


def test_cancelling_keeps_what_came(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    def stop(done: int, total: int, speed: int | None) -> None:
        if done > HALF:
            raise KeyboardInterrupt

    server.script = [lambda answer: answer.slowly(entry.bytes // 5, 0.15)]
    with pytest.raises(KeyboardInterrupt):
        download(entry, store, stop, server.url)
    had = kept(entry, store)
    assert had
    assert had > HALF
    assert store.list() == ()
    assert get(entry, store, server).official
    assert server.ranges == [None, f"bytes={had}-"]


CHILD = """
import json, resource, sys
from pathlib import Path
from engine.models.catalog import CatalogEntry
from engine.models.download import download
from engine.models.store import ModelStore
folder, url, entry, limit = json.loads(sys.argv[1])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
download(CatalogEntry(*entry), ModelStore(Path(folder)), base_url=url)
"""


def child(entry: CatalogEntry, store: ModelStore, server: Server, limit: int = 0) -> list[str]:
    """The command for a process that downloads the model."""
    what = [str(store.folder), server.url, [entry.name, entry.bytes, entry.sha256], limit]
    return [sys.executable, "-c", CHILD, json.dumps(what)]


def test_a_killed_download_goes_on_where_it_was(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.script = [lambda answer: answer.slowly(100_000, 0.05)]
    with subprocess.Popen(child(entry, store, server)) as process:
        deadline = time.monotonic() + 30
        while (kept(entry, store) or 0) < HALF and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(EngineError) as caught:
            get(entry, store, server)
        assert caught.value.code is Code.MODEL_BUSY, "one download of a model at a time"
        process.send_signal(signal.SIGKILL)
    had = kept(entry, store)
    assert had
    assert HALF <= had < entry.bytes
    assert get(entry, store, server).official
    assert server.ranges == [None, f"bytes={had}-"]


def test_a_limit_on_file_sizes_is_a_full_disk(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    ran = subprocess.run(child(entry, store, server, HALF), capture_output=True, text=True, check=False)
    assert "The disk is full." in ran.stderr
    assert kept(entry, store) == HALF
    assert get(entry, store, server).official
    assert server.ranges == [None, f"bytes={HALF}-"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], ModelStore]]:
    """Stores on small disks: give a size."""
    mounted: list[Path] = []

    def mount(size: str) -> ModelStore:
        mounted.append(tmp_path / f"disk ö {len(mounted)}")
        mounted[-1].mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", mounted[-1]], check=True)
        return ModelStore(mounted[-1])

    yield mount
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


@as_root
def test_a_disk_that_is_too_small_is_known_before_anything_is_asked(
    entry: CatalogEntry, disk: Callable[[str], ModelStore], server: Server
) -> None:
    told = fails(Code.DISK_FULL, entry, disk("1m"), server)
    assert told.startswith("3 MB are needed in ")
    assert told.endswith("1 MB are free.")
    assert server.ranges == []


@as_root
def test_a_disk_that_fills_up_keeps_what_came(
    entry: CatalogEntry, disk: Callable[[str], ModelStore], server: Server
) -> None:
    store = disk("4m")

    def fill_then_go_on(answer: Answer) -> None:
        (store.folder / "something else").write_bytes(bytes(3_000_000))
        answer.properly()

    server.script = [fill_then_go_on]
    told = fails(Code.DISK_FULL, entry, store, server)
    assert "No space left on device" in told
    had = kept(entry, store)
    assert had
    assert had > 500_000
    (store.folder / "something else").unlink()
    assert get(entry, store, server).official
    assert server.ranges == [None, f"bytes={had}-"]


@as_root
def test_a_folder_that_cannot_be_written_says_so(
    entry: CatalogEntry, disk: Callable[[str], ModelStore], server: Server
) -> None:
    store = disk("4m")
    subprocess.run(["mount", "-o", "remount,ro", store.folder], check=True)
    fails(Code.NOT_WRITABLE, entry, store, server)
    assert server.ranges == []


@pytest.fixture
def secure(server: Server, tmp_path: Path) -> Path:
    """Turn the server to HTTPS, with a certificate that nobody vouches for; where the certificate is."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.scheme = "https"
    return certificate


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's store of certificates would have to change")
def test_a_server_is_trusted_when_the_system_trusts_it_and_only_then(
    entry: CatalogEntry, store: ModelStore, server: Server, secure: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "CERTIFICATE_VERIFY_FAILED" in fails(Code.DOWNLOAD_FAILED, entry, store, server)
    monkeypatch.setenv("SSL_CERT_FILE", str(secure))
    assert get(entry, store, server).official


def test_nothing_else_uses_the_network() -> None:
    """The one module that may import httpx is this one's; `sottovoce models list` must not load it."""
    script = (
        "import sys, engine.models_cli, engine.models.starter, engine.models.importers\n"
        "assert not {'httpx', 'truststore'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
