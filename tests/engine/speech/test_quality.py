"""Loops are seen, speech is not taken for one, and silence in the text is found."""

from __future__ import annotations

import pytest

from engine.speech.quality import is_nonsense, is_sound, loops, uncovered
from engine.types import Segment, SpeechSpan


@pytest.mark.parametrize(
    "text",
    [
        "And then " + "I think " * 8,
        "we go to the market and buy some bread. " * 4,
        "no " * 12,
        "ああああああああああああああああああああああああああああああああ",
        "好的好的好的好的好的好的好的好的好的好的好的好的好的好的好的好的好的好的",
    ],
)
def test_a_text_that_goes_round_in_circles_is_a_loop(text: str) -> None:
    assert loops(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No, no, no.",
        "Yeah, yeah, yeah, yeah, I know.",
        "And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.",
        "ha ha ha",
        "To be, or not to be, that is the question: whether it is nobler in the mind to suffer or to take arms.",
        "1 2 3 4 5 6 7 8 9 10 11 12",
        "真っ昼間なのにキャンプの外れの電柱に電球がともっていた",
    ],
)
def test_speech_is_not_a_loop(text: str) -> None:
    assert not loops(text)


def test_one_character_over_and_over_is_nonsense() -> None:
    assert is_nonsense("!!!!!!!! !!!!!!!!")
    assert not is_nonsense("Oh!!!")


@pytest.mark.parametrize("text", ["[Sighs]", "(upbeat music) [laughs].", "♪♪♪", "*coughs*", "[音楽]", ""])
def test_the_name_of_a_sound_is_not_something_that_was_said(text: str) -> None:
    assert is_sound(text)


@pytest.mark.parametrize("text", ["(He said) no.", "Stop [laughs] it.", "a * b * c", "Yes."])
def test_words_beside_the_name_of_a_sound_were_said(text: str) -> None:
    assert not is_sound(text)


def test_speech_without_text_is_found_before_between_and_after_segments() -> None:
    speech = [SpeechSpan(0, 10_000), SpeechSpan(20_000, 21_000), SpeechSpan(30_000, 40_000)]
    segments = [Segment(3_000, 9_000, "a"), Segment(33_000, 36_000, "b")]
    assert list(uncovered(speech, segments)) == [
        SpeechSpan(0, 3_000),
        SpeechSpan(30_000, 33_000),
        SpeechSpan(36_000, 40_000),
    ]


def test_covered_speech_has_no_gaps() -> None:
    assert not list(uncovered([SpeechSpan(500, 9_000)], [Segment(400, 5_000, "a"), Segment(5_500, 9_000, "b")]))
