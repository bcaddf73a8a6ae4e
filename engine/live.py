"""A recording becomes text while it is still going on, in the order of the data:

    for block in growing.blocks():               what the recorder wrote, as 16 kHz samples; None: that was all so far
        for window in endpointer.hear(block):    an utterance is over: decoded in full, its segments are stored
            utterance.final(window)
    utterance.draft(endpointer.so_far())         someone speaks, and all was heard: words for the eye

Whoever is behind decodes utterances and makes no drafts, so that lag never grows because of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.growing import Growing
from engine.audio.level import normalised, peak_dbfs
from engine.languages import AUTO, CLEAR_LANGUAGE, CLEAR_LANGUAGE_MS, known_language
from engine.memory import peak_memory
from engine.protocol import (
    Done,
    Event,
    Language,
    Listen,
    Notice,
    Partial,
    Progress,
    SegmentEvent,
    Started,
    TimingsEvent,
)
from engine.speech.endpointing import Endpointer
from engine.speech.quality import uncovered
from engine.speech.vad import SpeechDetector
from engine.speech.windows import Window
from engine.stopwatch import Stopwatch
from engine.types import SAMPLES_PER_MS, AudioBlock, Segment, Timings
from engine.utterance import Utterance
from engine.warm_model import WarmModel

if TYPE_CHECKING:
    from engine.types import Samples

_DRAFT_EVERY_S = 0.3
_SLOW_DRAFT_S = 3.0  # a draft that takes longer is no help, and the utterance's end has to wait for it
_ALMOST_OVER_MS = 250  # of pause: the utterance will probably end before a draft is ready
_LANGUAGE_MS = 2_000  # of sound at least, before a draft may guess the language
_TELL_EVERY_S = 0.5


def live(command: Listen, model: WarmModel) -> Iterator[Event]:
    """Everything that happens to one recording, as it happens; ends with Done when it was stopped and all is text.

    EngineError for a folder that is no recording, and for a model or a backend that will not do. A recording whose
    recorder is gone has stopped.
    """
    watch = Stopwatch()
    yield Progress(command.job, "opening", command.resume_at, None, None)
    growing = Growing(Path(os.fsdecode(command.folder)), command.resume_at)
    yield Started(command.job, None, 1, "", 1)
    with watch.stage("load"):
        yield from model.load(command.job, command.options)
    yield from _Session(command, model, growing, watch).events()


@dataclass
class _Drafts:
    """What the drafts of one utterance have come to."""

    utterance: Utterance
    until: int = 0  # what the last one has heard
    shown: bool = False
    wanted: bool = True


@dataclass
class _Session:
    """One recording on its way, and what is counted meanwhile. Times are of the recording, in ms."""

    command: Listen
    model: WarmModel
    growing: Growing
    watch: Stopwatch
    endpointer: Endpointer = field(init=False)
    language: str = ""
    language_told: bool = False
    drafts: _Drafts | None = None
    next_draft: float = 0.0
    next_word: float = 0.0  # when to say again how far we are
    peak: float | None = None
    speech: int = 0
    any_text: bool = False

    def __post_init__(self) -> None:
        detector = SpeechDetector() if self.command.options.vad else None
        self.endpointer = Endpointer(self.command.resume_at, detector)

    def events(self) -> Iterator[Event]:
        """From the first sample to Done."""
        self.model.backend.reset_phases()
        multilingual = self.model.backend.multilingual
        self.language = known_language(self.command.options.language, multilingual, self.command.language)
        for block in self.growing.blocks():
            if block is None:
                yield from self._draft()
            else:
                yield from self._hear(block)
            if time.monotonic() >= self.next_word:
                yield self._how_far()
        for window in self.endpointer.finish():
            yield from self._final(window)
        yield from self._end()

    def _end(self) -> Iterator[Event]:
        job, end = self.command.job, self.endpointer.heard
        yield Progress(job, "transcribing", end, end, None)
        yield self._timings(end)
        yield Done(job, "text" if self.any_text else "no_speech", end, self.speech, self.peak)

    def _hear(self, block: AudioBlock) -> Iterator[Event]:
        peaks = (self.peak, peak_dbfs(block.samples))
        self.peak = max((peak for peak in peaks if peak is not None), default=None)
        for window in self.watch.each("vad", self.endpointer.hear(block.samples)):
            yield from self._final(window)

    def _draft(self) -> Iterator[Event]:
        """What is being said, if there is something new and the last draft is long enough ago."""
        ear, began = self.endpointer, time.monotonic()
        if not ear.is_going_on or began < self.next_draft or ear.heard - ear.spoken_until >= _ALMOST_OVER_MS:
            return
        samples = ear.so_far()
        drafts = self.drafts = self.drafts or self._new_drafts(samples)
        if not drafts or not drafts.wanted or ear.spoken_until <= drafts.until:
            return
        draft = drafts.utterance.draft(samples)
        took = time.monotonic() - began
        self.next_draft = began + max(_DRAFT_EVERY_S, took)
        drafts.until, drafts.wanted = ear.heard, took < _SLOW_DRAFT_S
        if draft.firm or draft.loose:
            drafts.shown = True
            yield Partial(self.command.job, ear.settled, draft.loose, draft.firm)

    def _new_drafts(self, samples: Samples) -> _Drafts | None:
        """Drafts in the language so far; in the first utterance in one that is guessed, once there is enough of it."""
        language = self.language
        if not language and len(samples) >= _LANGUAGE_MS * SAMPLES_PER_MS:
            language = self.model.backend.detect_language(normalised(samples))[0]
        return _Drafts(self._utterance(language)) if language else None

    def _final(self, window: Window) -> Iterator[Event]:
        """The segments of an utterance that is over."""
        job, drafts = self.command.job, self.drafts
        self.drafts = None
        yield self._how_far()
        self.speech += sum(span.end - span.start for span in window.speech)
        code, probability = self._language_of(window)
        segments = yield from self._segments(window, code)
        if segments:
            self.language = code
        if segments and not self.language_told:
            self.language_told = True
            yield Language(job, code, probability)
        if drafts and drafts.shown and not segments:
            yield Partial(job, window.end, "")
        yield from (SegmentEvent(job, segment) for segment in segments)
        yield from (Notice(job, "uncovered", "", gap.start, gap.end) for gap in uncovered(window.speech, segments))
        self.any_text = self.any_text or bool(segments)
        yield Progress(job, "transcribing", window.end, self.growing.recorded, None)
        yield self._timings(window.end)

    def _segments(self, window: Window, language: str) -> Generator[Event, None, list[Segment]]:
        """The segments as the generator's value; its events are about a GPU that failed."""
        (segments,) = yield from self.model.trusted(
            self.command.job, self.command.options, lambda: [self._utterance(language).final(window)]
        )
        return segments

    def _language_of(self, window: Window) -> tuple[str, float | None]:
        """The language so far; when none was asked for, another one if the utterance leaves no doubt.

        It costs a step of the decoder: the encoder's pass is the one that the utterance is decoded from.
        """
        if self.command.options.language != AUTO or not self.model.backend.multilingual:
            return self.language, None
        code, probability = self.model.backend.detect_language(normalised(window.samples))
        is_clear = probability >= CLEAR_LANGUAGE and window.end - window.start >= CLEAR_LANGUAGE_MS
        return (code, probability) if is_clear or not self.language else (self.language, None)

    def _utterance(self, language: str) -> Utterance:
        return Utterance(self.model.backend, replace(self.command.options, language=language))

    def _how_far(self) -> Progress:
        self.next_word = time.monotonic() + _TELL_EVERY_S
        return Progress(self.command.job, "listening", self.endpointer.heard, self.growing.recorded, None)

    def _timings(self, done: int) -> TimingsEvent:
        backend = self.model.backend
        phases = (*self.watch.phases(), *backend.phases())
        timings = Timings(self.watch.total_ms, done, phases, backend.buffers(), peak_memory())
        return TimingsEvent(self.command.job, timings)
