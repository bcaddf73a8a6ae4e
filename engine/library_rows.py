"""One job or transcript of the library, and how it and its segments stand in the tables."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import msgspec

from engine.errors import Code
from engine.protocol import Notice
from engine.types import Json, Options, Segment, Timings, Word

if TYPE_CHECKING:
    import sqlite3

State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]
Outcome: TypeAlias = Literal["text", "no_speech"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a job; None or "" where it is not known (yet)."""

    id: int
    source: bytes  # os.fsencode of the path
    title: str
    created: int  # milliseconds since 1970
    state: State
    options: Options
    duration: int | None = None
    language: str | None = None
    language_probability: float | None = None
    model: str | None = None
    backend: str | None = None
    device: str | None = None
    reason: str | None = None  # why this backend and device
    load_ms: int | None = None
    outcome: Outcome | None = None
    speech: int | None = None
    peak_dbfs: float | None = None
    track_name: str | None = None
    settled: int = 0  # everything before is stored and final
    deaths: int = 0  # of the engine, on this file
    error: Code | None = None
    error_detail: str = ""
    notices: tuple[Notice, ...] = ()
    timings: Timings | None = None


class Changes(TypedDict, total=False):
    """The fields of an Entry that change; the others stand from the start or have their own method."""

    title: str
    state: State
    options: Options
    duration: int | None
    language: str | None
    language_probability: float | None
    model: str | None
    backend: str | None
    device: str | None
    reason: str | None
    load_ms: int | None
    outcome: Outcome | None
    speech: int | None
    peak_dbfs: float | None
    track_name: str | None
    deaths: int
    error: Code | None
    error_detail: str
    notices: tuple[Notice, ...]
    timings: Timings | None


Row: TypeAlias = dict[str, Any]

ENTRY_COLUMNS = tuple(field.name for field in fields(Entry))
_WORDS = msgspec.json.Decoder(tuple[Word, ...])
_FLAGS = msgspec.json.Decoder(tuple[str, ...])
_EXTRA = msgspec.json.Decoder(dict[str, Json])


def entry_row(entry: Entry) -> Row:
    """Spell an entry as the columns of its row."""
    row = {name: getattr(entry, name) for name in ENTRY_COLUMNS}
    row |= {name: _storable(value) for name, value in row.items() if isinstance(value, str)}
    row |= {name: _json(row[name]).decode() for name in ("options", "notices")}
    return row | {"timings": _json(entry.timings).decode() if entry.timings else None}


def entry_of(row: sqlite3.Row) -> Entry:
    """Read an entry from its row; msgspec.ValidationError when a value is none of ours."""
    values = {name: row[name] for name in ENTRY_COLUMNS}
    values |= {name: msgspec.json.decode(row[name]) for name in ("options", "notices")}
    values["timings"] = msgspec.json.decode(row["timings"]) if row["timings"] else None
    return msgspec.convert(values, Entry)


def segment_row(entry: int, segment: Segment) -> Row:
    """Spell a segment as the columns of its row."""
    text = _storable(segment.text)
    return {
        "entry": entry,
        "start": segment.start,
        "end": segment.end,
        "text": text,
        "folded": folded(text),
        "words": _json(segment.words) if segment.words else None,
        "speaker": segment.speaker,
        "language": segment.language,
        "avg_logprob": segment.avg_logprob,
        "no_speech_prob": segment.no_speech_prob,
        "flags": _json(segment.flags).decode() if segment.flags else None,
        "extra": _json(segment.extra).decode() if segment.extra else None,
    }


def segment_of(row: sqlite3.Row) -> Segment:
    """Read a segment from its row; msgspec.MsgspecError when it was damaged."""
    start, end, text, words, speaker, language, avg_logprob, no_speech_prob, flags, extra = row
    return Segment(
        start,
        end,
        text,
        _WORDS.decode(words) if words else (),
        speaker,
        language,
        avg_logprob,
        no_speech_prob,
        _FLAGS.decode(flags) if flags else (),
        _EXTRA.decode(extra) if extra else {},
    )


def folded(text: str) -> str:
    """Spell a text as search compares it: without case, and with é as one character or two alike."""
    return unicodedata.normalize("NFKC", text.casefold())


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair is no text for SQLite


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)


def read_entry(sql: sqlite3.Connection, entry: int) -> Entry:
    """Read one entry, also a removed one; KeyError when it is not there."""
    row = sql.execute("SELECT * FROM entries WHERE id = ?", (entry,)).fetchone()
    if row is None:
        raise KeyError(entry)
    return entry_of(row)
