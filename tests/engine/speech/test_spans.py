"""From probabilities to spans: what counts as speech, and that it does not matter how they arrive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engine.speech.spans import SpanFinder
from engine.types import SpeechSpan

MS = 32  # a frame
YES, PERHAPS, NO = 0.9, 0.3, 0.02

probabilities = st.lists(
    st.tuples(st.sampled_from([YES, 0.5, PERHAPS, 0.2, NO]), st.integers(1, 60)), min_size=1, max_size=40
).map(lambda runs: [value for value, frames in runs for _ in range(frames)])


def parts(script: Sequence[float], pieces: Sequence[int] = ()) -> Iterator[SpeechSpan]:
    """What is told about `script`, fed in pieces that end at these frames."""
    finder = SpanFinder(0)
    first = 0
    for last in (*sorted(pieces), len(script)):
        yield from finder.feed(script[first:last])
        first = max(first, last)
    yield from finder.finish(len(script) * MS)


def spans(script: Sequence[float]) -> list[tuple[int, int]]:
    """Spans as (start, end), their parts joined."""
    joined: list[tuple[int, int]] = []
    for part in parts(script):
        if joined and joined[-1][1] == part.start:
            joined[-1] = (joined[-1][0], part.end)
        else:
            joined.append((part.start, part.end))
    return joined


def test_speech_is_told_from_its_first_to_its_last_frame() -> None:
    assert spans([NO] * 10 + [YES] * 20 + [NO] * 10) == [(320, 960)]


def test_a_click_is_not_speech() -> None:
    assert spans([NO] * 10 + [YES] * 8 + [NO] * 10) == []


def test_a_short_word_is_speech() -> None:
    assert spans([NO] * 10 + [YES] * 9 + [NO] * 10) == [(320, 608)]


def test_a_stop_consonant_does_not_end_speech() -> None:
    assert spans([YES] * 20 + [NO] * 3 + [YES] * 20) == [(0, 43 * MS)]


def test_a_pause_ends_speech_where_it_began() -> None:
    assert spans([YES] * 20 + [NO] * 4 + [YES] * 20) == [(0, 640), (768, 1408)]


def test_doubt_neither_begins_speech_nor_ends_it() -> None:
    assert spans([PERHAPS] * 50) == []
    assert spans([YES] * 10 + [PERHAPS] * 50 + [YES] * 10) == [(0, 70 * MS)]


def test_speech_up_to_the_last_frame_is_kept() -> None:
    assert spans([NO] * 10 + [YES] * 20) == [(320, 960)]


def test_speech_that_goes_on_is_told_before_it_ends() -> None:
    finder = SpanFinder(0)
    told = list(finder.feed([YES] * 1000))
    assert told
    assert max(part.end - part.start for part in told) <= 10_000 + MS
    assert finder.settled == told[-1].end
    assert spans([YES] * 1000) == [(0, 32_000)]


def test_nothing_starts_before_what_is_settled() -> None:
    finder = SpanFinder(500)
    assert list(finder.feed([NO] * 100)) == []
    assert finder.settled == 500 + 100 * MS
    assert list(finder.feed([YES] * 3)) == []
    assert finder.settled == 500 + 100 * MS


@given(script=probabilities, pieces=st.lists(st.integers(0, 2_000), max_size=20))
def test_the_pieces_do_not_matter(script: list[float], pieces: list[int]) -> None:
    assert list(parts(script, [min(piece, len(script)) for piece in pieces])) == list(parts(script))


@given(script=probabilities)
def test_spans_are_sorted_and_hold_every_long_certainty(script: list[float]) -> None:
    found = list(parts(script))
    assert all(part.start < part.end for part in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    run = 0
    for frame, probability in enumerate(script):
        run = run + 1 if probability >= 0.4 else 0
        if run * MS >= 280:
            assert any(part.start <= frame * MS < part.end for part in found)


@given(script=probabilities)
def test_a_longer_silence_is_never_part_of_a_span(script: list[float]) -> None:
    run = 0
    found = list(parts(script))
    for frame, probability in enumerate(script):
        run = run + 1 if probability < 0.25 else 0
        if run >= 4:
            assert not any(part.start < (frame + 1) * MS and part.end > (frame + 1 - run) * MS for part in found)
