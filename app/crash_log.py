"""What nobody caught goes to a log in the data folder, and the next start says so.

Caught are Python exceptions (a slot's end up in sys.excepthook as well), what Qt warns of, and, by faulthandler,
the stack of a crash in native code.
"""

from __future__ import annotations

import faulthandler
import sys
import traceback
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

NAME = "crash.log"
LAST = "crash.last.log"  # of the last start that left one
MOST = 256_000  # characters: an error in a paint event comes sixty times a second

_ERROR = " ERROR "  # is told at the next start; Qt's warnings alone are not
_LEVELS = {QtMsgType.QtCriticalMsg: _ERROR, QtMsgType.QtFatalMsg: _ERROR, QtMsgType.QtWarningMsg: " WARNING "}
_NATIVE = "Fatal Python error: "  # how faulthandler begins


class CrashLog:
    """Catches everything from its making to `close`. `last` is one line about the last time, "" when all was well."""

    def __init__(self, data: Path) -> None:
        self._path = data / NAME
        self.last = _put_aside(self._path, data / LAST)
        self._left = MOST
        self._file = self._path.open("w", encoding="utf-8", errors="backslashreplace")
        faulthandler.enable(self._file)
        sys.excepthook = self._on_exception
        qInstallMessageHandler(self._on_qt_message)

    def close(self) -> None:
        """Catch no more; an empty log is not kept."""
        sys.excepthook = sys.__excepthook__
        qInstallMessageHandler(None)
        faulthandler.disable()
        self._file.close()
        if self._path.stat().st_size == 0:
            self._path.unlink()

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        self._write(_ERROR, "".join(traceback.format_exception(kind, error, trace)))

    def _on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if level := _LEVELS.get(kind):
            self._write(level, text)
            print(f"{context.category or 'qt'}: {text}", file=sys.stderr)

    def _write(self, level: str, text: str) -> None:
        if self._left > 0:
            stamped = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}{level}{text.rstrip()}\n"
            self._left -= len(stamped)
            with suppress(OSError):  # a full disk is no reason to fail a second time
                self._file.write(stamped)
                self._file.flush()


def _put_aside(path: Path, last: Path) -> str:
    try:
        text = path.read_text("utf-8", "replace")
        path.replace(last)
    except FileNotFoundError:
        return ""
    gist = _gist(text)
    return f"Last time something went wrong: {gist} (written down in {last})" if gist else ""


def _gist(text: str) -> str:
    """The line that says what happened: the last one of the last exception, or the first one of a native crash."""
    gist, in_error = "", False
    for line in text.splitlines():
        if line.startswith(_NATIVE):
            return line.removeprefix(_NATIVE)
        if _ERROR in line[:40]:
            gist, in_error = line.partition(_ERROR)[2], True
        elif line[:1].isdigit():
            in_error = False
        elif in_error and line and not line[0].isspace():
            gist = line
    return gist
