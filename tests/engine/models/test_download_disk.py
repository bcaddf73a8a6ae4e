"""Downloads that are stopped, killed, or meet a disk that has no room: what came is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import Code, EngineError
from engine.models.catalog import CatalogEntry
from engine.models.download import download
from engine.models.store import ModelStore

if TYPE_CHECKING:
    from tests.engine.models.conftest import Answer, Downloads, Server

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
HALF = 1_500_000  # bytes: about half of the small model


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


def test_cancelling_keeps_what_came(
    downloads: Downloads, entry: CatalogEntry, store: ModelStore, server: Server
) -> None:
    def stop(done: int, total: int, speed: int | None) -> None:
        if done > HALF:
            raise KeyboardInterrupt

    server.script = [lambda answer: answer.slowly(entry.bytes // 5, 0.15)]
    with pytest.raises(KeyboardInterrupt):
        download(entry, store, stop, server.url)
    had = downloads.kept
    assert had
    assert had > HALF
    assert store.list() == ()
    assert downloads.get().official
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


def child(downloads: Downloads, limit: int = 0) -> list[str]:
    """The command for a process that does the same, with a limit on the size of files."""
    entry = downloads.entry
    folder, url = str(downloads.store.folder), downloads.server.url
    what = [folder, url, [entry.name, entry.bytes, entry.sha256], limit]
    return [sys.executable, "-c", CHILD, json.dumps(what)]


def test_a_killed_download_goes_on_where_it_was(downloads: Downloads, server: Server) -> None:
    server.script = [lambda answer: answer.slowly(100_000, 0.05)]
    with subprocess.Popen(child(downloads)) as process:
        deadline = time.monotonic() + 30
        while (downloads.kept or 0) < HALF and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(EngineError) as caught:
            downloads.get()
        assert caught.value.code is Code.MODEL_BUSY, "one download of a model at a time"
        process.send_signal(signal.SIGKILL)
    had = downloads.kept
    assert had
    assert HALF <= had < downloads.entry.bytes
    assert downloads.get().official
    assert server.ranges == [None, f"bytes={had}-"]


def test_a_limit_on_file_sizes_is_a_full_disk(downloads: Downloads, server: Server) -> None:
    ran = subprocess.run(child(downloads, HALF), capture_output=True, text=True, check=False)
    assert "The disk is full." in ran.stderr
    assert downloads.kept == HALF
    assert downloads.get().official
    assert server.ranges == [None, f"bytes={HALF}-"]


@pytest.fixture
def disk(tmp_path: Path, downloads: Downloads) -> Iterator[Callable[[str], Downloads]]:
    """Downloads to small disks: give a size."""
    mounted: list[Path] = []

    def mount(size: str) -> Downloads:
        mounted.append(tmp_path / f"disk ö {len(mounted)}")
        mounted[-1].mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", mounted[-1]], check=True)
        return replace(downloads, store=ModelStore(mounted[-1]))

    yield mount
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


@as_root
def test_a_disk_that_is_too_small_is_known_before_anything_is_asked(
    disk: Callable[[str], Downloads], server: Server
) -> None:
    told = disk("1m").fails(Code.DISK_FULL)
    assert told.startswith("3 MB are needed in ")
    assert told.endswith("1 MB are free.")
    assert server.ranges == []


@as_root
def test_a_disk_that_fills_up_keeps_what_came(disk: Callable[[str], Downloads], server: Server) -> None:
    downloads = disk("4m")
    something_else = downloads.store.folder / "something else"

    def fill_then_go_on(answer: Answer) -> None:
        something_else.write_bytes(bytes(3_000_000))
        answer.properly()

    server.script = [fill_then_go_on]
    assert "No space left on device" in downloads.fails(Code.DISK_FULL)
    had = downloads.kept
    assert had
    assert had > 500_000
    something_else.unlink()
    assert downloads.get().official
    assert server.ranges == [None, f"bytes={had}-"]


@as_root
def test_a_folder_that_cannot_be_written_says_so(disk: Callable[[str], Downloads], server: Server) -> None:
    downloads = disk("4m")
    subprocess.run(["mount", "-o", "remount,ro", downloads.store.folder], check=True)
    downloads.fails(Code.NOT_WRITABLE)
    assert server.ranges == []
