"""The program on a screen, and what is in its library meanwhile."""

from __future__ import annotations

import sys
from pathlib import Path

from engine.folders import library_file
from engine.library import Entry, Library
from engine.types import Segment
from tests.e2e.screen import Screen


def entries(data: Path) -> list[Entry]:
    if not library_file(data).exists():
        return []
    library = Library.open(library_file(data), writable=False)
    try:
        return library.entries()
    finally:
        library.close()


def segments(data: Path, entry: Entry) -> list[Segment]:
    library = Library.open(library_file(data), writable=False)
    try:
        return library.segments.read(entry.id)
    finally:
        library.close()


def ended(data: Path, count: int = 1) -> list[Entry]:
    found = entries(data)
    return found if len(found) >= count and all(entry.state in ("done", "failed") for entry in found) else []


def open_window(screen: Screen, data: Path, *files: Path, **environment: str) -> str:
    """Start the program; the id of its window, moved away from the drag source."""
    screen.start(sys.executable, "-P", "-m", "app", "--data-dir", data, *files, **environment)
    window = screen.window("^Sottovoce$")
    screen.do("windowsize", "--sync", window, "1000", "700")
    screen.do("windowmove", "--sync", window, "250", "50")
    return window
