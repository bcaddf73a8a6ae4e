"""Speech probabilities, frame by frame, to spans: with hysteresis, so that a doubtful frame does not cut a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.speech.vad import FRAME_MS
from engine.types import SpeechSpan

_ON = 0.4  # speech begins; Silero's own 0.5 loses more of meetings, 0.3 hears voices in kitchens
_OFF = 0.25  # below this it may end
_MIN_SILENCE_MS = 100  # … and does after so long
_MIN_SPEECH_MS = 280  # shorter ones are clicks, coughs and notes of music
_PART_MS = 10_000  # speech that goes on is told in parts of this length


class SpanFinder:
    """Finds spans in probabilities that arrive in pieces; what it finds does not depend on the pieces.

    Speech that goes on for long is told in parts that touch each other, so that nobody waits for its end.
    """

    def __init__(self, start: int) -> None:
        self._now = start
        self._began: int | None = None  # of the speech that is going on
        self._told = start  # up to here it was told already
        self._silent_since: int | None = None  # in it: where the silence began that may end it

    @property
    def settled(self) -> int:
        """No span that is still to come starts before this time."""
        return self._now if self._began is None else max(self._began, self._told)

    def feed(self, probabilities: Sequence[float]) -> Iterator[SpeechSpan]:
        """The spans, or parts of them, that these frames complete."""
        for probability in probabilities:
            yield from self._frame(probability)
            self._now += FRAME_MS

    def finish(self, end: int) -> Iterator[SpeechSpan]:
        """The last span when the audio is over at `end`."""
        yield from self._close(min(end, self._now if self._silent_since is None else self._silent_since))

    def _frame(self, probability: float) -> Iterator[SpeechSpan]:
        after = self._now + FRAME_MS
        if probability >= _ON:
            self._silent_since = None
            if self._began is None:
                self._began = self._now
            elif after - max(self._began, self._told) >= _PART_MS:
                start, self._told = max(self._began, self._told), after
                yield SpeechSpan(start, after)
        elif self._began is not None and probability < _OFF:
            if self._silent_since is None:
                self._silent_since = self._now
            if after - self._silent_since >= _MIN_SILENCE_MS:
                yield from self._close(self._silent_since)

    def _close(self, end: int) -> Iterator[SpeechSpan]:
        began, self._began, self._silent_since = self._began, None, None
        if began is None or end - began < _MIN_SPEECH_MS:
            return
        start = max(began, self._told)
        if end > start:
            yield SpeechSpan(start, end)
