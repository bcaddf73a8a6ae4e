"""Finds a transcript that a command names: one of the library, by number or title, or a file that was exported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Code, EngineError
from engine.exports import READERS
from engine.files import shown
from engine.library import Entry, Library
from engine.types import Transcript

MOST_BYTES = 50_000_000  # a day of speech with the times of its words has about 20 MB


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript, the recording or exported file that it is from, and what results are named after."""

    transcript: Transcript
    source: Path
    name: Path


def find(asked: str, library: Library | None) -> Found:
    """An existing file of a format that can be read, else the library's entry; EngineError NOT_FOUND if there is none.

    A title that several entries have is EngineError SEVERAL, which names their numbers.
    """
    path = Path(asked)
    if path.suffix.lower().lstrip(".") in READERS and path.is_file():
        read = read_file(os.fsencode(path))
        return Found(read, path, Path(path.name))
    entries = library.entries() if library else []
    entry = _chosen(asked, entries)
    assert library is not None
    name = Path(entry.title.replace("/", "-").replace(os.sep, "-").replace("\0", "") or "transcript")
    return Found(library.transcript(entry.id), Path(os.fsdecode(entry.source)), name)


def read_file(path: bytes) -> Transcript:
    """A transcript from a JSON, SRT or VTT file. EngineError NOT_FOUND, NOT_READABLE or NOT_A_TRANSCRIPT."""
    suffix = os.path.splitext(path)[1].lower().lstrip(b".").decode("ascii", "replace")  # noqa: PTH122 (bytes)
    return READERS[suffix](_text(path))


def _chosen(asked: str, entries: Sequence[Entry]) -> Entry:
    """By its number, its title, its title without regard to case, or without the suffix."""
    wanted = asked.casefold()
    ways = (
        [entry for entry in entries if str(entry.id) == asked],
        [entry for entry in entries if entry.title == asked],
        [entry for entry in entries if wanted in (entry.title.casefold(), Path(entry.title).stem.casefold())],
    )
    found = next((way for way in ways if way), list[Entry]())
    if not found:
        raise EngineError(Code.NOT_FOUND, f"{asked}: neither a JSON, SRT or VTT file nor a transcript of the library.")
    if len(found) > 1:
        numbers = ", ".join(str(entry.id) for entry in found)
        raise EngineError(Code.SEVERAL, f"{asked}: give one of the numbers {numbers}.")
    return found[0]


def _text(path: bytes) -> str:
    file = Path(os.fsdecode(path))
    try:
        if not file.is_file() and file.exists():  # opening a pipe would wait for whoever writes into it
            raise EngineError(Code.NOT_A_TRANSCRIPT, "It is no regular file.")
        if file.stat().st_size > MOST_BYTES:
            raise EngineError(Code.NOT_A_TRANSCRIPT, f"It is larger than {MOST_BYTES // 1_000_000} MB.")
        return file.read_bytes().decode()
    except FileNotFoundError as error:
        raise EngineError(Code.NOT_FOUND, shown(path)) from error
    except OSError as error:
        raise EngineError(Code.NOT_READABLE, f"{error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise EngineError(Code.NOT_A_TRANSCRIPT, str(error)) from error
