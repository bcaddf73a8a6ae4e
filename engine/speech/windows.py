"""Audio to windows of at most 30 s for Whisper: only where someone speaks, cut in pauses, as a stream.

Every window costs a whole run of the encoder, however short it is, so speech is packed: neighbouring spans share
a window while they fit, and a long silence between them is shortened. What is left out is remembered piece by piece,
so that a time in a window becomes the exact time in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from engine.audio.level import Lift
from engine.speech.spans import SpanFinder
from engine.speech.tape import Tape
from engine.speech.vad import FRAME_MS, SpeechDetector
from engine.types import SAMPLES_PER_MS, WINDOW_MS, AudioBlock, SpeechSpan

if TYPE_CHECKING:
    from engine.types import Samples

_CHUNK_MS = 256 * FRAME_MS  # heard at once, 8 s; fixed, so that windows do not depend on how the audio arrives
# Of a silence so much is kept at each end, in a window and at its edges. Measured with Whisper base on 24 recordings:
# 166 words wrong with 0.2 s, 159 with 0.4 s, 150 with 0.8 s, 151 with 1 s, and 157 when nothing was left out.
_KEEP_MS = 1_000
_CLOSE_MS = 20_000  # a silence after which nobody waits for the window to fill up; bounds what must be held
_GOOD_PAUSE_MS = 1_000  # a longer pause is no better a place to cut
_UNFILLED_COST = 0.1  # a millisecond that stays empty in a window, in milliseconds of pause
_INNER_CUT = -0.5 * WINDOW_MS * _UNFILLED_COST  # worth of a cut within speech: as no pause, in a half-empty window
_LAST_MS = 8_000  # such a cut is made in the last seconds of the window


@dataclass(frozen=True, slots=True)
class Piece:
    """[at, at + length) of a window is [start, start + length) of the file."""

    at: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Window:
    """At most 30 s to be decoded: consecutive pieces of the file with the silence between them left out."""

    start: int
    end: int
    samples: Samples
    pieces: tuple[Piece, ...]
    speech: tuple[SpeechSpan, ...]  # in file time; without a detector all of it

    def to_file(self, at: int, *, end: bool = False) -> int:
        """The file's time for the time `at` in the window; past either end it stays at that end.

        Where two pieces meet, it is the start of the later piece, or with `end` (something ends there) the end of
        the earlier one.
        """
        piece = self.pieces[0]
        for later in self.pieces[1:]:
            if at < later.at or (end and at == later.at):
                break
            piece = later
        return piece.start + min(max(at - piece.at, 0), piece.length)


def windows(blocks: Iterable[AudioBlock], detector: SpeechDetector | None) -> Iterator[Window | None]:
    """The windows of consecutive blocks, each as soon as it is settled; None for a block that settled none.

    Without a detector everything counts as speech. The samples of the windows are the blocks' own.
    """
    packer: _Packer | None = None
    for block in blocks:
        packer = packer or _Packer(block.start, detector)
        settled = False
        for window in packer.hear(block.samples):
            settled = True
            yield window
        if not settled:
            yield None
    if packer:
        yield from packer.finish()


class _Packer:
    """Spans of speech to windows, with the audio that is still needed for them."""

    def __init__(self, start: int, detector: SpeechDetector | None) -> None:
        self._detector = detector
        self._tape = Tape(start)
        self._lift = Lift()
        self._finder = SpanFinder(start)
        self._heard = start
        self._spans: list[SpeechSpan] = []  # of the window to come
        self._fence = start  # what is before belongs to earlier windows

    def hear(self, samples: Samples) -> Iterator[Window]:
        """Windows that are settled now."""
        self._tape.append(samples)
        while self._tape.end - self._heard >= _CHUNK_MS:
            yield from self._listen(self._heard + _CHUNK_MS)
            if self._spans and self._finder.settled - self._spans[-1].end >= _CLOSE_MS:
                yield self._close(len(self._spans), self._spans[-1].end + _KEEP_MS)
            needed = self._spans[0].start if self._spans else self._finder.settled
            self._tape.forget_before(max(self._fence, needed - _KEEP_MS))

    def finish(self) -> Iterator[Window]:
        """The last windows, when the audio is over."""
        yield from self._listen(self._tape.end)
        for span in self._finder.finish(self._tape.end):
            yield from self._add(span)
        if self._spans:
            yield self._close(len(self._spans), self._tape.end)

    def _listen(self, end: int) -> Iterator[Window]:
        samples = self._tape.read(self._heard, end)
        self._heard = end
        missing = -len(samples) % (FRAME_MS * SAMPLES_PER_MS)
        if self._detector is None:
            probabilities = [1.0] * ((len(samples) + missing) // (FRAME_MS * SAMPLES_PER_MS))
        else:
            raised = self._lift.raised(np.pad(samples, (0, missing)))
            probabilities = self._detector.probabilities(raised).tolist()
        for span in self._finder.feed(probabilities):
            yield from self._add(span)

    def _add(self, span: SpeechSpan) -> Iterator[Window]:
        if self._spans and span.start == self._spans[-1].end:
            self._spans[-1] = SpeechSpan(self._spans[-1].start, span.end)
        else:
            if self._spans and span.start - self._spans[-1].end >= _CLOSE_MS:
                yield self._close(len(self._spans), self._spans[-1].end + _KEEP_MS)
            self._spans.append(span)
        while _length(self._pieces(self._spans, self._spans[-1].end)) > WINDOW_MS:
            yield self._cut()

    def _cut(self) -> Window:
        """Close the window at the best place, since not all its spans fit."""
        best, score = 0, _INNER_CUT
        for count in range(1, len(self._spans)):
            last, following = self._spans[count - 1 : count + 1]
            unfilled = WINDOW_MS - _length(self._pieces(self._spans[:count], last.end))
            worth = min(following.start - last.end, _GOOD_PAUSE_MS) - unfilled * _UNFILLED_COST
            if unfilled >= 0 and worth >= score:
                best, score = count, worth
        if best:
            last, following = self._spans[best - 1 : best + 1]
            return self._close(best, (last.end + following.start) // 2)
        return self._cut_within_speech()

    def _cut_within_speech(self) -> Window:
        """Cut the span that runs over the end of the window at its quietest place."""
        piece = next(p for p in self._pieces(self._spans, self._spans[-1].end) if p.at + p.length > WINDOW_MS)
        latest = piece.start + WINDOW_MS - piece.at
        number, span = next((i, span) for i, span in enumerate(self._spans) if span.end > latest)
        earliest = latest - _LAST_MS  # within the span: a pause in the second half of the window would have been taken
        cut = earliest + quietest(self._tape.read(earliest, latest))
        self._spans[number : number + 1] = [SpeechSpan(span.start, cut), SpeechSpan(cut, span.end)]
        return self._close(number + 1, cut)

    def _close(self, count: int, limit: int) -> Window:
        """The window of the first `count` spans; `limit` is where the following window may begin."""
        spans, self._spans = self._spans[:count], self._spans[count:]
        bare = _length(self._pieces(spans, spans[-1].end))
        end = min(spans[-1].end + min(_KEEP_MS, WINDOW_MS - bare), limit)
        pieces = self._pieces(spans, end)
        self._fence = limit
        samples = np.concatenate([self._tape.read(piece.start, piece.start + piece.length) for piece in pieces])
        return Window(pieces[0].start, end, samples, pieces, tuple(spans))

    def _pieces(self, spans: list[SpeechSpan], end: int) -> tuple[Piece, ...]:
        """What is kept of the file from before the first span to `end`."""
        pieces: list[Piece] = []
        at, start = 0, max(spans[0].start - _KEEP_MS, self._fence)
        for span, following in pairwise(spans):
            if following.start - span.end > 2 * _KEEP_MS:
                pieces.append(Piece(at, start, span.end + _KEEP_MS - start))
                at, start = at + pieces[-1].length, following.start - _KEEP_MS
        return (*pieces, Piece(at, start, end - start))


def _length(pieces: tuple[Piece, ...]) -> int:
    return pieces[-1].at + pieces[-1].length


def quietest(samples: Samples) -> int:
    """The middle of the quietest 100 ms, in ms from the first sample."""
    width, step = 100 * SAMPLES_PER_MS, 10 * SAMPLES_PER_MS
    if len(samples) < width:
        return len(samples) // SAMPLES_PER_MS // 2
    energy = np.lib.stride_tricks.sliding_window_view(samples, width)[::step]
    quietest = int(np.argmin(np.einsum("ij,ij->i", energy, energy)))
    return (quietest * step + width // 2) // SAMPLES_PER_MS
