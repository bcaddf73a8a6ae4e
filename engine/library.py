"""The library: every job and transcript, in one SQLite file.

The window is its one writer; command-line verbs and other readers open it read-only meanwhile. What a
method has done when it returns survives a kill and a power cut. A failure is an EngineError: DISK_FULL,
NOT_WRITABLE (NOT_READABLE for a reader) or LIBRARY_DAMAGED; an id that is not there is a KeyError.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from engine.files import shown
from engine.library_file import LibraryFile
from engine.library_rows import (
    ENTRY_COLUMNS,
    Changes,
    Entry,
    State,
    entry_of,
    entry_row,
    folded,
    read_entry,
)
from engine.library_segments import Segments
from engine.types import Options, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Changes", "Entry", "Library", "State"]

_NEW = tuple(name for name in ENTRY_COLUMNS if name != "id")
_INSERT = f"INSERT INTO entries ({', '.join(_NEW)}) VALUES ({', '.join(f':{name}' for name in _NEW)})"  # noqa: S608 own names
_UPDATE = f"UPDATE entries SET {', '.join(f'{name} = :{name}' for name in _NEW)} WHERE id = :id"  # noqa: S608 own names
# EXISTS stops at the first segment that has the text; 70–90 ms for 1,000 transcripts of 500 segments when none
# has it. A trigram index would take 1 ms, but finds no words of two characters, which are most of Chinese.
_SEARCH = r"""SELECT id, title, EXISTS (SELECT 1 FROM segments WHERE entry = entries.id AND folded LIKE ? ESCAPE '\')
    AS said FROM entries WHERE removed IS NULL ORDER BY created DESC, id DESC"""


class Library:
    """An open library; what was said stands in `segments`."""

    def __init__(self, file: LibraryFile) -> None:
        self._file = file
        self.segments = Segments(file)

    @classmethod
    def open(cls, path: Path, writable: bool) -> Self:
        """Open the library, a writer makes it when it is not there; errors as for `library_schema.connect`."""
        return cls(LibraryFile(path, writable))

    def close(self) -> None:
        """Close the file; the last one to close merges what was written into it."""
        self._file.close()

    def add(self, source: bytes, options: Options, created: int | None = None) -> Entry:
        """Add a job that waits; `source` is os.fsencode of its path, whose last part is the title."""
        now = time.time_ns() // 1_000_000 if created is None else created
        entry = Entry(0, source, _name(source), now, "waiting", options)
        with self._file.transaction(write=True) as sql:
            added = sql.execute(_INSERT, entry_row(entry)).lastrowid
        assert added is not None
        return replace(entry, id=added)

    def entries(self) -> list[Entry]:
        """Give all entries but the removed ones, newest first."""
        with self._file.transaction() as sql:
            rows = sql.execute("SELECT * FROM entries WHERE removed IS NULL ORDER BY created DESC, id DESC").fetchall()
            return [entry_of(row) for row in rows]

    def entry(self, entry: int) -> Entry:
        """Give one entry, also a removed one until the purge."""
        with self._file.transaction() as sql:
            return read_entry(sql, entry)

    def sources(self, *, removed: bool = False) -> set[bytes]:
        """The sources of all entries, or of those that were removed and not yet purged."""
        which = "removed IS NOT NULL" if removed else "TRUE"
        with self._file.transaction() as sql:
            return {row["source"] for row in sql.execute(f"SELECT source FROM entries WHERE {which}")}  # noqa: S608 own words

    def update(self, entry: int, **changes: Unpack[Changes]) -> Entry:
        """Change some fields of an entry."""
        with self._file.transaction(write=True) as sql:
            sql.execute(_UPDATE, entry_row(replace(read_entry(sql, entry), **changes)))
            return read_entry(sql, entry)

    def transcript(self, entry: int) -> Transcript:
        """Give what an export is written from; it names the file, not its folders, since exports are passed on."""
        found = self.entry(entry)
        return Transcript(
            source=_name(found.source),
            duration=found.duration,
            language=found.language,
            model=found.model,
            backend=found.backend,
            segments=tuple(self.segments.read(entry)),
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
        with self._file.transaction(write=True) as sql:
            sql.executemany("UPDATE entries SET removed = ? WHERE id = ?", [(when, entry) for entry in entries])

    def purge(self) -> None:
        """Delete removed entries for good; what they said is overwritten in the file."""
        with self._file.transaction(write=True) as sql:
            sql.execute("DELETE FROM entries WHERE removed IS NOT NULL")

    def interrupted(self) -> list[Entry]:
        """At the start: mark jobs as interrupted that a dead window was running.

        Gives these and the ones still waiting, oldest first: what can go on.
        """
        with self._file.transaction(write=True) as sql:
            rows = sql.execute(
                "SELECT id FROM entries WHERE state IN ('running', 'waiting') AND removed IS NULL ORDER BY created, id"
            ).fetchall()
            sql.execute("UPDATE entries SET state = 'interrupted' WHERE state = 'running'")
            return [read_entry(sql, row["id"]) for row in rows]

    def search(self, text: str) -> list[int]:
        """Find the entries whose title or one segment contains `text`, case aside; newest first."""
        wanted = folded(text)
        pattern = "%" + re.sub(r"([\\%_])", r"\\\1", wanted) + "%"
        with self._file.transaction() as sql:
            found = sql.execute(_SEARCH, (pattern,))
            return [row["id"] for row in found if row["said"] or wanted in folded(row["title"])]


def _name(source: bytes) -> str:
    return shown(os.path.basename(source)) or shown(source)  # noqa: PTH119 bytes are no Path
