"""Makes cues that every player takes from any segments: before every subtitle format, and wherever cues are shown.

tidy → cut what is too long → sort → merge what begins together → end before the next → cut what became too long
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.exports import scripts
from engine.exports.cutting import MIN_MS, cut, reading_time
from engine.exports.word_times import with_own_words, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.types import Segment


def normalise(segments: Iterable[Segment], duration: int | None) -> list[Segment]:
    """Give cues in order: within [0, `duration`], at least 0.1 s long, without overlap, at most 7 s where
    the text allows a cut.

    No text is lost: segments that begin less than 0.1 s apart share a cue. Cues have words only where these
    are the text and have usable times. Normalising again changes nothing.
    """
    tidied = (_tidied(segment, duration or None) for segment in segments)
    pieces = [piece for segment in tidied if segment.text for piece in cut(segment)]
    cues = _one_after_the_other(_merged(sorted(pieces, key=lambda piece: piece.start)))
    return [piece for cue in cues for piece in cut(cue)]


def _tidied(segment: Segment, duration: int | None) -> Segment:
    """Put a segment within the audio, with an end after its start; the duration is None when unknown."""
    segment = with_own_words(replace(segment, text=scripts.tidy(segment.text)))
    start, end = max(segment.start, 0), segment.end
    if end <= start:
        end = start + reading_time(segment.text)
    if duration is not None:
        start = max(min(start, duration - MIN_MS), 0)
        end = min(end, duration)
    return within(segment, start, max(end, start + (MIN_MS if duration is None else min(MIN_MS, duration))))


def _merged(pieces: Iterable[Segment]) -> list[Segment]:
    """Put what begins too close to the one before into its cue."""
    cues: list[Segment] = []
    for piece in pieces:
        if cues and piece.start < cues[-1].start + MIN_MS:
            cues[-1] = _together(cues[-1], piece)
        else:
            cues.append(piece)
    return cues


def _together(first: Segment, second: Segment) -> Segment:
    """Put two segments into one cue; the turns of two speakers stand on two lines."""
    alike = first.speaker == second.speaker
    follow = first.words and second.words and first.words[-1].end <= second.words[0].start
    merged = replace(
        first,
        text=scripts.join(first.text, second.text) if alike else f"{first.text}\n{second.text}",
        words=first.words + second.words if follow else (),
        speaker=first.speaker if alike else None,
        language=first.language if first.language == second.language else None,
        avg_logprob=None,
        no_speech_prob=None,
        flags=tuple(dict.fromkeys(first.flags + second.flags)),
        extra={},
    )
    return within(merged, first.start, max(first.end, second.end))


def _one_after_the_other(cues: Sequence[Segment]) -> list[Segment]:
    ended = [within(cue, cue.start, min(cue.end, following.start)) for cue, following in pairwise(cues)]
    return [*ended, *cues[-1:]]
