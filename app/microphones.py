"""Which microphones there are now. PortAudio looks once in a process, so each look is a process of its own."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QProcess, Signal

from app.child import ENGINE, python_child


class Microphone(msgspec.Struct, frozen=True):
    """What `sottovoce devices --json` says of one."""

    name: str
    channels: int
    is_default: bool


_LINE = msgspec.json.Decoder(Microphone)


class Microphones(QObject):
    """`found` are those of the last look, the default one first."""

    changed = Signal()

    def __init__(self, data: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._data = data
        self._process: QProcess | None = None
        self.found: tuple[Microphone, ...] = ()

    def look(self) -> None:
        """Look again; `changed` comes soon. Nothing while a look is on its way."""
        if self._process is not None:
            return
        self._process = python_child(self, self._data, (*ENGINE, "devices", "--json"))
        self._process.finished.connect(self._done)
        self._process.errorOccurred.connect(self._not_started)
        self._process.start()

    def stop(self) -> None:
        """At the window's end."""
        if self._process is not None:
            self._process.finished.disconnect(self._done)
            self._process.kill()
            self._process.waitForFinished(2_000)

    def _done(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        lines = bytes(process.readAllStandardOutput().data()).splitlines()
        process.deleteLater()
        try:
            self.found = tuple(map(_LINE.decode, lines))
        except msgspec.MsgspecError:
            self.found = ()
        self.changed.emit()

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._process = None
