"""Takes a transcript from a JSON, SRT or WebVTT file into the library, as a finished entry."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import Code, EngineError
from engine.library import Entry, Library
from engine.transcripts import read_file
from engine.types import Options, Transcript

SUFFIXES = (b".json", b".srt", b".vtt")


def is_transcript(path: bytes) -> bool:
    """Whether the name says that it is no recording but a transcript."""
    return path.lower().endswith(SUFFIXES)


def import_transcript(library: Library, path: bytes, options: Options) -> Entry:
    """Add the transcript in a file; EngineError NOT_FOUND, NOT_READABLE, NOT_A_TRANSCRIPT or of the library."""
    read = read_file(path)
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
