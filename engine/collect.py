"""From the events of one file to its transcript."""

from __future__ import annotations

from engine.protocol import Done, Event, Language, Loaded, Notice, SegmentEvent, Started, TimingsEvent
from engine.types import Segment, Timings, Transcript


class Collected:
    """What the events said so far."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.segments: list[Segment] = []
        self.notices: list[Notice] = []
        self.timings: Timings | None = None
        self.done: Done | None = None
        self.loaded: Loaded | None = None
        self.language: Language | None = None
        self._started: Started | None = None

    def take(self, event: Event) -> None:
        """Note what `event` says."""
        match event:
            case SegmentEvent():
                self.segments.append(event.segment)
            case Notice():
                self.notices.append(event)
            case TimingsEvent():
                self.timings = event.timings
            case Started():
                self._started = event
            case Loaded():
                self.loaded = event
            case Language():
                self.language = event
            case Done():
                self.done = event
            case _:
                pass

    def transcript(self) -> Transcript:
        """The transcript as far as it goes."""
        duration = self.done.duration if self.done else self._started.duration if self._started else None
        return Transcript(
            source=self._source,
            duration=duration,
            language=self.language.code if self.language else None,
            model=self.loaded.model if self.loaded else None,
            backend=self.loaded.backend if self.loaded else None,
            segments=tuple(self.segments),
            timings=self.timings,
        )
