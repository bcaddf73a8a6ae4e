"""At the start: recordings that were cut off or have no entry come into the list; removed ones are deleted."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from engine.errors import EngineError
from engine.library import Entry, Library
from engine.notices import RECOVERED
from engine.protocol import Notice
from engine.recording import (
    RecordingFacts,
    is_living,
    is_recording,
    length,
    read_facts,
    recordings_folder,
    unfinished,
)
from engine.types import Options


def adopt(library: Library, data: Path, options: Options) -> None:
    """Before the jobs start. EngineError when the library cannot be written.

    An entry whose window died while it recorded is marked as recovered. A recording without an entry (of a window
    that died before it could store one, or of `sottovoce record`) gets one that rests until it is asked for.
    """
    unfinished(data)
    _delete_removed(library, data)
    for entry in library.entries():
        if entry.state == "running" and is_recording(entry.source):
            _mark(library, entry)
    known = library.sources()
    for folder in sorted(path for path in recordings_folder(data).iterdir() if os.fsencode(path) not in known):
        with suppress(EngineError):  # no recording.json: nothing was heard
            facts = read_facts(folder)
            if not is_living(folder):
                _add(library, folder, facts, options)


def _mark(library: Library, entry: Entry) -> None:
    notice = Notice(entry.id, RECOVERED)
    if notice not in entry.notices:
        library.update(entry.id, notices=(*entry.notices, notice))


def _add(library: Library, folder: Path, facts: RecordingFacts, options: Options) -> None:
    began = datetime.fromtimestamp(facts.started / 1000).astimezone()
    duration = length(folder, facts)  # first: an entry without it would wait for its turn
    entry = library.add(os.fsencode(folder), options, facts.started)
    entry = library.update(entry.id, title=f"Recording {began:%H:%M}", state="interrupted", duration=duration)
    if facts.state == "recovered":
        _mark(library, entry)


def _delete_removed(library: Library, data: Path) -> None:
    """The sound of recordings that were removed from the list, which said so; until now that could be undone."""
    kept = {entry.source for entry in library.entries()}
    kept |= {os.path.dirname(source) for source in kept}  # noqa: PTH120 (bytes): a part that was dropped on the window
    for source in library.sources(removed=True) - kept:
        folder = Path(os.fsdecode(source))
        if folder.parent == recordings_folder(data) and is_recording(source) and not is_living(folder):
            shutil.rmtree(folder, ignore_errors=True)  # what stays comes into the list again
