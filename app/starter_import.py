"""Puts the starter model in place at the first start, in a process of its own; jobs wait for it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

from app.child import ENGINE, python_child
from engine.endings import ending
from engine.folders import models_folder
from engine.models.starter import starter_available
from engine.models.store import ModelStore
from engine.program import PROGRAM


def is_needed(data: Path) -> bool:
    """Whether there is no model yet, and one came with the installation."""
    return not ModelStore(models_folder(data)).list() and starter_available()


class StarterImport(QObject):
    """From `start` to `ended`."""

    progress = Signal(int)  # per cent
    ended = Signal(str)  # "" when the model is there, else why not

    def __init__(
        self,
        data: Path,
        parent: QObject,
        program: str = PROGRAM,
        arguments: tuple[str, ...] = (*ENGINE, "models", "starter"),
    ) -> None:
        super().__init__(parent)
        self._process = python_child(self, data, arguments, program)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._not_started)

    def start(self) -> None:
        """Begin; returns at once."""
        self._process.start()

    def stop(self) -> None:
        """At the window's end: what is unfinished is begun anew next time."""
        self._process.blockSignals(True)
        self._process.kill()
        self._process.waitForFinished(2_000)

    def _read(self) -> None:
        """Lines of two numbers, done and total; anything else is for people."""
        while self._process.canReadLine():
            words = bytes(self._process.readLine().data()).split()
            if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]):
                self.progress.emit(int(words[0]) * 100 // int(words[1]))

    def _finished(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        if exit_code == 0 and status == QProcess.ExitStatus.NormalExit:
            self.ended.emit("")
            return
        said = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace").strip()
        death = ending(exit_code, status == QProcess.ExitStatus.CrashExit, said.splitlines()[-1:])
        self.ended.emit(death.detail.splitlines()[-1])

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self.ended.emit(self._process.errorString())
