"""Cuts a cue that stays too long into shorter ones, where a reader would."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.exports.scripts import ends_clause, ends_sentence, may_cut
from engine.exports.word_times import visible, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.types import Segment

MAX_MS = 7_000  # longest cue, as broadcasters have it (Netflix's and the BBC's guidelines)
MIN_MS = 100  # shortest, unless the audio itself is shorter
COMFORTABLE_MS = 1_000  # a shorter cue flashes by
READING_MS = 60  # a character at 17 characters a second, a common reading speed for adults


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place between two words: the text before ends at `end`, the rest of it begins at `start`."""

    at: int  # index in the text
    words: int  # how many of the words come before
    end: int
    start: int


def cut(segment: Segment) -> list[Segment]:
    """Cut until no piece is longer than MAX_MS, or can be cut.

    Times come from the words; without words they are shared out by characters, which is better than a
    screen full of text for half a minute.
    """
    pieces: list[Segment] = []
    pending = [segment]
    while pending:
        piece = _drawn_in(pending.pop())
        best = _best_cut(piece) if piece.end - piece.start > MAX_MS else None
        if best is None:
            pieces.append(_not_for_minutes(piece))
        else:
            pending += reversed(_halves(piece, best))
    return pieces


def reading_time(text: str) -> int:
    """Milliseconds that a reader needs for a text."""
    return READING_MS * len(text)


def _drawn_in(segment: Segment) -> Segment:
    """Let a cue that is too long begin and end with its words, as far as there is time to read them."""
    if not segment.words or segment.end - segment.start <= MAX_MS:
        return segment
    start = min(segment.words[0].start, segment.end - MIN_MS)
    end = min(segment.end, max(segment.words[-1].end, start + reading_time(segment.text), start + MIN_MS))
    return within(segment, start, end)


def _not_for_minutes(segment: Segment) -> Segment:
    """A few words that no one could place may not stay until the next ones come."""
    longest = max(MAX_MS, reading_time(segment.text))
    return within(segment, segment.start, min(segment.end, segment.start + longest))


def _best_cut(segment: Segment) -> _Cut | None:
    """After a sentence rather than a clause, at a long pause, near the place that makes equal pieces."""
    cuts = list(_cuts(segment))
    comfortable = [place for place in cuts if _shorter_piece(segment, place) >= COMFORTABLE_MS]
    possible = comfortable or [place for place in cuts if _shorter_piece(segment, place) >= MIN_MS]
    return max(possible, key=lambda place: _worth(segment, place), default=None)


def _shorter_piece(segment: Segment, place: _Cut) -> int:
    return min(place.end - segment.start, segment.end - place.start)


def _worth(segment: Segment, place: _Cut) -> float:
    """Score a place: 2 for the end of a sentence, 1 for that of a clause or a second's pause, minus the distance."""
    length = segment.end - segment.start
    pieces = -(-length // MAX_MS)
    ideal = segment.start + length * (pieces // 2) / pieces
    before = segment.text[max(0, place.at - 8) : place.at]
    mark = 2 if ends_sentence(before) else 1 if ends_clause(before) else 0
    pause = min(place.start - place.end, 1_000) / 1_000
    return mark + pause - 4 * abs((place.end + place.start) / 2 - ideal) / length


def _cuts(segment: Segment) -> Iterator[_Cut]:
    return _cuts_between_words(segment) if segment.words else _cuts_by_share(segment)


def _cuts_between_words(segment: Segment) -> Iterator[_Cut]:
    """Find where each word begins in the text, which has the spaces as they were written."""
    places = [index for index, character in enumerate(segment.text) if not character.isspace()]
    passed = 0
    for index, (word, following) in enumerate(zip(segment.words, segment.words[1:], strict=False)):
        passed += len(visible(word.text))
        if may_cut(segment.text, places[passed], after_word=True):
            yield _Cut(places[passed], index + 1, word.end, following.start)


def _cuts_by_share(segment: Segment) -> Iterator[_Cut]:
    for at in range(1, len(segment.text)):
        if not segment.text[at].isspace() and may_cut(segment.text, at, after_word=False):
            time = segment.start + (segment.end - segment.start) * at // len(segment.text)
            yield _Cut(at, 0, time, time)


def _halves(segment: Segment, place: _Cut) -> tuple[Segment, Segment]:
    before = replace(segment, text=segment.text[: place.at].rstrip(), words=segment.words[: place.words])
    after = replace(segment, text=segment.text[place.at :].lstrip(), words=segment.words[place.words :])
    return within(before, segment.start, place.end), within(after, place.start, segment.end)
