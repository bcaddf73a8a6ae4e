"""The last line of the window: what runs and how fast, as buttons; at the right, what just happened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from app.jobs import Live
from app.look import Elided, Quiet, small, tip, unit
from app.wording import model_label, seconds, speed, time_left
from engine.library import Entry
from engine.types import Timings

_SHOWN_MS = 10_000  # how long a message stays
_DEVICE = "What the model runs on, and why (F4)"


class StatusLine(QWidget):
    """Facts of the shown entry at the left; a message, with a button when there is something to do about it."""

    model_clicked = Signal()
    details_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        step = unit(self)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(step, step // 2, 2 * step, step // 2)
        self._layout.setSpacing(0)
        self.model = self._part("Model of the next files: choose another (Ctrl+M)", self.model_clicked.emit)
        self.device = self._part(_DEVICE, self.details_clicked.emit)
        self.loaded = self._part("How long loading the model took (F4)", self.details_clicked.emit)
        self.speed = self._part("Where the time goes (F4)", self.details_clicked.emit)
        self.left = self._part("Estimated from the speed so far (F4)", self.details_clicked.emit)
        self.place = Quiet()
        self.place.setAccessibleName("Times of the current segment")
        self._layout.addWidget(self.place)
        self._message = Elided()
        self._message.setFont(small(self.font()))
        self._message.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._message.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._layout.addWidget(self._message, 1)
        self._act = QToolButton(autoRaise=True)
        self._act.setFont(small(self.font()))
        self._act.clicked.connect(self._do)
        self._act.hide()
        self._layout.addWidget(self._act)
        self._does: Callable[[], object] = self.clear
        self._over = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._over.timeout.connect(self.clear)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)

    def show_entry(self, entry: Entry | None, live: Live | None, next_model: str) -> None:
        """Say what is known of an entry; without one, only the model of the next file."""
        timings = entry.timings if entry else None
        self._set(self.model, model_label(entry.model or entry.options.model if entry else next_model))
        self._set(self.device, " · ".join(filter(None, (entry.backend, entry.device))) if entry else "")
        self.device.setToolTip(tip(f"{_DEVICE}\n{entry.reason}" if entry and entry.reason else _DEVICE))
        loading = seconds(entry.load_ms) if entry and entry.load_ms is not None else ""
        self._set(self.loaded, f"loaded in {loading}" if loading else "")
        self.show_timings(timings)
        self._set(self.left, time_left(live.left) if live and live.left else "")

    def show_timings(self, timings: Timings | None) -> None:
        """How fast it went so far."""
        self._set(self.speed, speed(timings.speed) if timings and timings.total and timings.audio else "")

    def show_place(self, text: str) -> None:
        """The times of the segment the reader is at."""
        self.place.setText(f"  {text}" if text else "")

    def say(self, text: str, button: str = "", act: Callable[[], object] | None = None) -> None:
        """Show a message for a while, with something to do about it."""
        self._message.setText(text)
        self._message.setToolTip(tip(text))
        self._act.setVisible(act is not None)
        self._act.setText(button)
        self._act.setAccessibleName(f"{text} {button}")
        self._does = act or self.clear
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
        self._over.start()

    def clear(self) -> None:
        """Take the message away."""
        self._over.stop()
        self._message.setText("")
        self._act.hide()

    def _do(self) -> None:
        does = self._does
        self.clear()
        does()

    def _part(self, about: str, act: Callable[[], None]) -> QToolButton:
        if self._layout.count():
            self._layout.addWidget(Quiet("·"))
        button = QToolButton(autoRaise=True)
        button.setFont(small(self.font()))
        button.setToolTip(about)
        button.clicked.connect(lambda _checked: act())
        self._layout.addWidget(button)
        return button

    def _set(self, button: QToolButton, text: str) -> None:
        """An empty part hides, and with it the dot before it."""
        button.setText(text)
        button.setAccessibleName(text)
        button.setVisible(bool(text))
        before = self._layout.itemAt(self._layout.indexOf(button) - 1)
        if isinstance(dot := before.widget() if before else None, QLabel):
            dot.setVisible(bool(text))
