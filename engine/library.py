"""The library: every job and transcript, in one SQLite file.

The window is its one writer; command-line verbs and other readers open it read-only meanwhile. What a
method has done when it returns survives a kill and a power cut. A failure is an EngineError: DISK_FULL,
NOT_WRITABLE (NOT_READABLE for a reader) or LIBRARY_DAMAGED; an id that is not there is a KeyError.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

import msgspec

from engine.errors import Code, EngineError
from engine.files import shown
from engine.library_rows import (
    ENTRY_COLUMNS,
    Changes,
    Entry,
    State,
    entry_of,
    entry_row,
    folded,
    segment_of,
    segment_row,
)
from engine.library_schema import connect, saying
from engine.types import Options, Segment, Transcript

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

__all__ = ["Changes", "Entry", "Library", "State"]

_NEW = tuple(name for name in ENTRY_COLUMNS if name != "id")
_INSERT = f"INSERT INTO entries ({', '.join(_NEW)}) VALUES ({', '.join(f':{name}' for name in _NEW)})"  # noqa: S608 own names
_UPDATE = f"UPDATE entries SET {', '.join(f'{name} = :{name}' for name in _NEW)} WHERE id = :id"  # noqa: S608 own names
_APPEND = """INSERT INTO segments (entry, start, "end", text, folded, words, speaker, language, avg_logprob,
    no_speech_prob, flags, extra) VALUES (:entry, :start, :end, :text, :folded, :words, :speaker, :language,
    :avg_logprob, :no_speech_prob, :flags, :extra)"""
_SEGMENTS = """SELECT start, "end", text, words, speaker, language, avg_logprob, no_speech_prob, flags, extra
    FROM segments WHERE entry = ? ORDER BY start, id LIMIT ? OFFSET ?"""
# EXISTS stops at the first segment that has the text; 70–90 ms for 1,000 transcripts of 500 segments when none
# has it. A trigram index would take 1 ms, but finds no words of two characters, which are most of Chinese.
_SEARCH = r"""SELECT id, title, EXISTS (SELECT 1 FROM segments WHERE entry = entries.id AND folded LIKE ? ESCAPE '\')
    AS said FROM entries WHERE removed IS NULL ORDER BY created DESC, id DESC"""


class Library:
    """An open library."""

    def __init__(self, connection: sqlite3.Connection, path: Path, writable: bool) -> None:
        self._connection = connection
        self._path = path
        self._writable = writable

    @classmethod
    def open(cls, path: Path, writable: bool) -> Self:
        """Open the library, a writer makes it when it is not there; errors as for `library_schema.connect`."""
        return cls(connect(path, writable), path, writable)

    def close(self) -> None:
        """Close the file; the last one to close merges what was written into it."""
        self._connection.close()

    def add(self, source: bytes, options: Options, created: int | None = None) -> Entry:
        """Add a job that waits; `source` is os.fsencode of its path, whose last part is the title."""
        now = time.time_ns() // 1_000_000 if created is None else created
        entry = Entry(0, source, _name(source), now, "waiting", options)
        with self._transaction(write=True) as sql:
            added = sql.execute(_INSERT, entry_row(entry)).lastrowid
        assert added is not None
        return replace(entry, id=added)

    def entries(self) -> list[Entry]:
        """Give all entries but the removed ones, newest first."""
        with self._transaction() as sql:
            rows = sql.execute("SELECT * FROM entries WHERE removed IS NULL ORDER BY created DESC, id DESC").fetchall()
            return [entry_of(row) for row in rows]

    def entry(self, entry: int) -> Entry:
        """Give one entry, also a removed one until the purge."""
        with self._transaction() as sql:
            return _entry(sql, entry)

    def update(self, entry: int, **changes: Unpack[Changes]) -> Entry:
        """Change some fields of an entry."""
        with self._transaction(write=True) as sql:
            sql.execute(_UPDATE, entry_row(replace(_entry(sql, entry), **changes)))
            return _entry(sql, entry)

    def append(self, entry: int, segment: Segment) -> None:
        """Store one more segment; when this returns it is on the disk."""
        try:
            with self._transaction(write=True) as sql:
                sql.execute(_APPEND, segment_row(entry, segment))
        except sqlite3.IntegrityError as error:
            raise KeyError(entry) from error

    def segments(self, entry: int, first: int = 0, count: int = -1) -> list[Segment]:
        """Give segments by their start, then as they arrived: all, or `count` of them from `first` on.

        1,000 segments with their words take about 20 ms: a window reads a long transcript in such pieces.
        """
        with self._transaction() as sql:
            return [segment_of(row) for row in sql.execute(_SEGMENTS, (entry, count, first))]

    def segment_count(self, entry: int) -> int:
        """Count the segments."""
        with self._transaction() as sql:
            (count,) = sql.execute("SELECT count(*) FROM segments WHERE entry = ?", (entry,)).fetchone()
            return count

    def settle(self, entry: int, done: int) -> None:
        """Note that everything before `done` is stored and final; this never goes back but by `clear_segments`."""
        with self._transaction(write=True) as sql:
            _entry(sql, entry)
            sql.execute("UPDATE entries SET settled = max(settled, ?) WHERE id = ?", (done, entry))

    def drop_unsettled(self, entry: int) -> None:
        """Drop the segments from `settled` on: a job that goes on there sends them again."""
        with self._transaction(write=True) as sql:
            settled = _entry(sql, entry).settled
            sql.execute("DELETE FROM segments WHERE entry = ? AND start >= ?", (entry, settled))

    def clear_segments(self, entry: int) -> None:
        """Drop all segments, for a start from the beginning."""
        with self._transaction(write=True) as sql:
            _entry(sql, entry)
            sql.execute("DELETE FROM segments WHERE entry = ?", (entry,))
            sql.execute("UPDATE entries SET settled = 0 WHERE id = ?", (entry,))

    def transcript(self, entry: int) -> Transcript:
        """Give what an export is written from; it names the file, not its folders, since exports are passed on."""
        with self._transaction() as sql:
            found = _entry(sql, entry)
            segments = tuple(segment_of(row) for row in sql.execute(_SEGMENTS, (entry, -1, 0)))
        return Transcript(
            source=_name(found.source),
            duration=found.duration,
            language=found.language,
            model=found.model,
            backend=found.backend,
            segments=segments,
            timings=found.timings,
        )

    def remove(self, entries: Iterable[int]) -> None:
        """Mark entries as removed, until `restore` or `purge`."""
        now = time.time_ns() // 1_000_000
        self._mark_removed(entries, now)

    def restore(self, entries: Iterable[int]) -> None:
        """Take a removal back."""
        self._mark_removed(entries, None)

    def _mark_removed(self, entries: Iterable[int], when: int | None) -> None:
        with self._transaction(write=True) as sql:
            sql.executemany("UPDATE entries SET removed = ? WHERE id = ?", [(when, entry) for entry in entries])

    def purge(self) -> None:
        """Delete removed entries for good; what they said is overwritten in the file."""
        with self._transaction(write=True) as sql:
            sql.execute("DELETE FROM entries WHERE removed IS NOT NULL")

    def interrupted(self) -> list[Entry]:
        """At the start: mark jobs as interrupted that a dead window was running.

        Gives these and the ones still waiting, oldest first: what can go on.
        """
        with self._transaction(write=True) as sql:
            rows = sql.execute(
                "SELECT id FROM entries WHERE state IN ('running', 'waiting') AND removed IS NULL ORDER BY created, id"
            ).fetchall()
            sql.execute("UPDATE entries SET state = 'interrupted' WHERE state = 'running'")
            return [_entry(sql, row["id"]) for row in rows]

    def search(self, text: str) -> list[int]:
        """Find the entries whose title or one segment contains `text`, case aside; newest first."""
        wanted = folded(text)
        pattern = "%" + re.sub(r"([\\%_])", r"\\\1", wanted) + "%"
        with self._transaction() as sql:
            found = sql.execute(_SEARCH, (pattern,))
            return [row["id"] for row in found if row["said"] or wanted in folded(row["title"])]

    @contextmanager
    def _transaction(self, write: bool = False) -> Generator[sqlite3.Connection]:
        sql = self._connection
        with saying(self._path, self._writable):
            sql.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield sql
                sql.execute("COMMIT")
            except msgspec.DecodeError as error:
                raise EngineError(Code.LIBRARY_DAMAGED, f"{shown(self._path)}: {error}") from error
            finally:
                if sql.in_transaction:
                    sql.execute("ROLLBACK")


def _entry(sql: sqlite3.Connection, entry: int) -> Entry:
    row = sql.execute("SELECT * FROM entries WHERE id = ?", (entry,)).fetchone()
    if row is None:
        raise KeyError(entry)
    return entry_of(row)


def _name(source: bytes) -> str:
    return shown(os.path.basename(source)) or shown(source)  # noqa: PTH119 bytes are no Path
