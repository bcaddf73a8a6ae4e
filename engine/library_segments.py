"""What was said: the segments of the library's entries, stored as they arrive."""

from __future__ import annotations

import sqlite3

from engine.library_file import LibraryFile
from engine.library_rows import read_entry, segment_of, segment_row
from engine.types import Segment

_APPEND = """INSERT INTO segments (entry, start, "end", text, folded, words, speaker, language, avg_logprob,
    no_speech_prob, flags, extra) VALUES (:entry, :start, :end, :text, :folded, :words, :speaker, :language,
    :avg_logprob, :no_speech_prob, :flags, :extra)"""
_SEGMENTS = """SELECT start, "end", text, words, speaker, language, avg_logprob, no_speech_prob, flags, extra
    FROM segments WHERE entry = ? ORDER BY start, id LIMIT ? OFFSET ?"""


class Segments:
    """The segments of all entries; an id that is not there is a KeyError."""

    def __init__(self, file: LibraryFile) -> None:
        self._file = file

    def append(self, entry: int, *segments: Segment) -> None:
        """Store more segments, all or none; when this returns they are on the disk."""
        try:
            with self._file.transaction(write=True) as sql:
                sql.executemany(_APPEND, [segment_row(entry, segment) for segment in segments])
        except sqlite3.IntegrityError as error:
            raise KeyError(entry) from error

    def read(self, entry: int, first: int = 0, count: int = -1) -> list[Segment]:
        """Give segments by their start, then as they arrived: all, or `count` of them from `first` on.

        1,000 segments with their words take about 20 ms: a window reads a long transcript in such pieces.
        """
        with self._file.transaction() as sql:
            return [segment_of(row) for row in sql.execute(_SEGMENTS, (entry, count, first))]

    def count(self, entry: int) -> int:
        """Count the segments."""
        with self._file.transaction() as sql:
            (count,) = sql.execute("SELECT count(*) FROM segments WHERE entry = ?", (entry,)).fetchone()
            return count

    def settle(self, entry: int, done: int) -> None:
        """Note that everything before `done` is stored and final; this never goes back but by `clear`."""
        with self._file.transaction(write=True) as sql:
            read_entry(sql, entry)
            sql.execute("UPDATE entries SET settled = max(settled, ?) WHERE id = ?", (done, entry))

    def drop_unsettled(self, entry: int) -> None:
        """Drop the segments from `settled` on: a job that goes on there sends them again."""
        with self._file.transaction(write=True) as sql:
            settled = read_entry(sql, entry).settled
            sql.execute("DELETE FROM segments WHERE entry = ? AND start >= ?", (entry, settled))

    def clear(self, entry: int) -> None:
        """Drop all segments, for a start from the beginning."""
        with self._file.transaction(write=True) as sql:
            read_entry(sql, entry)
            sql.execute("DELETE FROM segments WHERE entry = ?", (entry,))
            sql.execute("UPDATE entries SET settled = 0 WHERE id = ?", (entry,))
