"""How the window starts a child of its own: the engine as a separate process, never a user's own `engine/` folder."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment

from engine.program import PROGRAM, run_module

ENGINE = run_module("engine")


def python_child(parent: QObject, data: Path, arguments: tuple[str, ...], program: str = PROGRAM) -> QProcess:
    """A process that is not started yet: in the data folder, which it also finds as $SOTTOVOCE_DATA."""
    process = QProcess(parent)
    process.setProgram(program)
    process.setArguments(list(arguments))
    process.setWorkingDirectory(str(data))
    environment = QProcessEnvironment.systemEnvironment()
    environment.insert("SOTTOVOCE_DATA", str(data))
    process.setProcessEnvironment(environment)
    return process
