"""The samples of a recording that are still needed, read by time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from engine.types import SAMPLES_PER_MS

if TYPE_CHECKING:
    from engine.types import Samples


class Tape:
    """Blocks go in at the end, and are let go of at the beginning. Times are of the file, in ms."""

    def __init__(self, start: int) -> None:
        self._blocks: deque[Samples] = deque()
        self._first = self._end = start * SAMPLES_PER_MS  # in samples: what is held

    @property
    def end(self) -> int:
        """Up to here there is audio; a rest of less than a millisecond does not count."""
        return self._end // SAMPLES_PER_MS

    def append(self, samples: Samples) -> None:
        """Samples that follow on the last ones."""
        if len(samples):
            self._blocks.append(samples)
            self._end += len(samples)

    def read(self, start: int, end: int) -> Samples:
        """A copy of the samples of [start, end), which must be held."""
        first, last = start * SAMPLES_PER_MS, end * SAMPLES_PER_MS
        parts: list[Samples] = [np.zeros(0, np.float32)]
        at = self._first
        for block in self._blocks:
            parts.append(block[max(first - at, 0) : max(last - at, 0)])
            at += len(block)
        return np.concatenate(parts)

    def forget_before(self, time: int) -> None:
        """Let go of blocks that end before `time`."""
        while self._blocks and self._first + len(self._blocks[0]) <= time * SAMPLES_PER_MS:
            self._first += len(self._blocks.popleft())
