"""A recorder as tests run it: told what to do, and listened to with a time limit."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

from engine.recorder_protocol import Command, Event, Opened, Stopped, decode_event, encode

Start: TypeAlias = "Callable[..., RecorderProcess]"
E = TypeVar("E", bound=Event)


@dataclass
class RecorderProcess:
    """Started at once; `events` are those that were taken, with the time at which they came."""

    env: dict[str, str]
    data: Path
    arguments: tuple[str, ...] = ()
    events: list[tuple[float, Event]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "engine", "recorder", *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **self.env, "SOTTOVOCE_DATA": str(self.data)},
        )
        self._lines: queue.SimpleQueue[tuple[float, Event] | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put((time.monotonic(), decode_event(line)))
        self._lines.put(None)

    def tell(self, command: Command) -> None:
        assert self.process.stdin
        self.process.stdin.write(encode(command))
        self.process.stdin.flush()

    def wait_for(self, kind: type[E], such: Callable[[E], bool] = lambda _event: True, timeout: float = 15) -> E:
        """The next event of this kind for which `such` holds."""
        until = time.monotonic() + timeout
        while True:
            item = self._lines.get(timeout=max(0.01, until - time.monotonic()))
            assert item is not None, f"the recorder ended without {kind.__name__}; {self.events[-3:]}"
            self.events.append(item)
            if isinstance(item[1], kind) and such(item[1]):
                return item[1]

    def of(self, kind: type[E]) -> list[E]:
        """The events of this kind that came so far."""
        return [event for _, event in self.events if isinstance(event, kind)]

    def folder(self) -> Path:
        return Path(os.fsdecode((self.of(Opened) or [self.wait_for(Opened)])[0].folder))

    def end(self) -> Stopped:
        """Its last word, and then its end."""
        stopped = self.wait_for(Stopped)
        self.process.wait(10)
        return stopped

    def close(self) -> None:
        """Kill it, if it still lives, and let go of everything; what it said last is in `events`."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        while not self._lines.empty():
            if item := self._lines.get():
                self.events.append(item)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
