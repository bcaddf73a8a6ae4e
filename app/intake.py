"""Takes dropped paths into the library, a little in each turn of the event loop."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from app.folder_walk import files_of
from app.transcript_import import import_transcript, is_transcript
from engine.errors import Code, EngineError
from engine.files import shown
from engine.library import Entry, Library
from engine.recording import is_recording
from engine.types import Options

SLICE_S = 0.02  # of the 50 ms that a turn of the event loop may take
AGAIN_MS = 2_000  # the same file within this time is a slip of the hand


@dataclass(slots=True)
class _Dropped:
    """One dropped path on its way into the library."""

    path: bytes
    options: Options
    files: Iterator[bytes | None]
    count: int = 0


class Intake(QObject):
    """`take` adds what fits into one slice and returns; the rest follows by itself."""

    added = Signal(int)  # id of a new entry
    said = Signal(str)

    def __init__(self, library: Library, parent: QObject) -> None:
        super().__init__(parent)
        self._library = library
        self._dropped: deque[_Dropped] = deque()
        self._known: dict[tuple[bytes, Options], int] = {}
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._slice)

    def take(self, paths: Sequence[bytes], options: Options) -> list[int]:
        """Queue files and folders; ids of what was added (or there already) within the first slice."""
        self._dropped.extend(_Dropped(path, options, _files(path)) for path in paths)
        return self._slice()

    def forget(self, entry_ids: Collection[int]) -> None:
        """These were removed: their files may be added again."""
        self._known = {key: entry_id for key, entry_id in self._known.items() if entry_id not in entry_ids}

    def stop(self) -> None:
        """Forget what was not added yet."""
        self._dropped.clear()
        self._soon.stop()

    def _slice(self) -> list[int]:
        ids: list[int] = []
        deadline = time.monotonic() + SLICE_S
        while self._dropped and time.monotonic() < deadline:
            dropped = self._dropped[0]
            try:
                path = next(dropped.files)
            except StopIteration:
                self._dropped.popleft()
                self._report(dropped)
            except OSError as error:
                self._dropped.popleft()
                self.said.emit(f"{shown(dropped.path)}: {error.strerror}.")
            else:
                if path is not None:
                    dropped.count += 1
                    ids += self._add(path, dropped.options)
        if self._dropped:
            self._soon.start()
        return ids

    def _report(self, dropped: _Dropped) -> None:
        if not dropped.count:
            self.said.emit(f"There is no recording in the folder {_name(dropped.path)}.")

    def _add(self, path: bytes, options: Options) -> list[int]:
        known = self._known.get((path, options))
        if known is not None and self._is_pending(known):
            self.said.emit(f"{_name(path)} is already in the list.")
            return [known]
        try:
            entry = self._entry(path, options)
        except EngineError as error:
            if is_transcript(path) and error.code in {Code.NOT_FOUND, Code.NOT_READABLE, Code.NOT_A_TRANSCRIPT}:
                self.said.emit(f"{_name(path)}: {error}")
                return []
            self.stop()
            self.said.emit(str(error))
            return []
        self._known[path, options] = entry.id
        self.added.emit(entry.id)
        return [entry.id]

    def _entry(self, path: bytes, options: Options) -> Entry:
        if is_transcript(path):
            return import_transcript(self._library, path, options)
        return self._library.add(path, options)

    def _is_pending(self, entry_id: int) -> bool:
        try:
            entry = self._library.entry(entry_id)
        except KeyError:
            return False
        return entry.state in ("waiting", "running") or entry.created > time.time_ns() // 1_000_000 - AGAIN_MS


def _files(path: bytes) -> Iterator[bytes | None]:
    """A file is taken whatever its name is, and so is a recording of our own; a folder gives what may be recordings."""
    if os.path.isdir(path) and not is_recording(path):  # noqa: PTH112 (bytes)
        yield from files_of(path)
    else:
        yield path


def _name(path: bytes) -> str:
    return f"“{shown(os.path.basename(path.rstrip(b'/')))}”"  # noqa: PTH119 (bytes)
