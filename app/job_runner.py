"""Runs one file at a time: what the engine says is stored first, then shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.engine_client import EngineClient
from app.job_changes import changes_of, restarted
from app.wording import clock
from engine.backends.gpu import blame
from engine.endings import Death
from engine.errors import SENTENCES, EngineError
from engine.library import Entry, Library, State
from engine.protocol import (
    Done,
    Event,
    Failed,
    Job,
    Listen,
    Loaded,
    Partial,
    Progress,
    Ready,
    SegmentEvent,
    Stage,
    TimingsEvent,
    Transcribe,
)
from engine.recording import is_recording

DEATHS_ALLOWED = 2  # of the engine on one file; the last of them ends the job


@dataclass(frozen=True, slots=True)
class Live:
    """Where the running job stands; times in milliseconds, `left` of wall time."""

    stage: Stage
    done: int
    total: int | None
    left: int | None
    follows: bool = False  # a recording that goes on


class JobRunner(QObject):
    """From `run` to `over`; a job whose engine dies is begun again where it was settled.

    A recording is written down while it grows; with `follows` it is the one that is being made now.
    """

    changed = Signal(int)
    segment = Signal(int, object)
    partial = Signal(int, int, str, str)
    cleared = Signal(int)
    timings = Signal(int, object)
    progress = Signal(int)
    said = Signal(str)
    over = Signal()  # ready for the next job

    def __init__(self, library: Library, client: EngineClient, parent: QObject, *, follows: bool = False) -> None:
        super().__init__(parent)
        self._follows = follows
        self._library = library
        self._client = client
        self._entry: Entry | None = None
        self._begun_at = 0  # where the running job goes on
        self._loaded: Loaded | None = None  # what the running job runs on
        self.live: Live | None = None
        client.events.connect(self._take)
        client.died.connect(self._died)

    @property
    def running(self) -> int | None:
        """The id of the running job."""
        return self._entry.id if self._entry else None

    def run(self, entry: Entry) -> None:
        """Begin, or go on from what is settled. EngineError when the library cannot be written."""
        self._forget_unsettled(entry.id)
        self._entry = self._library.update(entry.id, state="running", error=None, error_detail="")
        self._begun_at = entry.settled
        self._loaded = None
        self.live = Live("opening", entry.settled, entry.duration, None, self._follows)
        self.changed.emit(entry.id)
        self._client.begin(_command(entry))

    def abandon(self, state: State) -> None:
        """End the running job at once; what is stored stays. EngineError as for `run`."""
        self._client.kill()
        if entry := self._release():
            self._library.update(entry.id, state=state)
            self.changed.emit(entry.id)

    def _release(self) -> Entry | None:
        entry, self._entry, self.live = self._entry, None, None
        return entry

    def _take(self, events: tuple[Event, ...]) -> None:
        entry = self._entry
        if entry is None:
            return
        mine = [event for event in events if not isinstance(event, Ready) and event.job == entry.id]
        for loaded in (event for event in mine if isinstance(event, Loaded)):
            self._loaded = loaded
        try:
            self._store(entry, mine)
        except EngineError as error:
            self._cannot_store(error)
            return
        for event in mine:
            self._show(event)
        self._show_progress(entry.id, mine)

    def _store(self, entry: Entry, events: Sequence[Event]) -> None:
        library = self._library
        if said := [event.segment for event in events if isinstance(event, SegmentEvent)]:
            library.segments.append(entry.id, *said)
        settled = [event.done for event in events if isinstance(event, Progress) and event.stage == "transcribing"]
        settled += [event.duration for event in events if isinstance(event, Done)]
        if settled:
            library.segments.settle(entry.id, max(settled))
        finished = any(isinstance(event, Done) for event in events)
        has_text = finished and library.segments.count(entry.id) > 0
        if changes := changes_of(entry, events, has_text):
            self._entry = library.update(entry.id, **changes)

    def _show(self, event: Event) -> None:
        match event:
            case SegmentEvent():
                self.segment.emit(event.job, event.segment)
            case Partial():
                self.partial.emit(event.job, event.start, event.firm, event.text)
            case Progress():
                done = max(event.done, self._begun_at)
                self.live = Live(event.stage, done, event.total, event.left, self._follows)
            case TimingsEvent():
                self.timings.emit(event.job, event.timings)
            case Done() | Failed():
                self._release()
                self.changed.emit(event.job)
                self.over.emit()
            case Ready():
                pass
            case _:
                self.changed.emit(event.job)

    def _show_progress(self, entry_id: int, events: Sequence[Event]) -> None:
        if self.running == entry_id and any(isinstance(event, Progress) for event in events):
            self.progress.emit(entry_id)

    def _died(self, death: Death) -> None:
        entry = self._entry
        if entry is None:
            self.said.emit(f"{SENTENCES[death.code]} {death.detail.partition(chr(10))[0]}")
            return
        try:
            self._bury(self._library.entry(entry.id), death)
        except EngineError as error:
            self._cannot_store(error)

    def _bury(self, entry: Entry, death: Death) -> None:
        if self._loaded is not None:  # perhaps of what it ran on
            blame(self._client.data, entry.options, self._loaded, death.detail)
        deaths = entry.deaths + 1
        if deaths < DEATHS_ALLOWED:
            notice = restarted(entry, death)
            again = self._library.update(entry.id, deaths=deaths, notices=(*entry.notices, notice))
            self.said.emit(f"“{entry.title}”: {notice.detail} It goes on from {clock(entry.settled)}.")
            self.run(again)
            return
        self._release()
        self._library.update(entry.id, deaths=deaths, state="failed", error=death.code, error_detail=death.detail)
        self.changed.emit(entry.id)
        self.over.emit()

    def _forget_unsettled(self, entry_id: int) -> None:
        before = self._library.segments.count(entry_id)
        self._library.segments.drop_unsettled(entry_id)
        if self._library.segments.count(entry_id) != before:
            self.cleared.emit(entry_id)

    def _cannot_store(self, error: EngineError) -> None:
        """The library cannot be written: nothing is shown that is not stored, and no other job would fare better."""
        self._client.kill()
        entry = self._release()
        self.said.emit(str(error))
        if entry:
            with suppress(EngineError):  # of the same kind; the next start finds the job cut off
                self._library.update(entry.id, state="failed", error=error.code, error_detail=error.detail)
            self.changed.emit(entry.id)


def _command(entry: Entry) -> Job:
    """What the engine is told: to go on where the entry is settled."""
    if is_recording(entry.source):
        language = entry.language if entry.settled else None
        return Listen(entry.id, entry.source, entry.options, entry.settled, language)
    return Transcribe(entry.id, entry.source, entry.options, entry.settled)
