"""The words of a cue: whether they still are its text, and times that a player can use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.types import Segment, Word

MIN_WORD_MS = 10  # half of Whisper's time step; a word has some length, borrowed from its neighbours


def with_own_words(segment: Segment) -> Segment:
    """Keep the words only if they spell the text, spaces aside; else it was edited, and the text counts."""
    words = tuple(word for word in segment.words if word.text and not word.text.isspace())
    same = visible("".join(word.text for word in words)) == visible(segment.text)
    return replace(segment, words=words if same else ())


def within(segment: Segment, start: int, end: int) -> Segment:
    """Move a cue's bounds; its words follow, in their order, without overlap, none without length.

    Where there is no room for that the words' times say nothing, and the words are left out.
    """
    words = segment.words
    if end - start < MIN_WORD_MS * len(words):
        words = ()
    if not _fit(words, start, end):
        words = _fitted(words, start, end)
    return replace(segment, start=start, end=end, words=words)


def visible(text: str) -> str:
    """Give a text without what cannot be seen between its characters."""
    return "".join(text.split())


def _fit(words: tuple[Word, ...], start: int, end: int) -> bool:
    for word in words:
        if word.start < start or word.end < word.start + MIN_WORD_MS:
            return False
        start = word.end
    return start <= end


def _fitted(words: tuple[Word, ...], start: int, end: int) -> tuple[Word, ...]:
    starts = _spaced((word.start for word in words), start, end)
    times = zip(words, starts, [*starts[1:], end], strict=True)
    return tuple(
        replace(word, start=begin, end=min(max(word.end, begin + MIN_WORD_MS), following))
        for word, begin, following in times
    )


def _spaced(starts: Iterable[int], first: int, end: int) -> list[int]:
    """Move starts as little as makes each MIN_WORD_MS later than the one before, from `first` to `end`."""
    spaced: list[int] = []
    for start in starts:
        spaced.append(max(start, first))
        first = spaced[-1] + MIN_WORD_MS
    for index in reversed(range(len(spaced))):
        end -= MIN_WORD_MS
        spaced[index] = end = min(spaced[index], end)
    return spaced
