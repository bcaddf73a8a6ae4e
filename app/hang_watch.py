"""Notices that a working engine gives no sign of life any more."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from engine.hang_rule import HangRule
from engine.protocol import Event


class HangWatch(QObject):
    """Watches one job at a time by the rule of `HangRule`, from `begin` to `end`."""

    hung = Signal(int)  # the limit, in milliseconds

    def __init__(self, shortest_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shortest = shortest_ms
        self._rule = HangRule(shortest_ms)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)

    def begin(self) -> None:
        """A job was handed to the engine."""
        self._rule = HangRule(self._shortest)
        self._timer.start(self._rule.quarter)

    def see(self, event: Event) -> None:
        """The engine sent this."""
        self._rule.see(event)
        if self._timer.isActive() and self._timer.interval() != self._rule.quarter:
            self._timer.start(self._rule.quarter)

    def hold(self) -> None:
        """Let it be silent until `go_on`."""
        self._timer.stop()

    def go_on(self) -> None:
        """Watch again, from now."""
        self._rule.begin_window()
        self._timer.start(self._rule.quarter)

    def end(self) -> None:
        """The job is over."""
        self._timer.stop()

    def _tick(self) -> None:
        if self._rule.tick():
            self._timer.stop()
            self.hung.emit(self._rule.limit)
