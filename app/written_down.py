"""The words of the recording that is being made: the entry they are stored in, and how far they are."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import Jobs
from engine.types import Options, Segment

BEHIND_MS = 5_000  # the text is always a little behind: nothing is said of less
_KEEP_WARM_MS = 5 * 60_000  # how long the model stays in memory after a recording


class WrittenDown(QObject):
    """A worker of its own writes down what the recorder writes; the files wait meanwhile."""

    changed = Signal()  # how far the words are
    partial = Signal(int, str, str)  # start, firm and loose words
    segment = Signal(object)  # Segment, stored
    over = Signal(object)  # Entry: there will be no more words

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.entry_id: int | None = None
        self._cooling = QTimer(self, singleShot=True, interval=_KEEP_WARM_MS)
        self._cooling.timeout.connect(jobs.following.client.kill)
        jobs.changed.connect(self._on_job)
        jobs.progress.connect(self._on_job)
        jobs.partial.connect(self._on_partial)
        jobs.segment.connect(self._on_segment)

    def get_ready(self) -> None:
        """Somebody is about to record."""
        self.entry_id = None
        self._cooling.stop()
        self._jobs.following.client.start()
        self._jobs.queue.make_way(on=True)

    def follow(self, folder: bytes, options: Options) -> None:
        """Write this recording down while it grows. EngineError when it cannot be stored."""
        self.entry_id = self._jobs.following.begin(folder, f"Recording {datetime.now().astimezone():%H:%M}", options)

    def let_go(self) -> None:
        """Nobody records any more, and no words are to come."""
        self._jobs.queue.make_way(on=False)
        self._cooling.start()

    @property
    def is_going_on(self) -> bool:
        """Whether words are to come."""
        return self.entry_id is not None and self._jobs.live(self.entry_id) is not None

    def behind(self, elapsed: int) -> int:
        """How far the words are behind the sound, in ms; 0 when nobody would notice."""
        live = self._jobs.live(self.entry_id) if self.entry_id is not None else None
        late = elapsed - live.done if live else 0
        return late if late >= BEHIND_MS else 0

    def _on_job(self, entry_id: int) -> None:
        if entry_id == self.entry_id:
            if self.is_going_on:
                self.changed.emit()
            else:
                self.over.emit(self._jobs.entry(entry_id))

    def _on_partial(self, entry_id: int, start: int, firm: str, loose: str) -> None:
        if entry_id == self.entry_id:
            self.partial.emit(start, firm, loose)

    def _on_segment(self, entry_id: int, segment: Segment) -> None:
        if entry_id == self.entry_id:
            self.segment.emit(segment)
