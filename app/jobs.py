"""All jobs and transcripts, as the window shows and changes them: the seam between logic and widgets."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal

from app.engine_client import EngineClient
from app.intake import Intake
from app.job_runner import JobRunner, Live
from engine.errors import EngineError
from engine.library import Entry, Library
from engine.types import Options, Segment, Transcript

__all__ = ["Jobs", "Live"]


class Jobs(QObject):
    """Files wait in the order in which they were created; one runs at a time.

    Everything is stored before its signal is sent. When the library cannot be written, `said` tells, and the
    method changes nothing. An id that is not there is a KeyError.
    """

    added = Signal(int)  # also when a removal was undone
    changed = Signal(int)
    removed = Signal(int)
    segment = Signal(int, object)  # id, Segment
    partial = Signal(int, int, str)  # id, start, text: for the eye only
    cleared = Signal(int)  # segments were taken away: read `segments` again
    timings = Signal(int, object)  # id, Timings
    progress = Signal(int)  # `live` has changed
    said = Signal(str)  # one line that belongs to no job

    def __init__(self, library: Library, client: EngineClient) -> None:
        super().__init__()
        self._library = library
        self._client = client
        self._queue: list[tuple[int, int]] = []  # heap of (created, id); some may not wait any more
        self._undo: list[tuple[int, ...]] = []
        self._why_held = ""
        self._intake = Intake(library, self)
        self._intake.added.connect(self._on_added)
        self._intake.said.connect(self.said)
        self._runner = JobRunner(library, client, self)
        self._runner.changed.connect(self.changed)
        self._runner.segment.connect(self.segment)
        self._runner.partial.connect(self.partial)
        self._runner.cleared.connect(self.cleared)
        self._runner.timings.connect(self.timings)
        self._runner.progress.connect(self.progress)
        self._runner.said.connect(self.said)
        self._runner.over.connect(self._next)

    def start(self) -> None:
        """Once, when the window is there: jobs of the last time go on waiting, those cut off are marked so."""
        with self._storing():
            self._library.purge()
            for entry in self._library.interrupted():
                if entry.state == "waiting":
                    self._intake.know(entry)
                    self._wait(entry)
                else:
                    self.changed.emit(entry.id)
        self._next()

    def entries(self) -> list[Entry]:
        """All of them, newest first."""
        return self._library.entries()

    def entry(self, entry_id: int) -> Entry:
        """One of them."""
        return self._library.entry(entry_id)

    def segments(self, entry_id: int) -> list[Segment]:
        """What was stored so far."""
        return self._library.segments(entry_id)

    def transcript(self, entry_id: int) -> Transcript:
        """What exports are written from."""
        return self._library.transcript(entry_id)

    def search(self, text: str) -> list[int]:
        """Ids of the entries whose title or text contains `text`."""
        return self._library.search(text)

    def live(self, entry_id: int) -> Live | None:
        """Where the job stands, when it is the running one."""
        return self._runner.live if self._runner.running == entry_id else None

    @property
    def why_held(self) -> str:
        """What waiting jobs wait for, other than each other: "preparing the model…"."""
        return self._why_held

    def hold(self, why: str) -> None:
        """Start no job until `hold("")`; the row of the next one says why."""
        self._why_held = why
        if self._queue:
            self.changed.emit(self._queue[0][1])
        self._next()

    def add(self, paths: Sequence[bytes], options: Options) -> list[int]:
        """Add files (os.fsencode), and those of folders that may be recordings; sorted, a few at a time.

        Gives the ids of what was added at once; the rest arrives by `added`. A file that waits or runs with the
        same options is not added again.
        """
        return self._intake.take(paths, options)

    def rerun(self, entry_id: int, options: Options) -> int:
        """The same file as a new job. EngineError when it cannot be stored."""
        old = self._library.entry(entry_id)
        new = self._library.add(old.source, options)
        if old.title != new.title:
            self._library.update(new.id, title=old.title)
        self._on_added(new.id)
        return new.id

    def cancel(self, entry_id: int) -> None:
        """End a running job at once, or let a waiting one wait no more; its text stays."""
        with self._storing():
            if self._runner.running == entry_id:
                self._runner.abandon("cancelled")
            elif self._library.entry(entry_id).state in ("waiting", "running"):
                self._library.update(entry_id, state="cancelled")
                self.changed.emit(entry_id)
        self._next()

    def retry(self, entry_id: int) -> None:
        """Begin an ended job again, from its start."""
        if self._is_pending(entry_id):
            return
        with self._storing():
            self._library.clear_segments(entry_id)
            self._library.update(
                entry_id, language=None, language_probability=None, outcome=None, notices=(), timings=None
            )
            self.cleared.emit(entry_id)
            self._requeue(entry_id)

    def go_on(self, entry_id: int) -> None:
        """Go on with a job that was cut off, cancelled or failed, where its text is settled."""
        if not self._is_pending(entry_id):
            with self._storing():
                self._requeue(entry_id)

    def remove(self, entry_ids: Sequence[int]) -> None:
        """Take entries from the list, all of them undone by one `undo_remove`; a running one is cancelled."""
        with self._storing():
            self._library.remove(entry_ids)
            self._undo.append(tuple(entry_ids))
            for entry_id in entry_ids:
                self.removed.emit(entry_id)
            if self._runner.running in entry_ids:
                self._runner.abandon("cancelled")
        self._next()

    def undo_remove(self) -> bool:
        """Bring back what was removed last; False when there is nothing."""
        if not self._undo:
            return False
        with self._storing():
            self._library.restore(self._undo[-1])
            for entry_id in self._undo.pop():
                self._on_added(entry_id)
        return True

    def rename(self, entry_id: int, title: str) -> None:
        """Give a new title; an empty one changes nothing."""
        if title.strip():
            with self._storing():
                self._library.update(entry_id, title=title.strip())
                self.changed.emit(entry_id)

    def stop(self) -> None:
        """At the window's end: a running job counts as cut off, the engine is ended."""
        self._intake.stop()
        with self._storing():
            self._runner.abandon("interrupted")
        self._client.stop()

    def _on_added(self, entry_id: int) -> None:
        self._wait(self._library.entry(entry_id))
        self.added.emit(entry_id)
        self._next()

    def _wait(self, entry: Entry) -> None:
        if entry.state == "waiting":
            heapq.heappush(self._queue, (entry.created, entry.id))

    def _requeue(self, entry_id: int) -> None:
        waiting = self._library.update(entry_id, state="waiting", deaths=0, error=None, error_detail="")
        self._wait(waiting)
        self.changed.emit(entry_id)
        self._next()

    def _is_pending(self, entry_id: int) -> bool:
        return self._runner.running == entry_id or self._library.entry(entry_id).state == "waiting"

    def _next(self) -> None:
        with self._storing():
            while self._queue and not self._why_held and self._runner.running is None:
                self._run(heapq.heappop(self._queue))
        if self._runner.running is None:
            self._client.start()  # warm for the next file

    def _run(self, place: tuple[int, int]) -> None:
        entry = self._library.entry(place[1])
        if entry.state != "waiting" or any(entry.id in ids for ids in self._undo):
            return
        try:
            self._runner.run(entry)
        except EngineError:
            heapq.heappush(self._queue, place)
            raise

    @contextmanager
    def _storing(self) -> Generator[None]:
        try:
            yield
        except EngineError as error:
            self.said.emit(str(error))
