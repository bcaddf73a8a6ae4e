"""The recording that is written down while it grows, by a worker of its own beside the one for files."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.engine_client import EngineClient
from app.job_queue import JobQueue
from app.job_runner import JobRunner
from engine.library import Library, State
from engine.types import Options


class Following(QObject):
    """One recording at a time; what is left of it can go on in the queue."""

    added = Signal(int)

    def __init__(self, library: Library, client: EngineClient, queue: JobQueue, parent: QObject) -> None:
        super().__init__(parent)
        self._library, self._queue = library, queue
        self.client = client
        self.runner = JobRunner(library, client, self, follows=True)

    @property
    def running(self) -> int | None:
        """The entry of the recording."""
        return self.runner.running

    def begin(self, folder: bytes, title: str, options: Options) -> int:
        """Follow a recording that has just begun; gives its entry. EngineError when it cannot be stored.

        What is left of the one before it goes on in the queue.
        """
        self.end("waiting")
        entry = self._library.add(folder, options)
        entry = self._library.update(entry.id, title=title)
        self.added.emit(entry.id)
        self.runner.run(entry)
        return entry.id

    def end(self, state: State) -> None:
        """Leave the recording to the queue ("waiting"), or let it rest. EngineError: not stored."""
        entry_id = self.running
        if entry_id is not None:
            self.runner.abandon(state)
            self._queue.wait(entry_id)
