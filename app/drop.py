"""Dropping files and folders anywhere on the window."""

# ruff: noqa: D102, N802  (overrides are named and explained by Qt)

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.look import accent, blend, scaled, small, unit
from app.wording import counted


class Drop(QWidget):
    """Covers the window while something is dragged over it, and says what will happen."""

    dropped = Signal(object)  # list[bytes]: paths as os.fsencode gives them
    refused = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window, self._text = window, ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.setGeometry(self._window.rect())
        if isinstance(event, QDragEnterEvent):
            if event.mimeData().hasUrls():
                event.acceptProposedAction()
                self._cover(promise(event.mimeData().urls()))
            return True
        if event.type() == QEvent.Type.DragLeave:
            self.hide()
            return True
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self.hide()
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._take(event.mimeData())
            return True
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, step = self.palette(), unit(self)
        ground = blend(accent(palette), palette.base().color(), 0.10)
        ground.setAlphaF(0.97)
        painter.fillRect(self.rect(), ground)
        painter.setPen(QPen(accent(palette), 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(step, step, -step, -step), 2 * step, 2 * step)
        painter.setPen(palette.text().color())
        painter.setFont(scaled(self.font(), 1.6, QFont.Weight.Medium))
        line = painter.fontMetrics().height()
        upper = self.rect().adjusted(0, 0, 0, -line)
        painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, self._text)
        painter.setFont(small(self.font()))
        painter.drawText(self.rect().adjusted(0, line, 0, line), Qt.AlignmentFlag.AlignCenter, "It starts at once.")

    def _cover(self, text: str) -> None:
        self._text = text
        self.setAccessibleName(text)
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()

    def _take(self, data: QMimeData) -> None:
        paths = [path for url in data.urls() if (path := local_path(url)) is not None]
        away = len(data.urls()) - len(paths)
        if away:
            self.refused.emit(f"{counted(away, 'dropped item')} not on this computer: save it as a file first.")
        if paths:
            self.dropped.emit(paths)


def local_path(url: QUrl) -> bytes | None:
    """The path of a dropped file, byte for byte also where it is no text; None for what is not on this computer."""
    if not url.isLocalFile():
        return None
    if sys.platform == "win32" or url.host():
        return os.fsencode(url.toLocalFile())
    return unquote_to_bytes(bytes(url.toEncoded(QUrl.ComponentFormattingOption.FullyEncoded).data())[len("file://") :])


def promise(urls: Sequence[QUrl]) -> str:
    """What dropping these would do: "Drop 3 files and 1 folder to transcribe them"."""
    paths = [path for url in urls if (path := local_path(url)) is not None]
    folders = sum(os.path.isdir(path) for path in paths)  # noqa: PTH112 (bytes)
    kinds = [(len(paths) - folders, "file"), (folders, "folder")]
    named = " and ".join(counted(count, kind) for count, kind in kinds if count)
    if not named:
        return "This is not a file on this computer"
    return f"Drop {named} to transcribe {'it' if len(paths) == 1 else 'them'}"
