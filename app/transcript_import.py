"""Takes a transcript that was exported as JSON into the library, as a finished entry."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

from engine.errors import Code, EngineError
from engine.exports import json
from engine.files import shown
from engine.library import Entry, Library
from engine.types import Options, Transcript

SUFFIX = b".json"
MOST_BYTES = 50_000_000  # a day of speech with the times of its words has about 20 MB


def is_transcript(path: bytes) -> bool:
    """Whether the name says that it is no recording but a transcript."""
    return path.lower().endswith(SUFFIX)


def import_transcript(library: Library, path: bytes, options: Options) -> Entry:
    """Add the transcript in a file; EngineError NOT_FOUND, NOT_READABLE, NOT_A_TRANSCRIPT or of the library."""
    read = json.read(_text(path))
    entry = library.add(path, replace(options, model=read.model or options.model))
    try:
        return _fill(library, entry, read)
    except OverflowError as error:  # a time beyond SQLite's 64 bits
        library.remove([entry.id])
        raise EngineError(Code.NOT_A_TRANSCRIPT, str(error)) from error
    except EngineError:
        library.remove([entry.id])
        raise


def _fill(library: Library, entry: Entry, read: Transcript) -> Entry:
    library.segments.append(entry.id, *read.segments)
    return library.update(
        entry.id,
        state="done",
        outcome="text" if read.segments else "no_speech",
        title=read.source or entry.title,
        duration=read.duration,
        language=read.language,
        model=read.model,
        backend=read.backend,
        timings=read.timings,
    )


def _text(path: bytes) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116 (bytes)
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for whoever writes into it
            raise EngineError(Code.NOT_A_TRANSCRIPT, "It is no regular file.")
        if status.st_size > MOST_BYTES:
            raise EngineError(Code.NOT_A_TRANSCRIPT, f"It is larger than {MOST_BYTES // 1_000_000} MB.")
        with open(path, "rb") as file:
            return file.read().decode()
    except FileNotFoundError as error:
        raise EngineError(Code.NOT_FOUND, shown(path)) from error
    except OSError as error:
        raise EngineError(Code.NOT_READABLE, f"{error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise EngineError(Code.NOT_A_TRANSCRIPT, str(error)) from error
