"""From a window's tokens to segments: cut where Whisper says a time."""

from __future__ import annotations

from collections.abc import Iterable

from engine.types import Segment
from engine.whisper.words import Token, segment_from_tokens

TIMESTAMP_MS = 20  # Whisper's timestamp tokens count in fiftieths of a second


def segments_from_tokens(
    tokens: Iterable[tuple[int, Token]], first_timestamp: int, first_special: int, window: int, language: str
) -> list[Segment]:
    """Segments in window time; one without a closing timestamp ends with the window (ms).

    `tokens` are numbers with what they say; numbers from `first_special` up to `first_timestamp` say nothing.
    """
    segments: list[Segment] = []
    start, pending = 0, list[Token]()
    for number, token in tokens:
        if number >= first_timestamp:
            at = min((number - first_timestamp) * TIMESTAMP_MS, window)
            if pending:
                segments.append(segment_from_tokens(pending, start, at, language))
                pending = []
            start = at
        elif number < first_special:
            pending.append(token)
    if pending:
        segments.append(segment_from_tokens(pending, start, window, language))
    return [segment for segment in segments if segment.text]
