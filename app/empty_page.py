"""The page before there is anything: one large place to drop files on, and what this program does."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.icons import Picture, set_icon
from app.look import Label, Quiet, faint, scaled, unit


class EmptyPage(QWidget):
    """`open_files`, `record`: the button was pressed."""

    open_files = Signal()
    record = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        step = unit(self)
        picture = Picture()
        picture.show_icon("drop", 4 * self.fontMetrics().height())
        title = Label("Drop recordings or videos here")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title.setFont(scaled(self.font(), 1.6, QFont.Weight.Medium))
        self.button = QPushButton("Open files…")
        self.button.setToolTip("Open recordings or videos (Ctrl+O)")
        self.button.clicked.connect(self.open_files)
        self.record_button = QPushButton("Record")
        self.record_button.setToolTip("Record a microphone (Ctrl+R)")
        set_icon(self.record_button, "record")
        self.record_button.clicked.connect(self.record)
        promise = Quiet(
            "Sottovoce writes down what is said: as text to read and as subtitles.\nNothing leaves this computer.",
            scale=1.0,
        )
        promise.setAlignment(Qt.AlignmentFlag.AlignCenter)
        promise.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6 * step, 6 * step, 6 * step, 6 * step)
        layout.setSpacing(3 * step)
        layout.addStretch(2)
        layout.addWidget(picture)
        layout.addWidget(title)
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * step)
        buttons.addStretch(1)
        buttons.addWidget(self.button)
        buttons.addWidget(self.record_button)
        buttons.addStretch(1)
        layout.addLayout(buttons)
        layout.addWidget(promise)
        layout.addStretch(3)
        self.setAccessibleName("Drop recordings or videos here")

    def paintEvent(self, _event: QPaintEvent) -> None:
        step = unit(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(faint(self.palette()), 2, Qt.PenStyle.DashLine))
        around = QRectF(self.rect()).adjusted(3 * step, 3 * step, -3 * step, -3 * step)
        painter.drawRoundedRect(around, 2 * step, 2 * step)
