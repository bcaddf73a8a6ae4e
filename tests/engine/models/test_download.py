"""Downloads from a server on this machine that answers in every wrong way we know of."""

from __future__ import annotations

import hashlib
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import Code, EngineError
from engine.models import catalog
from engine.models.catalog import CatalogEntry
from engine.models.importers import import_model
from engine.models.store import ModelStore

if TYPE_CHECKING:
    from tests.engine.models.conftest import Answer, Downloads, Server

HALF = 1_500_000  # bytes: about half of the small model, and enough for a try to count as a success


def test_a_model_is_downloaded_checked_and_recorded(
    downloads: Downloads, entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    stored = downloads.get()
    assert stored.path.read_bytes() == server.body
    assert (stored.name, stored.origin, stored.official, stored.sha256) == ("tiny", "download", True, entry.sha256)
    assert stored.source == f"{server.url}/ggml-tiny.bin"
    assert store.list() == (stored,)
    assert store.path("tiny") == stored.path
    assert {file.name for file in store.folder.iterdir()} == {"ggml-tiny.bin", "ggml-tiny.json", "ggml-tiny.lock"}
    assert server.ranges == [None]


def test_what_is_here_is_not_downloaded_again(downloads: Downloads, server: Server) -> None:
    first = downloads.get()
    assert downloads.get() == first
    assert len(server.ranges) == 1


def test_a_file_put_there_by_hand_is_checked_and_not_downloaded_again(
    downloads: Downloads, store: ModelStore, server: Server, small_file: Path
) -> None:
    shutil.copy(small_file, store.file("tiny"))
    assert downloads.get().official
    assert server.ranges == []


def test_a_damaged_download_is_replaced(downloads: Downloads, store: ModelStore, server: Server) -> None:
    path = downloads.get().path
    for harm in (lambda: path.write_text("gone"), lambda: path.write_bytes(server.body[:-1] + b"?")):
        harm()
        assert downloads.get().path.read_bytes() == server.body
        assert store.verify("tiny").official


def test_an_import_of_the_same_name_is_not_replaced(downloads: Downloads, store: ModelStore, small_file: Path) -> None:
    other = store.folder / "other"
    other.write_bytes(small_file.read_bytes()[:-1] + b"?")
    before = import_model(other, store, "tiny")
    with pytest.raises(EngineError) as caught:
        downloads.get()
    assert caught.value.code is Code.ALREADY_THERE
    assert store.verify("tiny") == before


def test_a_download_goes_on_where_it_was_stopped(downloads: Downloads, server: Server) -> None:
    downloads.begin(HALF)
    assert downloads.get().official
    assert server.ranges == [f"bytes={HALF}-"]


def test_a_download_that_was_whole_but_had_no_name_yet_needs_no_server(
    downloads: Downloads, entry: CatalogEntry, server: Server
) -> None:
    downloads.begin(entry.bytes)
    assert downloads.get().official
    assert server.ranges == []


def test_a_cut_connection_is_gone_on_from(downloads: Downloads, server: Server) -> None:
    server.script = [server.cut_after(HALF), server.cut_after(1000), server.cut_after(0)]
    assert downloads.get().official
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={HALF + 1000}-", f"bytes={HALF + 1000}-"]


def test_a_server_that_stays_bad_ends_in_failure_and_what_came_is_kept(downloads: Downloads, server: Server) -> None:
    server.script = [server.cut_after(HALF), *[server.cut_after(10)] * 10]
    told = downloads.fails(Code.DOWNLOAD_FAILED)
    assert "2 MB of 3 MB are here already" in told
    assert len(server.ranges) == 4  # three of them in a row
    assert downloads.kept == HALF + 30
    server.script = []
    assert downloads.get().official
    assert server.ranges[-1] == f"bytes={HALF + 30}-"


def test_progress_between_failures_earns_new_tries(downloads: Downloads, server: Server) -> None:
    bad = [server.status(503)] * 2
    server.script = [*bad, server.cut_after(HALF), *bad]
    assert downloads.get().official


def test_a_server_that_cannot_go_on_begins_again(downloads: Downloads, server: Server) -> None:
    downloads.begin(HALF)
    server.script = [lambda answer: answer.whole()]
    assert downloads.get().official
    assert server.ranges == [f"bytes={HALF}-"]


def test_an_answer_from_the_wrong_place_is_not_taken(downloads: Downloads, server: Server) -> None:
    downloads.begin(HALF)
    server.script = [lambda answer: answer.part(HALF - 7, answer.server.body[HALF - 7 :])]
    assert downloads.get().official
    assert server.ranges == [f"bytes={HALF}-", None]


def test_an_answer_that_does_not_say_its_place_is_not_taken(downloads: Downloads, server: Server) -> None:
    downloads.begin(HALF)
    server.script = [server.status(206)]
    assert downloads.get().official
    assert server.ranges == [f"bytes={HALF}-", None]


def test_a_range_that_the_server_does_not_have_is_started_over(downloads: Downloads, server: Server) -> None:
    downloads.begin(HALF)
    server.script = [server.status(416)]
    assert downloads.get().official
    assert server.ranges == [f"bytes={HALF}-", None]


def test_a_part_longer_than_the_file_is_started_over(
    downloads: Downloads, entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    store.part(entry).write_bytes(server.body + b"more")
    assert downloads.get().official
    assert server.ranges == [None]


def test_a_file_of_another_size_is_refused_and_what_came_before_is_kept(downloads: Downloads, server: Server) -> None:
    """A hotel's log-in page answers 200 with a page of its own; what came before is still good."""
    downloads.begin(HALF)
    whole, server.body = server.body, b"<html>Please log in</html>"
    server.script = [lambda answer: answer.whole()]
    assert "has 26 bytes there" in downloads.fails(Code.DOWNLOAD_WRONG)
    server.body = whole + b"?"
    server.script = [lambda answer: answer.part(HALF, answer.rest)]
    assert f"has {len(whole) + 1} bytes there" in downloads.fails(Code.DOWNLOAD_WRONG)
    assert downloads.kept == HALF


def test_a_body_longer_than_promised_is_stopped(downloads: Downloads, server: Server) -> None:
    server.script = [lambda answer: answer.chunked(answer.server.body + b"!" * 5_000_000)]
    assert "sends more" in downloads.fails(Code.DOWNLOAD_WRONG)
    assert downloads.kept is None


def test_a_body_without_a_length_is_taken_if_it_is_right(downloads: Downloads, server: Server) -> None:
    server.script = [lambda answer: answer.chunked(answer.server.body[:HALF])]
    assert downloads.get().official
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_another_content_is_thrown_away(downloads: Downloads, server: Server) -> None:
    server.body = server.body[:-1] + b"?"
    assert "SHA-256" in downloads.fails(Code.DOWNLOAD_WRONG)
    assert downloads.kept is None


def test_a_spoilt_beginning_is_thrown_away(downloads: Downloads, entry: CatalogEntry, store: ModelStore) -> None:
    store.part(entry).write_bytes(bytes(HALF))
    assert "SHA-256" in downloads.fails(Code.DOWNLOAD_WRONG)
    assert downloads.get().official


def test_a_beginning_of_another_revision_is_not_gone_on_from(
    downloads: Downloads, entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    replace(downloads, entry=replace(entry, sha256="0" * 64)).begin(HALF)
    assert downloads.get().official
    assert server.ranges == [None]
    assert not list(store.folder.glob("*.part"))


def test_what_has_the_right_hash_and_is_no_model_is_refused(
    downloads: Downloads, entry: CatalogEntry, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.body = b"a catalogue with a mistake in it"
    wrong = CatalogEntry("tiny", len(server.body), hashlib.sha256(server.body).hexdigest())
    monkeypatch.setattr(catalog, "CATALOG", (wrong,))
    replace(downloads, entry=wrong).fails(Code.MODEL_DAMAGED)


def test_a_silent_server_is_left_and_asked_again(downloads: Downloads, server: Server) -> None:
    waiting = threading.Event()

    def stall(answer: Answer) -> None:
        server.cut_after(HALF)(answer)
        waiting.wait(20)

    server.script = [stall]
    started = time.monotonic()
    assert downloads.get(silence=0.5).official
    waiting.set()
    assert time.monotonic() - started < 15
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_a_server_that_is_always_silent_ends_in_failure(downloads: Downloads, server: Server) -> None:
    waiting = threading.Event()

    def stall(answer: Answer) -> None:
        waiting.wait(20)

    server.script = [stall] * 9
    assert "fell silent" in downloads.fails(Code.DOWNLOAD_FAILED, silence=0.1)
    waiting.set()


@pytest.mark.parametrize("number", [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(downloads: Downloads, server: Server, number: int) -> None:
    server.script = [
        server.status(number, Retry_After="0"),
        server.status(number, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"),
    ]
    assert downloads.get().official
    assert len(server.ranges) == 3


def test_a_server_that_asks_for_a_pause_gets_it(downloads: Downloads, server: Server) -> None:
    server.script = [server.status(429, Retry_After="1")]
    started = time.monotonic()
    assert downloads.get().official
    assert time.monotonic() - started >= 1


@pytest.mark.parametrize("number", [401, 403, 404, 410, 501])
def test_a_refusal_is_told_at_once(downloads: Downloads, server: Server, number: int) -> None:
    downloads.begin(HALF)
    server.script = [server.status(number)]
    assert f"answered {number}" in downloads.fails(Code.DOWNLOAD_FAILED)
    assert len(server.ranges) == 1
    assert downloads.kept == HALF
