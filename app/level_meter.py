"""How loud the microphone is: a bar for the mean, a mark for the peak, and a light for speech."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look import accent, accent_text, faint, secondary, unit

_FLOOR = -60.0  # dBFS: quieter is the left end
_LOUD = -1.0  # from here on the sound is cut off at its tops


class LevelMeter(QWidget):
    """Shows the last level it was told, in dBFS."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rms = self._peak = -100.0
        self.setAccessibleName("Level")
        self.setMinimumWidth(20 * unit(self))

    def show_level(self, rms: float, peak: float) -> None:
        """Draw these."""
        self._rms, self._peak = rms, peak
        self.setToolTip(f"Loudness {rms:.0f} dBFS, peak {peak:.0f} dBFS".replace("-", "−"))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(50 * unit(self), 2 * unit(self))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        height = float(unit(self))
        bar = QRectF(0, (self.height() - height) / 2, self.width(), height)
        painter.setBrush(faint(self.palette()))
        painter.drawRoundedRect(bar, height / 2, height / 2)
        painter.setBrush(accent(self.palette()))
        filled = bar.adjusted(0, 0, -bar.width() * (1 - _share(self._rms)), 0)
        painter.drawRoundedRect(filled, height / 2, height / 2)
        if self._peak > _FLOOR:
            is_cut_off = self._peak >= _LOUD
            painter.setBrush(accent_text(self.palette()) if is_cut_off else secondary(self.palette()))
            painter.drawRect(QRectF(bar.left() + (bar.width() - 3) * _share(self._peak), bar.top() - 2, 3, height + 4))


class SpeechLight(QWidget):
    """A dot that is filled while somebody is heard to speak."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_on = False
        side = 2 * unit(self)
        self.setFixedSize(side, side)

    def set_on(self, on: bool) -> None:
        """Fill it, or leave its outline."""
        if on != self.is_on:
            self.is_on = on
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(accent(self.palette()) if self.is_on else secondary(self.palette()))
        painter.setBrush(accent(self.palette()) if self.is_on else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QRectF(self.rect()).adjusted(2, 2, -2, -2))


def _share(dbfs: float) -> float:
    return min(1.0, max(0.0, 1 - dbfs / _FLOOR))
