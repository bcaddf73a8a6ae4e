"""What the verbs say: lines and progress on standard error, results on standard output."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import threading
import unicodedata
from contextlib import suppress
from pathlib import Path

from engine.errors import Code, EngineError
from engine.files import shown

_CLEAR_LINE = "\r\x1b[K"
_one_at_a_time = threading.Lock()  # words and progress may come from two threads
_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they reorder a line


def named(path: Path | bytes) -> str:
    """A path on one line, with nothing in it that a terminal would obey."""
    return escaped(shown(path)).replace("\n", "\\n")


def escaped(text: str) -> str:
    """`text` with control characters, except line feeds, as escapes."""
    return "".join(ascii(char)[1:-1] if _is_control(char) else char for char in text)


def say(text: str) -> None:
    """Lines on standard error, in place of a progress line. A standard error that takes nothing is no failure."""
    with _one_at_a_time, suppress(OSError):
        print((_CLEAR_LINE if sys.stderr.isatty() else "") + escaped(text), file=sys.stderr, flush=True)


def show_progress(name: str, rest: str) -> None:
    """One line that the next one replaces, cut to the terminal's width; nothing where there is no terminal."""
    if sys.stderr.isatty():
        with _one_at_a_time, suppress(OSError):
            print(_CLEAR_LINE + fitted(name, rest, _width() - 1), end="", file=sys.stderr, flush=True)


def fitted(name: str, rest: str, width: int) -> str:
    """`name` and `rest` in `width` cells; the name loses its middle first, then the line its end."""
    room = width - _cells(rest) - 2
    if _cells(name) <= room:
        return f"{name}  {rest}"
    if room < 3:
        return _head(rest, width)
    head = _head(name, room // 2)
    tail = _head(name[::-1], room - 1 - _cells(head))[::-1]
    return f"{head}…{tail}  {rest}"


def to_stdout(data: bytes) -> None:
    """Write at once, unbuffered, so that nothing is left that fails again at the end of the program.

    On a terminal it takes the place of a progress line.
    EngineError DISK_FULL or NOT_WRITABLE; BrokenPipeError when the reader has gone.
    """
    try:
        with _one_at_a_time, open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as raw:
            rest = memoryview(_CLEAR_LINE.encode() + data if _is_a_terminal() else data)
            while rest:
                rest = rest[raw.write(rest) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        code = Code.DISK_FULL if error.errno == errno.ENOSPC else Code.NOT_WRITABLE
        raise EngineError(code, f"standard output: {error.strerror or error}") from error


def _is_a_terminal() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty()


def _is_control(char: str) -> bool:
    return (unicodedata.category(char) in ("Cc", "Cs") and char != "\n") or char in _DIRECTIONS


def _width() -> int:
    """The terminal's, also when standard output goes elsewhere."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return shutil.get_terminal_size().columns


def _cells(text: str) -> int:
    return sum(map(_cell, text))


def _cell(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _head(text: str, width: int) -> str:
    """As many characters from the start as `width` cells hold."""
    used = 0
    for index, char in enumerate(text):
        used += _cell(char)
        if used > width:
            return text[:index]
    return text
