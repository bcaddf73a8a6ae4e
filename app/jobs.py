"""All jobs and transcripts, as the window shows and changes them: the seam between logic and widgets."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.engine_client import EngineClient
from app.following import Following
from app.intake import Intake
from app.job_queue import JobQueue, storing
from app.job_runner import JobRunner, Live
from engine.library import Entry, Library
from engine.types import Options, Segment, Transcript

__all__ = ["Jobs", "Live"]


class Jobs(QObject):
    """The library and what works on it; `queue` says when.

    Everything is stored before its signal is sent. When the library cannot be written, `said` tells, and the
    method changes nothing. An id that is not there is a KeyError.
    """

    added = Signal(int)  # also when a removal was undone
    changed = Signal(int)
    removed = Signal(int)
    segment = Signal(int, object)  # id, Segment
    partial = Signal(int, int, str, str)  # id, start, firm and loose words: for the eye only
    cleared = Signal(int)  # segments were taken away: read `segments` again
    timings = Signal(int, object)  # id, Timings
    progress = Signal(int)  # `live` has changed
    said = Signal(str)  # one line that belongs to no job

    def __init__(self, library: Library, client: EngineClient, live_client: EngineClient | None = None) -> None:
        """`client` takes the files, `live_client` what is being recorded."""
        super().__init__()
        self._library = library
        self._client = client
        self._undo: list[tuple[int, ...]] = []
        self._intake = Intake(library, self)
        self._runner = JobRunner(library, client, self)
        self.queue = JobQueue(library, client, self._runner, self)
        self.following = Following(library, live_client or EngineClient(client.data), self.queue, self)
        self.following.added.connect(self.added)
        for runner in (self._runner, self.following.runner):
            runner.segment.connect(self.segment)
            runner.partial.connect(self.partial)
            runner.cleared.connect(self.cleared)
            runner.timings.connect(self.timings)
            runner.progress.connect(self.progress)
        for part in (self._runner, self.following.runner, self.queue):
            part.changed.connect(self.changed)
        for part in (self._runner, self.following.runner, self.queue, self._intake):
            part.said.connect(self.said)
        self._intake.added.connect(self.added)
        self._intake.added.connect(self.queue.wait)

    def entries(self) -> list[Entry]:
        """All of them, newest first."""
        return self._library.entries()

    def entry(self, entry_id: int) -> Entry:
        """One of them."""
        return self._library.entry(entry_id)

    def segments(self, entry_id: int, first: int = 0, count: int = -1) -> list[Segment]:
        """What was stored so far: all, or `count` segments from `first` on (1,000 take some 15 ms)."""
        return self._library.segments.read(entry_id, first, count)

    def transcript(self, entry_id: int) -> Transcript:
        """What exports are written from."""
        return self._library.transcript(entry_id)

    def search(self, text: str) -> list[int]:
        """Ids of the entries whose title or text contains `text`."""
        return self._library.search(text)

    def live(self, entry_id: int) -> Live | None:
        """Where the job stands, when it runs."""
        return next(
            (runner.live for runner in (self._runner, self.following.runner) if runner.running == entry_id), None
        )

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
        self.added.emit(new.id)
        self.queue.wait(new.id)
        return new.id

    def cancel(self, entry_id: int) -> None:
        """End a running job at once, let a waiting one or one that was cut off rest; its text stays."""
        with storing(self.said):
            if self.following.running == entry_id:
                self.following.end("cancelled")
            else:
                self.queue.cancel(entry_id)

    def retry(self, entry_id: int) -> None:
        """Begin an ended job again, from its start."""
        if self.queue.is_pending(entry_id):
            return
        with storing(self.said):
            self._library.segments.clear(entry_id)
            self._library.update(
                entry_id, language=None, language_probability=None, outcome=None, notices=(), timings=None
            )
            self.cleared.emit(entry_id)
            self.queue.again(entry_id)

    def go_on(self, entry_id: int) -> None:
        """Go on with a job that was cut off, cancelled or failed, where its text is settled."""
        if not self.queue.is_pending(entry_id):
            with storing(self.said):
                self.queue.again(entry_id)

    def remove(self, entry_ids: Sequence[int]) -> None:
        """Take entries from the list, all of them undone by one `undo_remove`; a running one is cancelled."""
        with storing(self.said):
            self._library.remove(entry_ids)
            self._undo.append(tuple(entry_ids))
            for entry_id in entry_ids:
                self.removed.emit(entry_id)
            self._intake.forget(entry_ids)
            if self.following.running in entry_ids:
                self.following.end("cancelled")
            self.queue.leave_out(entry_ids)

    def undo_remove(self) -> bool:
        """Bring back what was removed last; False when there is nothing."""
        if not self._undo:
            return False
        with storing(self.said):
            self._library.restore(self._undo[-1])
            for entry_id in self._undo.pop():
                self.added.emit(entry_id)
                self.queue.wait(entry_id)
        return True

    def rename(self, entry_id: int, title: str) -> None:
        """Give a new title; an empty one changes nothing."""
        if title.strip():
            with storing(self.said):
                self._library.update(entry_id, title=title.strip())
                self.changed.emit(entry_id)

    def stop(self) -> None:
        """At the window's end: a running job counts as cut off, the engine is ended."""
        self._intake.stop()
        with storing(self.said):
            self._runner.abandon("interrupted")
            self.following.end("interrupted")
        self._client.stop()
        self.following.client.stop()
