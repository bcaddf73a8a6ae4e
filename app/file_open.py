"""macOS hands a program its files as events, not as words of a command line: "Open with", or dropped on its icon."""

from __future__ import annotations

import os

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class FileOpen(QObject):
    """Tells each of these files, from now on and for as long as the application runs."""

    files = Signal(object)  # tuple[bytes, ...]

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt calls it)
        """Take what is for us, let everything else pass."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.files.emit((os.fsencode(event.file()),))
            return True
        return super().eventFilter(watched, event)
