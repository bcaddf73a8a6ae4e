"""Words fitted to the sound: none runs through a pause, or begins in one.

Whisper says when a word begins. When it ends, nobody says: until the next word, or until its sound is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.speech.windows import Window
from engine.types import SAMPLES_PER_MS, Segment, Word

if TYPE_CHECKING:
    from engine.types import Samples

BEFORE_MS = 100  # voice detection hears a soft first consonant late …
AFTER_MS = 200  # … and lets go of a fading vowel early

_FRAME_MS = 10
_FRAME = _FRAME_MS * SAMPLES_PER_MS
_QUIET, _LOUD = 5, 95  # percentiles of a window's frames, in dB: its noise, its speech
_SOUNDS_FROM = 0.3  # of the way from noise to speech
_LEAST_DB = 6.0  # above the noise
_DIGITAL_SILENCE = 1e-10  # power; 0 has no logarithm
_PAUSE = 10  # frames: the closure of a "t" or "k" is shorter
_SLIVER = 8  # frames: so much sound beyond a pause is the neighbour's, whose time is not exact either
_EDGE_MS = 20  # kept of the fading sound, and before the first


def fitted(segments: Iterable[Segment], window: Window) -> Iterator[Segment]:
    """Segments in the window's time, they and their words without the pauses in front and behind."""
    sounds = _sounds(window)
    for segment in segments:
        words = tuple(_trimmed(word, sounds) for word in segment.words)
        yield (
            replace(segment, start=_start(segment, words[0], sounds), end=words[-1].end, words=words)
            if words
            else segment
        )


def _start(segment: Segment, first: Word, sounds: NDArray[np.bool_]) -> int:
    """Where the segment begins to sound. Not where its first word does: whisper.cpp may put that far too late."""
    whole = replace(first, start=segment.start, end=segment.words[0].end)
    return min(first.start, _trimmed(whole, sounds).start)


def _trimmed(word: Word, sounds: NDArray[np.bool_]) -> Word:
    """`word`, which lasts until the next one begins, without the pause in front of it and behind it."""
    first, last = word.start // _FRAME_MS, word.end // _FRAME_MS
    start, end = word.start, word.end
    for silent, loud in _pauses(sounds[first:last]):
        before, behind = silent <= _SLIVER, last - first - loud <= _SLIVER
        if before and behind:  # not heard at all
            return word
        if before:
            start = (first + loud) * _FRAME_MS - _EDGE_MS
        elif behind:
            end = (first + silent) * _FRAME_MS + _EDGE_MS
    return replace(word, start=start, end=end)


def _pauses(sounds: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Where it is silent for long: [from, to) in frames."""
    edges = np.flatnonzero(np.diff(sounds, prepend=True, append=True))
    for silent, loud in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if loud - silent >= _PAUSE:
            yield silent, loud


def _sounds(window: Window) -> NDArray[np.bool_]:
    """Whether each frame of the window sounds: louder than its noise, and where speech was found."""
    level = _level(window.samples)
    if not len(level):
        return np.zeros(0, np.bool_)
    noise, speech = np.percentile(level, [_QUIET, _LOUD])
    sounds = level > max(noise + _LEAST_DB, noise + (speech - noise) * _SOUNDS_FROM)
    spoken = np.zeros(len(level), np.bool_)
    for piece in window.pieces:
        for span in window.speech:
            at = [
                piece.at + min(max(time - piece.start, 0), piece.length)
                for time in (span.start - BEFORE_MS, span.end + AFTER_MS)
            ]
            spoken[at[0] // _FRAME_MS : -(-at[1] // _FRAME_MS)] = True
    return sounds & spoken


def _level(samples: Samples) -> NDArray[np.float64]:
    """The level of each frame in dB."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    return 10 * np.log10(np.square(frames, dtype=np.float64).mean(axis=1) + _DIGITAL_SILENCE)
