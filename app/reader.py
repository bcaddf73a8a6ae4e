"""Reads the segments of an entry into the page's model: a part at a time, then one by one as they are found."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import Jobs
from app.transcript_model import TranscriptModel
from engine.types import Segment

AT_A_TURN = 200  # segments that are read before the event loop has its turn, at first
_FEWEST, _MOST = 200, 600
_TURN_S = 0.02  # how long reading may take of a turn: it reads more or fewer next time


class Reader(QObject):
    """`more`: the model has more rows than before, or other ones."""

    more = Signal()

    def __init__(self, jobs: Jobs, model: TranscriptModel, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs, self._model = jobs, model
        self._entry_id: int | None = None
        self._count = AT_A_TURN
        self._whole = True  # all stored segments were read
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._read_on)
        jobs.segment.connect(self._on_segment)

    def read(self, entry_id: int | None) -> None:
        """Begin with an entry, also with the one that is shown: what was read is read anew."""
        self._entry_id = entry_id
        self._count = AT_A_TURN
        first = [] if entry_id is None else self._jobs.segments(entry_id, 0, self._count)
        self._model.load(first)
        self._note(first)

    def _read_on(self) -> None:
        if self._entry_id is not None and not self._whole:
            began = time.perf_counter()
            more = self._jobs.segments(self._entry_id, self._model.rowCount(), self._count)
            self._model.extend(more)
            self._note(more)
            pace = _TURN_S / max(0.001, time.perf_counter() - began)
            self._count = max(_FEWEST, min(_MOST, round(self._count * pace)))

    def _note(self, read: list[Segment]) -> None:
        self._whole = len(read) < self._count
        if not self._whole:
            self._soon.start()
        self.more.emit()

    def _on_segment(self, entry_id: int, segment: Segment) -> None:
        """One that comes before all stored ones were read is among those."""
        if entry_id == self._entry_id and self._whole:
            self._model.extend([segment])
            self.more.emit()
