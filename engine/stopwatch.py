"""Where the time of a run goes, by stage."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from engine.types import Phase

_T = TypeVar("_T")


class Stopwatch:
    """Adds up wall time by name; a stage measured inside another is taken off the outer one."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._seconds: dict[str, float] = {}
        self._runs: dict[str, int] = {}
        self._inner = [0.0]  # seconds that stages within the current one took, one entry a level

    @property
    def total_ms(self) -> int:
        """Milliseconds since the stopwatch was made."""
        return round((time.monotonic() - self._began) * 1000)

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Time the body as one run of `name`."""
        began = time.monotonic()
        self._inner.append(0.0)
        try:
            yield
        finally:
            took = time.monotonic() - began
            self._seconds[name] = self._seconds.get(name, 0.0) + took - self._inner.pop()
            self._runs[name] = self._runs.get(name, 0) + 1
            self._inner[-1] += took

    def each(self, name: str, items: Iterable[_T]) -> Iterator[_T]:
        """The same items, the making of each timed as a run of `name`."""
        iterator = iter(items)
        while True:
            with self.stage(name):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item

    def phases(self) -> tuple[Phase, ...]:
        """The stages in the order in which they first ended."""
        return tuple(Phase(name, round(s * 1000), self._runs[name]) for name, s in list(self._seconds.items()))
