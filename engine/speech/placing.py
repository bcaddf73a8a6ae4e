"""From the time of a window to the time of the file, and onto the speech that was found there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from engine.speech.windows import Piece, Window
from engine.speech.word_snapping import AFTER_MS, BEFORE_MS, fitted
from engine.types import Segment, SpeechSpan, Word


def placed(segments: Iterable[Segment], window: Window) -> Iterator[Segment]:
    """Segments of a window with their times in the file, cut where the window skips a silence."""
    for segment in fitted(segments, window):
        for part in _by_piece(segment, window.pieces):
            yield snapped(part, window.speech)


def snapped(segment: Segment, speech: Sequence[SpeechSpan]) -> Segment:
    """The segment without the silence before its first and after its last speech, its words inside it."""
    touched = [span for span in speech if span.start < segment.end and span.end > segment.start]
    if not touched:
        return segment
    start = max(segment.start, touched[0].start - BEFORE_MS)
    end = max(start, min(segment.end, touched[-1].end + AFTER_MS))
    return replace(segment, start=start, end=end, words=tuple(_inside(word, start, end) for word in segment.words))


def _by_piece(segment: Segment, pieces: Sequence[Piece]) -> Iterator[Segment]:
    """`segment` in file time; in several parts when its words lie on both sides of a silence that was cut out."""
    if not segment.words:
        yield _moved(segment, _piece_at(pieces, (segment.start + segment.end) // 2))
        return
    groups = [
        (piece, list(words))
        for piece, words in groupby(segment.words, lambda word: _piece_at(pieces, (word.start + word.end) // 2))
    ]
    for number, (piece, words) in enumerate(groups):
        first, last = number == 0, number == len(groups) - 1
        part = replace(
            segment,
            start=segment.start if first else words[0].start,
            end=segment.end if last else words[-1].end,
            text=segment.text if first and last else "".join(word.text for word in words).strip(),
            words=tuple(words),
        )
        yield _moved(part, piece)


def _piece_at(pieces: Sequence[Piece], at: int) -> Piece:
    """The piece that holds the time `at` of the window; the last one for what lies behind it."""
    return next((piece for piece in pieces if at < piece.at + piece.length), pieces[-1])


def _moved(segment: Segment, piece: Piece) -> Segment:
    start, end = _to_file(segment.start, piece), _to_file(segment.end, piece)
    words = tuple(
        replace(word, start=_to_file(word.start, piece), end=_to_file(word.end, piece)) for word in segment.words
    )
    return replace(segment, start=start, end=end, words=words)


def _to_file(at: int, piece: Piece) -> int:
    return piece.start + min(max(at - piece.at, 0), piece.length)


def _inside(word: Word, start: int, end: int) -> Word:
    return replace(word, start=min(max(word.start, start), end), end=min(max(word.end, start), end))
