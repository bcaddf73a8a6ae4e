"""One engine process: its lines as they come, how it ended, and an end that takes no time."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from app.child import python_child
from engine.endings import Death, ending
from engine.errors import Code
from engine.protocol import MAX_LINE

LINES_AT_ONCE = 50  # read in one turn of the event loop, which must not be held for more than 50 ms
LAST_LINES = 20  # of what the engine wrote on stderr
LAST_LINE_LENGTH = 300  # characters


class WorkerProcess(QObject):
    """Emits `lines` and, once, `ended`; after `abandon` nothing any more, and it cleans up after itself."""

    lines = Signal(object)  # tuple[bytes, ...], in order
    ended = Signal(object)  # Death; every line was given before

    def __init__(self, data: Path, program: str, arguments: tuple[str, ...], parent: QObject) -> None:
        super().__init__(parent)
        self._death: Death | None = None
        self._abandoned = False
        self._last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self._process = python_child(self, data, arguments, program)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_errors)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._not_started)
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._read)

    def start(self) -> None:
        """Returns at once; a failure arrives as `ended`."""
        self._process.start()

    def write(self, line: bytes) -> None:
        """Returns at once, also before the process runs."""
        self._process.write(line)

    def abandon(self) -> None:
        """Kill it without waiting; it reaps itself later."""
        self._abandoned = True
        self._soon.stop()
        if self._process.state() == QProcess.ProcessState.NotRunning:
            self.deleteLater()
        else:
            self._process.finished.connect(self.deleteLater)
            self._process.kill()

    def bury(self, timeout_ms: int) -> None:
        """Kill it and wait until it is gone."""
        self.abandon()
        self._process.waitForFinished(timeout_ms)

    def _read(self) -> None:
        if self._abandoned:
            return
        lines: list[bytes] = []
        while len(lines) < LINES_AT_ONCE and self._process.canReadLine():
            lines.append(bytes(self._process.readLine().data()))
        more = self._process.canReadLine()
        endless = not more and self._process.bytesAvailable() > MAX_LINE
        if lines:
            self.lines.emit(tuple(lines))
        if self._abandoned:
            return
        if endless:
            self._end(Death(Code.ENGINE_GARBLED, f"It sent more than {MAX_LINE} bytes in one line."))
        elif more:
            self._soon.start()
        elif self._death:
            self._end(self._death)

    def _read_errors(self) -> None:
        text = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace")
        self._last_lines.extend(line[:LAST_LINE_LENGTH] for line in text.splitlines()[-LAST_LINES:] if line.strip())

    def _finished(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        self._death = ending(exit_code, status == QProcess.ExitStatus.CrashExit, tuple(self._last_lines))
        self._soon.start()

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:  # of the other errors, `finished` tells
            self._death = Death(Code.ENGINE_NOT_STARTED, self._process.errorString())
            self._soon.start()

    def _end(self, death: Death) -> None:
        self.abandon()
        self.ended.emit(death)
