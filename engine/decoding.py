"""One window to segments, with what guards against Whisper's two bad habits: going round in circles, and
stopping before the speech does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.audio.level import normalised
from engine.backends.base import Backend
from engine.speech.placing import placed
from engine.speech.quality import REPEATS, loops
from engine.speech.windows import Window
from engine.types import SAMPLES_PER_MS, Options, Segment

if TYPE_CHECKING:
    from engine.types import Samples

_SECOND_TRY_TEMPERATURE = 0.4
_MIN_TAIL_MS = 1_500  # speech shorter than this after the last word is not worth another pass of the encoder


def decode_window(backend: Backend, window: Window, options: Options, context: str) -> list[Segment]:
    """Segments of `window` in file time.

    `options.language` is a code; `context` is text just before the window, given to the model as its prompt.
    """
    samples = normalised(window.samples)
    segments: list[Segment] = []
    at = 0
    while (tail := samples[at * SAMPLES_PER_MS :]).size:
        found = _without_loops(backend, tail, options, context)
        segments += [_later(segment, at) for segment in found]
        next_at = segments[-1].end if segments else 0
        if next_at <= at or not _speech_after(window, next_at):
            break
        at = next_at
    return list(placed(segments, window))


def _without_loops(backend: Backend, samples: Samples, options: Options, context: str) -> list[Segment]:
    """Decode; where the text goes round in circles, once more without context and at a higher temperature.

    What still repeats is kept and marked: a reader can judge it, a machine cannot.
    """
    first = backend.decode(samples, replace(options, prompt=_prompt(options.prompt, context)))
    if not loops(_text(first)):
        return first
    again = replace(options, temperature=max(options.temperature, _SECOND_TRY_TEMPERATURE))
    second = backend.decode(samples, again)
    if not loops(_text(second)):
        return second
    shorter = min(first, second, key=lambda segments: len(_text(segments)))
    return list(_marked(shorter))


def _marked(segments: list[Segment]) -> Iterator[Segment]:
    """The same segments, flagged where they, or they with their neighbours, repeat."""
    one_by_one = [loops(segment.text) for segment in segments]
    for segment, repeats in zip(segments, one_by_one, strict=True):
        flagged = repeats or not any(one_by_one)
        yield replace(segment, flags=(*segment.flags, REPEATS)) if flagged else segment


def _speech_after(window: Window, at: int) -> bool:
    """Whether a worthwhile stretch of speech lies behind `at` (window time)."""
    start = window.to_file(at)
    return any(span.end - max(span.start, start) >= _MIN_TAIL_MS for span in window.speech)


def _prompt(prompt: str, context: str) -> str:
    return f"{prompt} {context}".strip()


def _text(segments: list[Segment]) -> str:
    return " ".join(segment.text for segment in segments)


def _later(segment: Segment, by: int) -> Segment:
    if not by:
        return segment
    words = tuple(replace(word, start=word.start + by, end=word.end + by) for word in segment.words)
    return replace(segment, start=segment.start + by, end=segment.end + by, words=words)
