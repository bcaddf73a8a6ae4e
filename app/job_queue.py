"""Which job runs next: files wait in the order in which they were created, and one runs at a time."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Generator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal, SignalInstance

from app.engine_client import EngineClient
from app.job_runner import JobRunner
from engine.errors import EngineError
from engine.library import Library

RECORDING = "for the recording"


@contextmanager
def storing(said: SignalInstance) -> Generator[None]:
    """A library that cannot be written becomes one line for the user."""
    try:
        yield
    except EngineError as error:
        said.emit(str(error))


class JobQueue(QObject):
    """The waiting jobs of the library. When it cannot be written, they wait until something is asked for again."""

    changed = Signal(int)
    said = Signal(str)

    def __init__(self, library: Library, client: EngineClient, runner: JobRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._library = library
        self._client = client
        self._runner = runner
        self._places: list[tuple[int, int]] = []  # heap of (created, id); some may not wait any more
        self._why_held = ""
        self._makes_way = False
        runner.over.connect(self._next)

    @property
    def why_held(self) -> str:
        """What jobs wait for, other than each other: "preparing the model…"."""
        return self._why_held or (RECORDING if self._makes_way else "")

    def why_waits(self, entry_id: int) -> str:
        """What a file waits for, other than those before it; "" for nothing."""
        is_file = self._runner.running == entry_id or self._library.entry(entry_id).state == "waiting"
        return self.why_held if is_file else ""

    def start(self) -> None:
        """Once, when the window is there: jobs of the last time go on waiting, those cut off are marked so."""
        with storing(self.said):
            self._library.purge()
            for entry in self._library.interrupted():
                if entry.state == "waiting":
                    heapq.heappush(self._places, (entry.created, entry.id))
                else:
                    self.changed.emit(entry.id)
        self._next()

    def hold(self, why: str) -> None:
        """Begin no job until `hold("")`; the row of the next one says why."""
        self._why_held = why
        self._hold_changed()

    def make_way(self, on: bool) -> None:
        """While somebody records, a running job finishes its window and waits, and no other begins."""
        self._makes_way = on
        if on:
            self._client.hold()
        else:
            self._client.go_on()
        if self._runner.running is not None:
            self.changed.emit(self._runner.running)
        self._hold_changed()

    def _hold_changed(self) -> None:
        if self._places:
            self.changed.emit(self._places[0][1])
        self._next()

    def wait(self, entry_id: int) -> None:
        """Take a job in its place, if it waits; begin it when nothing else does."""
        entry = self._library.entry(entry_id)
        if entry.state == "waiting":
            heapq.heappush(self._places, (entry.created, entry.id))
        self._next()

    def again(self, entry_id: int) -> None:
        """Let an ended job wait again; EngineError when that cannot be stored."""
        self._library.update(entry_id, state="waiting", deaths=0, error=None, error_detail="")
        self.changed.emit(entry_id)
        self.wait(entry_id)

    def is_pending(self, entry_id: int) -> bool:
        """Whether the job waits or runs."""
        return self._library.entry(entry_id).state in ("waiting", "running")

    def cancel(self, entry_id: int) -> None:
        """End a running job at once, let a waiting one or one that was cut off rest. EngineError: not stored."""
        if self._runner.running == entry_id:
            self._runner.abandon("cancelled")
        elif self._library.entry(entry_id).state in ("waiting", "running", "interrupted"):
            self._library.update(entry_id, state="cancelled")
            self.changed.emit(entry_id)
        self._next()

    def leave_out(self, entry_ids: Collection[int]) -> None:
        """Forget jobs that were removed; a running one is cancelled."""
        self._places = [place for place in self._places if place[1] not in entry_ids]
        heapq.heapify(self._places)
        if self._runner.running in entry_ids:
            self._runner.abandon("cancelled")
        self._next()

    def _next(self) -> None:
        with storing(self.said):
            while self._places and not self.why_held and self._runner.running is None:
                self._run(heapq.heappop(self._places))
        if self._runner.running is None:
            self._client.start()  # warm for the next file

    def _run(self, place: tuple[int, int]) -> None:
        entry = self._library.entry(place[1])
        if entry.state != "waiting":
            return
        try:
            self._runner.run(entry)
        except EngineError:
            heapq.heappush(self._places, place)
            raise
