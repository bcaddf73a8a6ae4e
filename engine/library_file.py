"""The library's file: one connection, one explicit transaction at a time, failures as EngineErrors."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.errors import Code, EngineError
from engine.files import shown
from engine.library_schema import connect, saying


class LibraryFile:
    """An open library file; a writer makes it when it is not there. Errors as for `library_schema.connect`."""

    def __init__(self, path: Path, writable: bool) -> None:
        self._connection = connect(path, writable)
        self._path = path
        self._writable = writable

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self, write: bool = False) -> Generator[sqlite3.Connection]:
        """All of the body or nothing; what was written is on the disk when it ends."""
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
