"""When a silent engine counts as hung; the window and the command line measure by the same rule."""

from __future__ import annotations

import time

from engine.protocol import Event, Loaded, Partial, Progress, SegmentEvent

SHORTEST_MS = 60_000
TICKS = 4  # silence is counted in quarters of the limit: a laptop that slept loses one of them, not the job


class HangRule:
    """About one file: no progress, partial or segment for `limit` is a hang.

    The limit is max(`shortest_ms`, 10 × the time that a window of this file has taken so far, or is expected to
    take). Whoever uses it calls `tick` every `quarter`, so that a hang is noticed at most a quarter late.
    """

    def __init__(self, shortest_ms: int = SHORTEST_MS) -> None:
        self._shortest = shortest_ms
        self._longest = 0
        self._silent = 0
        self._window_began = _now()

    @property
    def limit(self) -> int:
        """Milliseconds of silence that count as a hang."""
        return max(self._shortest, 10 * self._longest)

    @property
    def quarter(self) -> int:
        """Milliseconds from one tick to the next."""
        return self.limit // TICKS

    def see(self, event: Event) -> None:
        """The engine sent this."""
        match event:
            case Loaded(window_ms=expected):
                self._longest = max(self._longest, expected)
            case Progress(stage="transcribing"):
                self._longest = max(self._longest, _now() - self._window_began)
                self._window_began = _now()
            case Progress():
                self._window_began = _now()
            case Partial() | SegmentEvent():
                pass
            case _:
                return
        self._silent = 0

    def begin_window(self) -> None:
        """Count from now: the engine was told to wait."""
        self._silent = 0
        self._window_began = _now()

    def tick(self) -> bool:
        """A quarter of the limit has gone by; whether that makes a hang."""
        self._silent += 1
        return self._silent >= TICKS


class TimeLimit(HangRule):
    """So many ms from the loaded model to the end; while it loads, silence counts as a hang as elsewhere."""

    def __init__(self, limit_ms: int) -> None:
        super().__init__()
        self._allowed = limit_ms
        self._until = _now() + SHORTEST_MS
        self._loaded = False

    @property
    def quarter(self) -> int:
        """Often enough to end in time."""
        return 50

    def see(self, event: Event) -> None:
        """The engine sent this."""
        if isinstance(event, Loaded):
            self._loaded, self._until = True, _now() + self._allowed
        elif not self._loaded:
            self._until = _now() + SHORTEST_MS

    def tick(self) -> bool:
        """Whether the time is up."""
        return _now() >= self._until


def _now() -> int:
    return int(time.monotonic() * 1000)
