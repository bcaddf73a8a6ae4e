"""Segments as they come, and as nobody would expect them."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from engine.types import Segment, Word

HOUR = 3_600_000
TIMES = st.one_of(
    st.integers(-5_000, 60_000),
    st.integers(0, 600).map(lambda tenth: tenth * 100),
    st.sampled_from([-(2**40), -1, 0, 99, 100, 30_000, HOUR, 400 * HOUR, 2**40]),
)
DURATIONS = st.one_of(st.none(), st.integers(0, 70_000), st.sampled_from([1, 99, 100, 101, 2 * HOUR]))
TEXTS = st.one_of(
    st.text(alphabet="ab c.,?!-\n日本語。、「」ーっกขไทย🎉🏽\u200d\u0301\u00a0é<>&\"'»«¿()", max_size=80),
    st.text(max_size=40),
    st.lists(st.sampled_from(["And", "so,", "my", "fellow", "country.", "?", "don’t"]), max_size=120).map(" ".join),
)
SPEAKERS = st.sampled_from([None, "Anna", "Zoë"])


@st.composite
def words_of(draw: st.DrawFn, text: str) -> tuple[Word, ...]:
    """The words of a text, as it is split by some tokenizer, with any times."""
    pieces = re.findall(draw(st.sampled_from([r"\s*\S+", r"\s*\S{1,2}", r"\s+|\S+"])), text)
    times = [draw(st.tuples(TIMES, TIMES)) for _ in pieces]
    if draw(st.booleans()):
        times = sorted(times)
    return tuple(Word(start, end, piece, 0.5) for piece, (start, end) in zip(pieces, times, strict=True))


@st.composite
def any_segments(draw: st.DrawFn) -> list[Segment]:
    segments: list[Segment] = []
    for text in draw(st.lists(TEXTS, max_size=6)):
        words = draw(st.one_of(st.just(()), words_of(text), words_of("other words than these")))
        segments.append(Segment(draw(TIMES), draw(TIMES), text, words, speaker=draw(SPEAKERS)))
    return segments


@st.composite
def spoken_segments(draw: st.DrawFn) -> list[Segment]:
    """What an engine gives: words of less than two seconds, one after the other, in segments of any length."""
    now, number = draw(st.integers(0, 5_000)), 0
    segments: list[Segment] = []
    for count in draw(st.lists(st.integers(1, 60), min_size=1, max_size=5)):
        words: list[Word] = []
        for _ in range(count):
            now += draw(st.sampled_from([0, 0, 0, 20, 400, 3_000, 40_000]))
            length = draw(st.integers(150, 2_000))
            end = draw(st.sampled_from(["", "", "", ",", ".", "?"]))
            words.append(Word(now, now + length, f" w{number}{end}", 0.9))
            now, number = now + length, number + 1
        segments.append(Segment(words[0].start, words[-1].end, "".join(word.text for word in words), tuple(words)))
    return segments
