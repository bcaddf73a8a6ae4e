"""THE pipeline, in the order of the data: file → blocks → windows with speech → segments → events.

    with open_media(path) as media:              any file, as blocks of 16 kHz samples
        for window in windows(media.blocks()):   at most 30 s each, only where someone speaks
            decode_windows(backend, [window, …])   Whisper, whatever runs it; times back in the file's

Reading and listening go on in a thread of their own while Whisper works. Nothing is held but some windows, so ten hours
take no more memory than ten minutes.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from engine.ahead import ahead
from engine.audio.level import normalised, peak_dbfs
from engine.audio.media import Media, open_media
from engine.decoding import decode_windows
from engine.languages import AUTO, CLEAR_LANGUAGE, known_language
from engine.memory import peak_memory
from engine.protocol import Done, Event, Language, Notice, Progress, SegmentEvent, Started, TimingsEvent, Transcribe
from engine.report import operator_table
from engine.speech.quality import uncovered
from engine.speech.turns import turns
from engine.speech.vad import SpeechDetector
from engine.speech.windows import Window, windows
from engine.stopwatch import Stopwatch
from engine.types import SAMPLES_PER_MS, AudioBlock, Segment, Timings
from engine.warm_model import WarmModel

_QUIET_DBFS = -40.0
_AHEAD = 12  # windows, or blocks without one, that are read ahead: more than the largest batch
_BATCH_SECONDS = 5.0  # so long may a batch take: its text comes all at once …
_FIRST_SECONDS = 2.0  # … and somebody waits for the first one


def transcribe(command: Transcribe, model: WarmModel) -> Iterator[Event]:
    """Everything that happens to one file, as it happens; ends with Done.

    EngineError for a file, a model or a backend that will not do. Windows that end by `command.resume_at`
    were done by an earlier run: they are found again, in the same places, but not decoded again. Windows know
    nothing of each other, so the rest comes out as it would have.
    """
    watch = Stopwatch()
    yield Progress(command.job, "opening", 0, None, None)
    with open_media(command.path, command.options.track) as media:
        yield Started(command.job, media.duration, media.track.index, media.track.name, len(media.tracks))
        with watch.stage("load"):
            yield from model.load(command.job, command.options)
        yield from _Run(command, model, media, watch).events()


@dataclass
class _Pace:
    """How fast this file goes, for the time that is left."""

    began: float = 0.0
    at: int = -1  # where in the file the first window began

    def start(self, at: int) -> None:
        """The first window to be decoded begins; later calls change nothing."""
        if self.at < 0:
            self.began, self.at = time.monotonic(), at

    def left(self, done: int, total: int | None) -> int | None:
        """Milliseconds of wall time to go, when the length is known and something was decoded."""
        if total is None or self.at < 0 or done <= self.at:
            return None
        spent = (time.monotonic() - self.began) * 1000
        return max(0, round((total - done) * spent / (done - self.at)))


@dataclass
class _Run:
    """One file on its way through, and what is counted meanwhile. Times are of the file, in ms."""

    command: Transcribe
    model: WarmModel
    media: Media
    watch: Stopwatch
    reading: Stopwatch = field(default_factory=Stopwatch)  # of the thread that reads ahead
    heard: int = 0
    peak: float | None = None
    speech: int = 0
    language: str = ""
    several: bool = False  # languages, perhaps: the first speech leaves doubt
    any_text: bool = False
    told: int = 0  # notices of the media that were passed on
    pace: _Pace = field(default_factory=_Pace)

    def events(self) -> Iterator[Event]:
        """From the first block to Done."""
        job, options = self.command.job, self.command.options
        self.model.backend.reset_phases()
        detector = SpeechDetector() if options.vad else None
        blocks = self._listen(self.reading.each("media", self.media.blocks()))
        waiting: list[Window] = []
        with closing(ahead(self.reading.each("vad", windows(blocks, detector)), _AHEAD)) as found:
            for window in found:
                yield from self._media_notices()
                if window is None:
                    yield Progress(job, "listening", self.heard, self.media.duration, None)
                    continue
                waiting.append(window)
                if len(waiting) >= self._batch():
                    yield from self._decode(waiting)
                    waiting = []
        yield from self._decode(waiting)
        yield from self._media_notices()
        yield from self._end()

    def _end(self) -> Iterator[Event]:
        """The last timings, and what there is to say of the whole file."""
        job, peak = self.command.job, self.peak
        if peak is not None and peak < _QUIET_DBFS and self.any_text:
            yield Notice(job, "quiet", f"{peak:.0f} dBFS")
        yield self._timings(self.heard)
        if self.command.options.profile:
            yield Notice(job, "profile", operator_table(self.model.backend.operators()))
        yield Done(job, "text" if self.any_text else "no_speech", self.heard, self.speech, peak)

    def _listen(self, blocks: Iterable[AudioBlock]) -> Iterator[AudioBlock]:
        """The same blocks; their length and loudness are noted."""
        for block in blocks:
            self.heard = block.start + len(block.samples) // SAMPLES_PER_MS
            peaks = (self.peak, peak_dbfs(block.samples))
            self.peak = max((peak for peak in peaks if peak is not None), default=None)
            yield block

    def _batch(self) -> int:
        """How many windows to decode together; one while nobody knows how long one takes."""
        may_take = _FIRST_SECONDS if self.pace.at < 0 else _BATCH_SECONDS
        one_takes = self.model.window_seconds or may_take
        return max(1, min(self.model.backend.batch, int(may_take / one_takes)))

    def _decode(self, batch: Sequence[Window]) -> Iterator[Event]:
        """Decode windows, except those that an earlier run has decoded."""
        job, total = self.command.job, self.media.duration
        self.speech += sum(span.end - span.start for window in batch for span in window.speech)
        if batch and not self.language:
            yield self._find_language(batch[0])
        parts = [part for window in batch for part in (turns(window) if self.several else [window])]
        new = [part for part in parts if part.end > self.command.resume_at]
        if not new:
            return
        self.pace.start(new[0].start)
        began = time.monotonic()
        decoded = yield from self._segments(new)
        self.model.window_seconds = (time.monotonic() - began) / len(new)
        for window, segments in zip(new, decoded, strict=True):
            yield from (SegmentEvent(job, self._as_asked(segment)) for segment in segments)
            gaps = uncovered(window.speech, segments)
            yield from (Notice(job, "uncovered", "", gap.start, gap.end) for gap in gaps)
            self.any_text = self.any_text or bool(segments)
        end = new[-1].end
        yield Progress(job, "transcribing", end, total, self.pace.left(end, total))
        yield self._timings(end)

    def _segments(self, batch: Sequence[Window]) -> Generator[Event, None, list[list[Segment]]]:
        """The segments of windows as the generator's value; its events are about a GPU that failed."""
        asked = self.command.options
        switches = asked.language == AUTO and self.model.backend.can_switch
        options = replace(asked, language=self.language, may_switch=switches)
        return (
            yield from self.model.trusted(
                self.command.job, options, lambda: decode_windows(self.model.backend, batch, options)
            )
        )

    def _find_language(self, window: Window) -> Language:
        """What was asked for, or what the first speech sounds like, also when a job goes on: it decides how to."""
        backend, probability = self.model.backend, None
        self.language = known_language(self.command.options.language, backend.multilingual)
        if not self.language:
            with self.watch.stage("language"):
                self.language, probability = backend.detect_language(normalised(window.samples))
            self.several = backend.can_switch and probability < CLEAR_LANGUAGE
            backend.reset_phases()  # this pass of the encoder is in "language"
        return Language(self.command.job, self.language, probability)

    def _as_asked(self, segment: Segment) -> Segment:
        return segment if self.command.options.words else replace(segment, words=())

    def _media_notices(self) -> Iterator[Event]:
        """What the media reader noticed since the last call."""
        for notice in self.media.notices[self.told :]:
            self.told += 1
            yield Notice(self.command.job, notice.code, notice.detail, notice.start, notice.end)

    def _timings(self, done: int) -> TimingsEvent:
        backend = self.model.backend
        phases = (*self.watch.phases(), *self.reading.phases(), *backend.phases())
        timings = Timings(self.watch.total_ms, done, phases, backend.buffers(), peak_memory())
        return TimingsEvent(self.command.job, timings)
