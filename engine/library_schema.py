"""The library's file: its tables, their history, and how it is opened."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import Code, EngineError
from engine.files import shown

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

APPLICATION_ID = 0x534F5456  # "SOTV" in the file's header: no other program's database is touched
BUSY_SECONDS = 5.0  # the window is the one writer, so that this is never waited for in peace

# One tuple of statements a version; PRAGMA user_version counts them. A released version is never changed:
# what comes later is appended. A new value of a closed set (State, Code, …) is a new version too.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        f"PRAGMA application_id = {APPLICATION_ID}",
        """CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: a job may still speak of a removed one
            source BLOB NOT NULL, -- os.fsencode of the path
            title TEXT NOT NULL,
            created INTEGER NOT NULL, -- milliseconds since 1970
            state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
            options TEXT NOT NULL, -- JSON
            duration INTEGER,
            language TEXT,
            language_probability REAL,
            model TEXT,
            backend TEXT,
            device TEXT,
            reason TEXT,
            load_ms INTEGER,
            outcome TEXT CHECK (outcome IN ('text', 'no_speech')),
            speech INTEGER,
            peak_dbfs REAL,
            track_name TEXT,
            settled INTEGER NOT NULL DEFAULT 0, -- everything before is stored and final
            deaths INTEGER NOT NULL DEFAULT 0,
            error TEXT,
            error_detail TEXT NOT NULL DEFAULT '',
            notices TEXT NOT NULL DEFAULT '[]', -- JSON
            timings TEXT, -- JSON
            removed INTEGER -- when; purged at the next start
        )""",
        """CREATE TABLE segments (
            id INTEGER PRIMARY KEY,
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
            start INTEGER NOT NULL,
            "end" INTEGER NOT NULL,
            text TEXT NOT NULL,
            folded TEXT NOT NULL, -- the text as search compares it
            words BLOB, -- JSON
            speaker TEXT,
            language TEXT,
            avg_logprob REAL,
            no_speech_prob REAL,
            flags TEXT, -- JSON
            extra TEXT -- JSON
        )""",
        # Order and search in one: half a million segments are looked through in this index alone.
        "CREATE INDEX segments_in_order ON segments (entry, start, id, folded)",
    ),
)


def connect(path: Path, writable: bool) -> sqlite3.Connection:
    """Open the library; a writer makes or migrates it, a reader needs no more than the right to read.

    EngineError NOT_FOUND, NOT_READABLE, NOT_WRITABLE, DISK_FULL, LIBRARY_DAMAGED (the file is left as it
    is) or LIBRARY_NEWER.
    """
    with saying(path, writable):
        connection = _open_writer(path) if writable else _open_reader(path)
    connection.row_factory = sqlite3.Row
    return connection


@contextmanager
def saying(path: Path, writable: bool) -> Generator[None]:
    """Turn what SQLite and the file system complain of into our errors."""
    refused = Code.NOT_WRITABLE if writable else Code.NOT_READABLE
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise  # our own mistakes
    except sqlite3.DatabaseError as error:
        raise EngineError(_code(error, refused), f"{shown(path)}: {error}") from error
    except OSError as error:
        raise EngineError(refused, f"{shown(path)}: {error.strerror}") from error


def _open_writer(path: Path) -> sqlite3.Connection:
    path.touch(mode=0o600)  # SQLite would let others read what was said
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        version = _check(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not wait for each other
        connection.execute("PRAGMA synchronous = FULL")  # what was stored survives a power cut
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what was removed is overwritten
        if version < len(MIGRATIONS):
            _migrate(connection, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


def _open_reader(path: Path) -> sqlite3.Connection:
    if not path.exists():
        raise EngineError(Code.NOT_FOUND, shown(path))
    try:
        return _read_only(path, "mode=ro")
    except sqlite3.OperationalError as error:
        # In a folder that may not be written SQLite cannot make its -shm file. Without a -wal file nobody
        # has the library open and everything is in the file itself, which can then be read as it stands.
        cannot_make = _kind(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not cannot_make or path.with_name(path.name + "-wal").exists():
            raise
    return _read_only(path, "immutable=1")


def _read_only(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _check(connection, path, oldest=len(MIGRATIONS))
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path, oldest: int = 0) -> int:
    """Return the schema version, 0 for an empty file; EngineError when the file is not for us."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables and application != APPLICATION_ID:
        raise EngineError(Code.LIBRARY_DAMAGED, f"{shown(path)}: this is another program's database")
    if version > len(MIGRATIONS):
        raise EngineError(Code.LIBRARY_NEWER, f"{shown(path)}: version {version}, known up to {len(MIGRATIONS)}")
    if version < oldest:
        raise EngineError(Code.NOT_READABLE, f"{shown(path)}: the window has to be opened once to renew it")
    return version


def _code(error: sqlite3.DatabaseError, refused: Code) -> Code:
    match _kind(error):
        case sqlite3.SQLITE_FULL:
            return Code.DISK_FULL
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:  # ERROR: a table is missing
            return Code.LIBRARY_DAMAGED
        case _:  # PERM, READONLY, CANTOPEN, IOERR, BUSY, LOCKED
            return refused


def _kind(error: sqlite3.DatabaseError) -> int:
    return error.sqlite_errorcode & 0xFF  # without what SQLite adds in the higher bits
