"""How fast a download is, told now and then."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

DownloadProgress: TypeAlias = Callable[[int, int, int | None], None]  # bytes done, bytes in all, bytes a second

_EVERY = 0.1  # seconds between two reports
_SPAN = 5.0  # seconds over which the speed is taken


class Speedometer:
    """Reports progress at a bearable rate, with the speed of the last seconds."""

    def __init__(self, progress: DownloadProgress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._marks: deque[tuple[float, int]] = deque()

    def tell(self, done: int) -> None:
        """Take note that `done` bytes are here."""
        now = time.monotonic()
        if self._progress is None or (done < self._total and self._marks and now - self._marks[-1][0] < _EVERY):
            return
        if self._marks and done < self._marks[-1][1]:  # it had to start over
            self._marks.clear()
        self._marks.append((now, done))
        while now - self._marks[0][0] > _SPAN:
            self._marks.popleft()
        since, had = self._marks[0]
        self._progress(done, self._total, round((done - had) / (now - since)) if now > since else None)
