"""Where one utterance ends and the next begins, while someone speaks: frame by frame, as the sound arrives.

An utterance begins half a second before the first frame with speech and ends in a pause. The longer it gets, the
shorter a pause will do; before 30 s it is cut at its quietest place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from engine.audio.level import Lift
from engine.speech.spans import SpanFinder
from engine.speech.tape import Tape
from engine.speech.vad import FRAME_MS, SpeechDetector
from engine.speech.windows import Piece, Window, quietest
from engine.types import SAMPLES_PER_MS, SpeechSpan

if TYPE_CHECKING:
    from engine.types import Samples

_CHUNK_MS = 2 * FRAME_MS  # heard at once; fixed, so that utterances do not depend on how the audio arrives
_LEAD_MS = 500  # before the first speech: what the detector noticed late
_LEVEL_MS = 500  # the stretch whose level counts, so that a click is no loud recording
_SURE_MS = 280  # as long as the shortest span that counts as speech
_LONGEST_MS = 29_000
_LAST_MS = 8_000  # an utterance that has no pause is cut in the last seconds before that
# (up to which length of the utterance, how long a pause ends it)
_PAUSES = ((12_000, 450), (20_000, 350), (25_000, 250), (_LONGEST_MS, 100))


class Endpointer:
    """The utterances of one recording. All times are of the recording, in ms."""

    def __init__(self, start: int, detector: SpeechDetector | None) -> None:
        """Without a detector everything counts as speech."""
        self.heard = start
        self._detector = detector
        self._tape = Tape(start)
        self._lift = Lift()
        self._finder = SpanFinder(start)
        self._spans: list[SpeechSpan] = []  # of the utterance that is going on, as far as they are over
        self._fence = start  # what is before belongs to earlier utterances

    @property
    def settled(self) -> int:
        """Everything before was given out or has no speech."""
        return max(self._fence, self._speech_start - _LEAD_MS)

    @property
    def is_going_on(self) -> bool:
        """Whether there is an utterance that has not ended yet, and not just a click."""
        return bool(self._spans) or self.heard - self._speech_start >= _SURE_MS

    @property
    def spoken_until(self) -> int:
        """Where the last speech so far ends."""
        return self.heard if self._is_speaking or not self._spans else self._spans[-1].end

    def so_far(self) -> Samples:
        """The utterance that is going on, from `settled` on."""
        return self._tape.read(self.settled, self.heard)

    def hear(self, samples: Samples) -> Iterator[Window]:
        """The utterances that end in the samples that follow."""
        self._tape.append(samples)
        while self._tape.end - self.heard >= _CHUNK_MS:
            for probability in self._probabilities(self.heard + _CHUNK_MS):
                yield from self._frame(probability)
            self._tape.forget_before(min(self.settled, self.heard - _LEVEL_MS))

    def finish(self) -> Iterator[Window]:
        """The last utterances, now that the recording is over."""
        end = self._tape.end
        for probability in self._probabilities(end):
            yield from self._frame(probability)
        self.heard = end
        for span in self._finder.finish(end):
            self._add(span)
        if self._spans:
            yield self._close(end)

    @property
    def _is_speaking(self) -> bool:
        return self._finder.settled < self.heard

    @property
    def _speech_start(self) -> int:
        """Where the first speech that was not given out begins, or would begin."""
        return max(self._fence, self._spans[0].start if self._spans else self._finder.settled)

    def _probabilities(self, end: int) -> list[float]:
        """Of the frames from `heard` to `end`, the last one filled up with silence."""
        count = -(-(end - self.heard) // FRAME_MS)
        if self._detector is None:
            return [1.0] * count
        missing = self.heard + count * FRAME_MS - end
        samples = np.pad(self._tape.read(end - _LEVEL_MS, end), (0, missing * SAMPLES_PER_MS))
        raised = self._lift.raised(samples)[len(samples) - count * FRAME_MS * SAMPLES_PER_MS :]
        return self._detector.probabilities(raised).tolist()

    def _frame(self, probability: float) -> Iterator[Window]:
        for span in self._finder.feed([probability]):
            self._add(span)
        self.heard += FRAME_MS
        length = self.heard - self.settled
        pause = next((pause for longest, pause in _PAUSES if length < longest), 0)
        if self._spans and not self._is_speaking and self.heard - self._spans[-1].end >= pause:
            yield self._close(min(self.heard, self._tape.end))
        elif length >= _LONGEST_MS and self.is_going_on:
            earliest = self.heard - _LAST_MS
            yield self._close(earliest + quietest(self._tape.read(earliest, self.heard)))

    def _add(self, span: SpeechSpan) -> None:
        span = SpeechSpan(max(span.start, self._fence), span.end)
        if self._spans and span.start == self._spans[-1].end:
            span = SpeechSpan(self._spans.pop().start, span.end)
        if span.start < span.end:
            self._spans.append(span)

    def _close(self, end: int) -> Window:
        """The utterance up to `end`; speech behind that belongs to the next one."""
        start, spans = self.settled, list(self._spans)
        if self._is_speaking:
            spans.append(SpeechSpan(max(self._fence, self._finder.settled), self.heard))
        self._fence = end
        self._spans = [SpeechSpan(max(span.start, end), span.end) for span in self._spans if span.end > end]
        speech = tuple(SpeechSpan(span.start, min(span.end, end)) for span in spans if span.start < end)
        samples = self._tape.read(start, end)
        return Window(start, end, samples, (Piece(0, start, end - start),), speech)
