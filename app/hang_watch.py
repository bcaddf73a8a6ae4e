"""Notices that a working engine gives no sign of life any more."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from engine.protocol import Event, Loaded, Partial, Progress, SegmentEvent

TICKS = 4  # silence is counted in quarters of the limit: a laptop that slept loses one of them, not the job


class HangWatch(QObject):
    """Watches one job at a time, from `begin` to `end`.

    A hang is: no progress, partial or segment for max(`shortest_ms`, 10 × the time that a window of this job
    has taken so far, or is expected to take). It is noticed at most a quarter of the limit late.
    """

    hung = Signal(int)  # the limit, in milliseconds

    def __init__(self, shortest_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shortest = shortest_ms
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self._longest = 0
        self._silent = 0
        self._window_began = 0

    @property
    def limit(self) -> int:
        """Milliseconds of silence that count as a hang."""
        return max(self._shortest, 10 * self._longest)

    def begin(self) -> None:
        """A job was handed to the engine."""
        self._longest = self._silent = 0
        self._window_began = _now()
        self._timer.start(self.limit // TICKS)

    def see(self, event: Event) -> None:
        """The engine sent this."""
        longest = self._longest
        match event:
            case Loaded(window_ms=expected):
                longest = max(longest, expected)
            case Progress(stage="transcribing"):
                longest = max(longest, _now() - self._window_began)
                self._window_began = _now()
            case Progress():
                self._window_began = _now()
            case Partial() | SegmentEvent():
                pass
            case _:
                return
        self._silent = 0
        if longest != self._longest:
            self._longest = longest
            if self._timer.isActive() and self._timer.interval() != self.limit // TICKS:
                self._timer.start(self.limit // TICKS)

    def end(self) -> None:
        """The job is over."""
        self._timer.stop()

    def _tick(self) -> None:
        self._silent += 1
        if self._silent >= TICKS:
            self._timer.stop()
            self.hung.emit(self.limit)


def _now() -> int:
    return int(time.monotonic() * 1000)
