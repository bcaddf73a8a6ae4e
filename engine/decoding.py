"""Windows to segments, with what guards against Whisper's two bad habits: going round in circles, and stopping
before the speech does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.audio.level import normalised
from engine.backends.base import Backend
from engine.speech.placing import placed
from engine.speech.quality import REPEATS, is_sound, loops
from engine.speech.windows import Window
from engine.types import SAMPLES_PER_MS, WORDLESS_MS, Options, Segment

if TYPE_CHECKING:
    from engine.types import Samples

_SECOND_TRY_TEMPERATURE = 0.4


def decode_windows(backend: Backend, windows: Sequence[Window], options: Options) -> list[list[Segment]]:
    """The segments of each of `windows`, in file time; `options.language` is a code.

    No window is told what was said in the one before: such context carries names and style, but also loops, and a
    job that goes on after a crash would come out differently.
    """
    skips = any(len(window.pieces) > 1 for window in windows)  # then words tell where a segment has to be cut
    options = replace(options, words=options.words or skips)
    rests = [_Rest(window, normalised(window.samples)) for window in windows]
    while unheard := [rest for rest in rests if rest.at is not None]:
        _decode(backend, unheard, options)
    return [list(placed([s for s in rest.segments if not is_sound(s.text)], rest.window)) for rest in rests]


@dataclass(slots=True)
class _Rest:
    """A window, its segments so far, and from where on it is still to be decoded (ms; None: nowhere)."""

    window: Window
    samples: Samples
    segments: list[Segment] = field(default_factory=list[Segment])
    at: int | None = 0

    def add(self, segments: Sequence[Segment], at: int) -> None:
        """Segments of what lies behind `at`; Whisper may have stopped long before the speech does."""
        self.segments += [_later(segment, at) for segment in segments]
        end = self.segments[-1].end if self.segments else 0
        self.at = end if end > at and _speech_after(self.window, end) else None


def _decode(backend: Backend, rests: Sequence[_Rest], options: Options) -> None:
    """Decode what is left of each window, all together."""
    starts = [rest.at or 0 for rest in rests]
    batch = [rest.samples[at * SAMPLES_PER_MS :] for rest, at in zip(rests, starts, strict=True)]
    ends = [_speech_end(rest.window) - at if options.vad else 0 for rest, at in zip(rests, starts, strict=True)]
    found = backend.decode(batch, options, ends)
    for rest, at, samples, segments in zip(rests, starts, batch, found, strict=True):
        rest.add(_without_loops(backend, samples, options, segments), at)


def _without_loops(backend: Backend, samples: Samples, options: Options, first: list[Segment]) -> list[Segment]:
    """What was decoded first; if it goes round in circles, once more without the prompt and at a higher temperature.

    What still repeats is kept and marked: a reader can judge it, a machine cannot.
    """
    if not loops(_text(first)):
        return first
    again = replace(options, prompt="", temperature=max(options.temperature, _SECOND_TRY_TEMPERATURE))
    second = backend.decode([samples], again)[0]
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


def _speech_end(window: Window) -> int:
    """Where the last worthwhile stretch of speech ends, in window time; 0 if there is none."""
    ends = [span.end for span in window.speech if span.end - span.start >= WORDLESS_MS]
    if not ends:
        return 0
    piece = next((piece for piece in window.pieces if ends[-1] <= piece.start + piece.length), window.pieces[-1])
    return piece.at + ends[-1] - piece.start


def _speech_after(window: Window, at: int) -> bool:
    """Whether a worthwhile stretch of speech lies behind `at` (window time)."""
    start = window.to_file(at)
    return any(span.end - max(span.start, start) >= WORDLESS_MS for span in window.speech)


def _text(segments: list[Segment]) -> str:
    return " ".join(segment.text for segment in segments)


def _later(segment: Segment, by: int) -> Segment:
    if not by:
        return segment
    words = tuple(replace(word, start=word.start + by, end=word.end + by) for word in segment.words)
    return replace(segment, start=segment.start + by, end=segment.end + by, words=words)
