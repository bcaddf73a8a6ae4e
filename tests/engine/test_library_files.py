"""Files the library meets at its start: damaged, newer, read-only, on a full disk."""

from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import library_schema
from engine.errors import Code, EngineError
from engine.library import Library
from engine.types import Options, Segment

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SEGMENTS = 30
VERSION_1 = library_schema.MIGRATIONS[:1]

as_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may mount and change user")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


def make_library(path: Path) -> int:
    library = Library.open(path, writable=True)
    entry = library.add(b"/talk.mp3", Options()).id
    for number in range(SEGMENTS):
        library.segments.append(entry, Segment(number, number + 1, f"sentence {number}"))
    library.close()
    return entry


def refused(path: Path, code: Code, writable: bool) -> None:
    """Opening or reading fails with `code`."""

    def read() -> None:
        library = Library.open(path, writable)
        try:
            library.entries()
        finally:
            library.close()

    with pytest.raises(EngineError) as caught:
        read()
    assert caught.value.code is code
    assert path.name in caught.value.detail


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("damage", ["text", "short text", "head lost", "tail lost"])
def test_a_damaged_library_is_said_and_left_as_it_is(tmp_path: Path, damage: str, writable: bool) -> None:
    path = tmp_path / "library.sqlite"
    make_library(path)
    whole = path.read_bytes()
    damaged = {
        "text": b"these are my notes, not a library\n" * 200,
        "short text": b"notes",
        "head lost": b"\0" * 4096 + whole[4096:],
        "tail lost": whole[:6000],
    }[damage]
    path.write_bytes(damaged)
    refused(path, Code.LIBRARY_DAMAGED, writable)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("writable", [True, False])
def test_another_programs_database_is_not_touched(tmp_path: Path, writable: bool) -> None:
    path = tmp_path / "library.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    refused(path, Code.LIBRARY_DAMAGED, writable)
    assert path.read_bytes() == before


@pytest.mark.parametrize("writable", [True, False])
def test_a_newer_library_is_not_touched(tmp_path: Path, writable: bool) -> None:
    path = tmp_path / "library.sqlite"
    make_library(path)
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    before = path.read_bytes()
    refused(path, Code.LIBRARY_NEWER, writable)
    assert path.read_bytes() == before


def test_an_older_library_is_renewed_by_the_writer_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "library.sqlite"
    entry = make_library(path)
    step = ("ALTER TABLE entries ADD COLUMN later TEXT", "UPDATE entries SET later = title")
    monkeypatch.setattr(library_schema, "MIGRATIONS", (*VERSION_1, step))
    refused(path, Code.NOT_READABLE, writable=False)
    for writable in (True, False):
        library = Library.open(path, writable)
        assert len(library.segments.read(entry)) == SEGMENTS
        library.close()


def test_a_migration_that_fails_leaves_the_library_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "library.sqlite"
    entry = make_library(path)
    with monkeypatch.context() as patched:
        step = ("DROP TABLE segments", "DROP TABLE that_is_not_there")
        patched.setattr(library_schema, "MIGRATIONS", (*VERSION_1, step))
        refused(path, Code.LIBRARY_DAMAGED, writable=True)
    library = Library.open(path, writable=True)
    assert len(library.segments.read(entry)) == SEGMENTS
    library.close()


def test_a_reader_makes_no_library(tmp_path: Path) -> None:
    refused(tmp_path / "library.sqlite", Code.NOT_FOUND, writable=False)
    assert list(tmp_path.iterdir()) == []


def test_a_library_in_no_folder_is_said(tmp_path: Path) -> None:
    refused(tmp_path / "missing" / "library.sqlite", Code.NOT_WRITABLE, writable=True)
    (tmp_path / "library.sqlite").mkdir()
    refused(tmp_path / "library.sqlite", Code.NOT_WRITABLE, writable=True)


@as_root
def test_a_read_only_disk_can_be_read(small_disk: Path) -> None:
    path = small_disk / "library.sqlite"
    entry = make_library(path)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    library = Library.open(path, writable=False)
    assert len(library.segments.read(entry)) == SEGMENTS
    library.close()
    refused(path, Code.NOT_WRITABLE, writable=True)


@as_root
@pytest.mark.parametrize("open_meanwhile", [True, False], ids=["writer open", "writer gone"])
def test_another_user_can_read_where_nothing_may_be_made(open_meanwhile: bool) -> None:
    script = (
        "import os, sys; from pathlib import Path; from engine.library import Library\n"
        "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
        "print(len(Library.open(Path(sys.argv[1]), writable=False).segments.read(1)))"
    )
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        path = Path(folder) / "library.sqlite"
        make_library(path)
        writer = Library.open(path, writable=True)
        writer.add(b"/more", Options())
        if not open_meanwhile:
            writer.close()
        for file in (Path(folder), *Path(folder).iterdir()):
            file.chmod(0o755 if file.is_dir() else 0o644)
        result = subprocess.run(
            [sys.executable, "-c", script, path], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        writer.close()
    assert (result.stdout, result.stderr) == (f"{SEGMENTS}\n", "")


@as_root
def test_a_full_disk_loses_only_what_did_not_fit(small_disk: Path) -> None:
    library = Library.open(small_disk / "library.sqlite", writable=True)
    entry = library.add(b"/talk.mp3", Options()).id
    filler = small_disk / "filler"
    filler.write_bytes(b"f" * 600_000)

    def append_forever() -> None:
        for number in itertools.count():
            library.segments.append(entry, Segment(number, number + 1, "words " * 100))
            appended.append(number)

    appended: list[int] = []
    with pytest.raises(EngineError) as caught:
        append_forever()
    assert caught.value.code is Code.DISK_FULL
    assert [segment.start for segment in library.segments.read(entry)] == appended
    filler.unlink()
    library.segments.append(entry, Segment(len(appended), len(appended) + 1, "and on"))
    library.close()
    library = Library.open(small_disk / "library.sqlite", writable=False)
    assert library.segments.count(entry) == len(appended) + 1
    library.close()
