"""Whatever the segments are, the cues are valid and nothing that was said is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.exports.cutting import MAX_MS, MIN_MS, reading_time
from engine.exports.normalise import normalise
from engine.exports.scripts import tidy
from engine.exports.word_times import MIN_WORD_MS, visible
from engine.types import Segment, Word
from tests.engine.exports.strategies import DURATIONS, TIMES, any_segments, spoken_segments, words_of


def check_valid(cues: list[Segment], duration: int | None) -> None:
    for cue in cues:
        assert cue.start >= 0
        assert cue.end - cue.start >= (min(MIN_MS, duration) if duration else MIN_MS)
        assert not duration or cue.end <= duration
        assert cue.text
        assert "" not in [line.strip() for line in cue.text.split("\n")]
    assert all(before.end <= after.start for before, after in pairwise(cues))


def check_words(cue: Segment) -> None:
    assert not cue.words or visible("".join(word.text for word in cue.words)) == visible(cue.text)
    assert all(word.end - word.start >= MIN_WORD_MS for word in cue.words)
    assert all(before.end <= after.start for before, after in pairwise(cue.words))
    assert all(cue.start <= word.start and word.end <= cue.end for word in cue.words)


@settings(max_examples=200, deadline=None)
@given(any_segments(), DURATIONS)
def test_any_segments_give_valid_cues_without_losing_a_character(segments: list[Segment], duration: int | None) -> None:
    cues = normalise(segments, duration)
    check_valid(cues, duration)
    said = Counter(visible("".join(tidy(segment.text) for segment in segments)))
    assert Counter(visible("".join(cue.text for cue in cues))) == said
    for cue in cues:
        check_words(cue)
        assert cue.end - cue.start <= max(MAX_MS, reading_time(cue.text))


@settings(max_examples=200, deadline=None)
@given(any_segments(), DURATIONS)
def test_normalising_again_changes_nothing(segments: list[Segment], duration: int | None) -> None:
    cues = normalise(segments, duration)
    assert normalise(cues, duration) == cues


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(TIMES, TIMES, st.integers(1, 30), st.booleans()), max_size=6), DURATIONS, st.data())
def test_the_words_of_a_segment_stay_in_their_order(
    shapes: list[tuple[int, int, int, bool]], duration: int | None, data: st.DataObject
) -> None:
    segments: list[Segment] = []
    for number, (start, end, count, timed) in enumerate(shapes):
        text = " ".join(f"s{number}w{index}" for index in range(count))
        segments.append(Segment(start, end, text, data.draw(words_of(text)) if timed else ()))
    said = " ".join(cue.text for cue in normalise(segments, duration)).split()
    for number, (_, _, count, _) in enumerate(shapes):
        own = [word for word in said if word.startswith(f"s{number}w")]
        assert own == [f"s{number}w{index}" for index in range(count)]


@settings(max_examples=80, deadline=None)
@given(spoken_segments())
def test_speech_gives_no_cue_over_seven_seconds(segments: list[Segment]) -> None:
    cues = normalise(segments, None)
    check_valid(cues, None)
    assert max(cue.end - cue.start for cue in cues) <= MAX_MS
    words = [word for cue in cues for word in cue.words]
    assert words == [word for segment in segments for word in segment.words]  # their times were good already


def timed(*words: tuple[int, int, str]) -> Segment:
    text = "".join(text for _, _, text in words)
    return Segment(words[0][0], words[-1][1], text, tuple(Word(*word) for word in words))


def shown(cues: list[Segment]) -> list[tuple[int, int, str]]:
    return [(cue.start, cue.end, cue.text) for cue in cues]


def test_a_long_cue_is_cut_after_its_sentence() -> None:
    segment = timed((0, 3_000, " One two."), (3_000, 5_000, " Three"), (5_500, 8_000, " four five"))
    assert shown(normalise([segment], None)) == [(0, 3_000, "One two."), (3_000, 8_000, "Three four five")]


def test_without_punctuation_it_is_cut_at_the_longest_pause() -> None:
    segment = timed((0, 2_000, " one"), (2_100, 4_000, " two"), (5_000, 6_000, " three"), (6_000, 8_500, " four"))
    assert shown(normalise([segment], None)) == [(0, 4_000, "one two"), (5_000, 8_500, "three four")]


def test_without_pauses_the_pieces_are_alike() -> None:
    segment = timed(*((at, at + 1_000, f" w{at}") for at in range(0, 20_000, 1_000)))
    lengths = [cue.end - cue.start for cue in normalise([segment], None)]
    assert len(lengths) == 3
    assert max(lengths) - min(lengths) <= 1_000


def test_a_cue_for_half_an_hour_ends_with_its_words() -> None:
    words = (Word(1_000, 1_500, " Hello"), Word(1_500, 2_500, " there."))
    assert shown(normalise([Segment(0, 32 * 60_000, "Hello there.", words)], None)) == [(1_000, 2_500, "Hello there.")]


def test_a_cue_for_half_an_hour_without_words_is_shown_for_seven_seconds() -> None:
    assert shown(normalise([Segment(5_000, 32 * 60_000, "Yes.")], None)) == [(5_000, 12_000, "Yes.")]


def test_a_long_cue_whose_text_was_edited_is_cut_by_share() -> None:
    segment = replace(timed((0, 5_000, " wrong"), (5_000, 10_000, " words")), text="The right ones. And more of them")
    (first, second) = normalise([segment], None)
    assert (first.text, second.text) == ("The right ones.", "And more of them")
    assert first.words == second.words == ()
    assert 4_000 < first.end == second.start < 6_000


def test_a_space_or_a_line_break_more_does_not_cost_the_words_their_times() -> None:
    segment = replace(timed((0, 1_000, " One"), (1_000, 2_000, " two")), text="One\n\n two")
    (cue,) = normalise([segment], None)
    assert (cue.text, len(cue.words)) == ("One\ntwo", 2)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "これは日本語の長いテストです。そしてもう一つの文です",
            ["これは日本語の長いテストです。", "そしてもう一つの文です"],
        ),
        ("かかかかかかかかかっとととととととと", ["かかかかかかかかかっ", "とととととととと"]),
        ("Est-ce que ça va bien ? Oui merci beaucoup", ["Est-ce que ça va bien ?", "Oui merci beaucoup"]),
        ("ภาษาไทยเขียนโดยไม่มีช่องว่างระหว่างคำ", ["ภาษาไทยเขียนโดยไม่มีช่องว่างระหว่างคำ"]),
        ("👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽", ["👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽"]),
        ("Donaudampfschifffahrtsgesellschaft", ["Donaudampfschifffahrtsgesellschaft"]),
    ],
)
def test_text_without_words_is_cut_only_where_its_writing_allows(text: str, pieces: list[str]) -> None:
    assert [cue.text for cue in normalise([Segment(0, 10_000, text)], None)] == pieces


def test_words_without_spaces_stay_without() -> None:
    words = [(at, at + 1_000, character) for at, character in enumerate("これは日本語です")]
    segment = timed(*((at * 1_100, at * 1_100 + 1_000, character) for at, _, character in words))
    assert "".join(cue.text for cue in normalise([segment], None)) == "これは日本語です"
    assert len(normalise([segment], None)) == 2


def test_a_part_of_a_word_begins_no_cue() -> None:
    segment = timed((0, 4_000, " over"), (4_000, 5_000, "-"), (5_000, 7_000, "the"), (7_000, 9_000, " top"))
    assert [cue.text for cue in normalise([segment], None)] == ["over-the", "top"]


def test_segments_that_begin_together_share_a_cue() -> None:
    anna, ben = Segment(1_000, 2_000, "Hello.", speaker="Anna"), Segment(1_050, 2_500, "Hi.", speaker="Ben")
    assert shown(normalise([anna, ben], None)) == [(1_000, 2_500, "Hello.\nHi.")]
    assert shown(normalise([anna, replace(ben, speaker="Anna")], None)) == [(1_000, 2_500, "Hello. Hi.")]
    assert shown(normalise([Segment(0, 9, "日本"), Segment(0, 9, "語")], None)) == [(0, 100, "日本語")]


def test_what_is_said_after_the_end_is_shown_at_the_end() -> None:
    segments = [Segment(100, 900, "one"), Segment(2_000, 3_000, "two"), Segment(5_000, 4_000, "three")]
    assert shown(normalise(segments, 1_000)) == [(100, 900, "one"), (900, 1_000, "two three")]


def test_an_end_before_the_start_is_replaced_by_time_to_read() -> None:
    assert shown(normalise([Segment(5_000, 4_000, "ten letter")], None)) == [(5_000, 5_600, "ten letter")]


def test_a_cue_ends_before_the_next_begins() -> None:
    assert shown(normalise([Segment(0, 3_000, "one"), Segment(2_000, 4_000, "two")], None)) == [
        (0, 2_000, "one"),
        (2_000, 4_000, "two"),
    ]


def test_a_word_without_length_borrows_from_its_neighbours() -> None:
    (cue,) = normalise([timed((0, 500, " a"), (500, 500, " b"), (500, 900, " c"), (1_000, 1_000, " d"))], 1_000)
    assert [(word.start, word.end) for word in cue.words] == [(0, 500), (500, 510), (510, 900), (990, 1_000)]


def test_segments_without_text_are_left_out() -> None:
    assert (
        normalise([Segment(0, 1_000, ""), Segment(0, 1_000, " \n\t\x00"), Segment(0, 5, "", (Word(0, 5, "x"),))], 9)
        == []
    )
