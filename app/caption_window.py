"""The last words that were said, above all other windows: two lines that follow the recording."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QByteArray, QPointF, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
)
from PySide6.QtWidgets import QSizeGrip, QWidget

from app.look import scaled, secondary, unit
from app.recording import Recording
from app.settings import Settings
from app.transcript_caret import units
from engine.types import Segment

_LINES = 2
_KEPT = 400  # characters of what was said before: more than two lines of any size
_SMALLEST, _LARGEST, _STEP = 100, 600, 25  # percent of the usual type


class CaptionWindow(QWidget):
    """Moved by dragging, larger and smaller type with Ctrl+Plus and Ctrl+Minus, closed with Escape."""

    closed = Signal()

    def __init__(self, recording: Recording, settings: Settings) -> None:
        flags = Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint
        super().__init__(None, flags)
        self._settings = settings
        self._said = self._firm = self._loose = ""
        self.setWindowTitle("Sottovoce captions")
        self.setAccessibleName("Captions")
        self.setAccessibleDescription("The last words that were said")
        self.setToolTip("Drag to move · Ctrl+Plus and Ctrl+Minus change the type · Escape closes")
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self._usual = self.font()
        self._grip = QSizeGrip(self)
        self._grip.resize(self._grip.sizeHint())
        self.setMinimumSize(40 * unit(self), 10 * unit(self))
        self.resize(160 * unit(self), self._height())
        self.restoreGeometry(QByteArray(settings.values.caption_geometry))
        recording.partial.connect(self._show_partial)
        recording.segment.connect(self._show_segment)
        recording.changed.connect(lambda: recording.state == "starting" and self._clear())

    @property
    def text(self) -> str:
        """What is shown, as one line."""
        return " ".join(filter(None, (self._said, (self._firm + self._loose).strip())))

    def larger(self, steps: int) -> None:
        """Make the type so many steps larger (negative: smaller)."""
        size = min(_LARGEST, max(_SMALLEST, self._settings.values.caption_size + steps * _STEP))
        self._settings.change(caption_size=size)
        self.resize(self.width(), self._height())
        self.update()

    def _clear(self) -> None:
        self._said = self._firm = self._loose = ""
        self.update()

    def _show_partial(self, _start: int, firm: str, loose: str) -> None:
        self._firm, self._loose = firm, loose
        self.update()

    def _show_segment(self, segment: Segment) -> None:
        self._said = f"{self._said} {segment.text.strip()}".strip()[-_KEPT:]
        self._firm = self._loose = ""
        self.setAccessibleDescription(self._said)
        self.update()

    def _height(self) -> int:
        """Of two lines, in the type that is set."""
        self.setFont(scaled(self._usual, self._settings.values.caption_size / 100))
        return self.fontMetrics().lineSpacing() * _LINES + 2 * unit(self)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().base())
        painter.setPen(self.palette().text().color())
        step = unit(self)
        layout = self._laid_out(self.width() - 2 * step)
        first = max(0, layout.lineCount() - _LINES)
        above = layout.lineAt(first).y() if layout.lineCount() else 0.0
        for number in range(first, layout.lineCount()):
            layout.lineAt(number).draw(painter, QPointF(step, step - above))

    def _laid_out(self, width: int) -> QTextLayout:
        text, loose = self.text, self._loose.rstrip()
        layout = QTextLayout(text, self.font())
        layout.setFormats([_format_range(units(text) - units(loose), units(loose), secondary(self.palette()))])
        layout.beginLayout()
        height = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        return layout

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif control and event.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.larger(1)
        elif control and event.key() == Qt.Key.Key_Minus:
            self.larger(-1)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (window := self.windowHandle()) is not None:
            window.startSystemMove()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._grip.move(self.width() - self._grip.width(), self.height() - self._grip.height())

    def closeEvent(self, event: QCloseEvent) -> None:
        self._settings.change(caption_geometry=bytes(self.saveGeometry().data()))
        super().closeEvent(event)
        self.closed.emit()


def _format_range(start: int, length: int, colour: QColor) -> QTextLayout.FormatRange:
    style = QTextCharFormat()
    style.setForeground(colour)
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, length, style  # type: ignore[misc]  (plain fields in Qt)
    return made
