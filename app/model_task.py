"""Getting a model in a process of its own: a download, which can be stopped and goes on later, or an import."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from app.child import ENGINE, python_child
from engine.program import PROGRAM

_LOOK_MS = 300  # how often the size of the file is looked at
_PREFIX = "sottovoce models: "  # of the line that says why it failed


class ModelTask(QObject):
    """From `start` to `ended`. How far a download is shows the file it writes: the disk is the bus."""

    progress = Signal(object)  # bytes so far
    ended = Signal(str)  # "" when the model is there, else why not

    def __init__(
        self,
        data: Path,
        arguments: tuple[str, ...],
        written: Path | None,
        parent: QObject,
        program: str = PROGRAM,
        verb: tuple[str, ...] = (*ENGINE, "models"),
    ) -> None:
        super().__init__(parent)
        self._written = written
        self._process = python_child(self, data, (*verb, *arguments), program)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._not_started)
        self._looking = QTimer(self, interval=_LOOK_MS)
        self._looking.timeout.connect(self._look)

    def start(self) -> None:
        """Begin; returns at once."""
        self._process.start()
        self._looking.start()

    def stop(self) -> None:
        """End it without a word; a download goes on from there next time."""
        self._looking.stop()
        self._process.blockSignals(True)
        self._process.kill()
        self._process.waitForFinished(2_000)

    def _look(self) -> None:
        if self._written is not None and self._written.exists():
            self.progress.emit(self._written.stat().st_size)

    def _finished(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        self._looking.stop()
        if exit_code == 0 and status == QProcess.ExitStatus.NormalExit:
            self.ended.emit("")
            return
        said = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace").strip()
        self.ended.emit(said.split("\n")[-1].removeprefix(_PREFIX) or f"It ended with code {exit_code}.")

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._looking.stop()
            self.ended.emit(self._process.errorString())
