"""Starts `app.export_job` and says how it ended."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QProcess, Signal

from app.child import python_child
from engine.errors import Code
from engine.folders import library_file
from engine.program import PROGRAM, run_module

_QUIT_MS = 10_000  # how long the window waits for it at its end
_JOB = run_module("app.export_job")


class ExportProcess(QObject):
    """One export, from `start` to `done` or `failed`."""

    done = Signal(bytes)  # what it wrote to standard output
    failed = Signal(object, str)  # Code, detail

    def __init__(
        self,
        data: Path,
        entry_id: int,
        format_name: str,
        preset: str,
        target: Path | None,
        parent: QObject,
        program: str = PROGRAM,
    ) -> None:
        super().__init__(parent)
        where = () if target is None else (str(target),)
        arguments = (*_JOB, str(library_file(data)), str(entry_id), format_name, preset, *where)
        self._process = python_child(self, data, arguments, program)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._not_started)

    def start(self) -> None:
        """Begin; returns at once."""
        self._process.start()

    def finish(self) -> None:
        """At the window's end: what was asked for is written."""
        self._process.waitForFinished(_QUIT_MS)

    def _finished(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        if exit_code == 0 and status == QProcess.ExitStatus.NormalExit:
            self.done.emit(bytes(self._process.readAllStandardOutput().data()))
            return
        said = bytes(self._process.readAllStandardError().data())
        try:
            self.failed.emit(*msgspec.json.decode(said, type=tuple[Code, str]))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            self.failed.emit(Code.INTERNAL, said.decode("utf-8", "replace").strip().rpartition("\n")[2])

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self.failed.emit(Code.INTERNAL, self._process.errorString())
