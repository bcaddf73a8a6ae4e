"""Subtitles come back as they were written, and other people's files are read, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import Code, EngineError
from engine.exports import READERS, srt, vtt
from engine.exports.cues import Cue, cues
from engine.exports.rules import PRESETS, CueRules
from engine.types import Segment, Transcript, Word
from tests.engine.exports.strategies import DURATIONS, any_segments, spoken_segments

PLAIN = PRESETS["plain"]
ANY_RULES = st.sampled_from(list(PRESETS.values()))
SEGMENTS = st.one_of(any_segments(), spoken_segments())


def made_of(segments: list[Segment], duration: int | None) -> Transcript:
    return Transcript("talk.mp3", duration, "en", "base", "fake", tuple(segments))


def seen(read: Transcript) -> list[tuple[int, int, str]]:
    return [(segment.start, segment.end, segment.text) for segment in read.segments]


def shown(made: list[Cue]) -> list[tuple[int, int, str]]:
    return [(cue.start, cue.end, cue.text) for cue in made]


@settings(max_examples=150, deadline=None)
@given(SEGMENTS, DURATIONS, ANY_RULES)
def test_what_is_exported_and_imported_is_the_same(
    segments: list[Segment], duration: int | None, rules: CueRules
) -> None:
    transcript = made_of(segments, duration)
    assert seen(srt.read(srt.write(transcript, rules))) == shown(cues(segments, duration, rules))
    made = cues(segments, duration, replace(rules, speakers="none"))  # a speaker is a voice of its own there
    read = vtt.read(vtt.write(transcript, rules))
    assert seen(read) == shown(made)
    assert [segment.speaker for segment in read.segments] == [cue.speaker for cue in made]


@settings(max_examples=75, deadline=None)
@given(SEGMENTS, DURATIONS, st.sampled_from(["srt", "vtt"]))
def test_plain_subtitles_are_the_same_after_another_round(
    segments: list[Segment], duration: int | None, name: str
) -> None:
    write: Callable[[Transcript, CueRules], str] = {"srt": srt.write, "vtt": vtt.write}[name]
    once = write(made_of(segments, duration), PLAIN)
    assert write(replace(READERS[name](once), duration=duration), PLAIN) == once


@settings(max_examples=50, deadline=None)
@given(spoken_segments())
def test_the_times_of_words_come_back_from_karaoke(segments: list[Segment]) -> None:
    rules = PRESETS["social"]
    read = vtt.read(vtt.write(made_of(segments, None), rules))
    starts = [word.start for segment in read.segments for word in segment.words]
    assert set(starts) <= {word.start for segment in segments for word in segment.words} | {
        segment.start for segment in read.segments
    }
    assert all("".join(word.text for word in segment.words).strip() in {"", segment.text} for segment in read.segments)


def test_an_srt_file_of_another_program_is_read() -> None:
    text = (
        "\ufeff7\r\n0:00:01.000 --> 00:00:02,500  X1:1 X2:2\r\n{\\an8}<i>Good\r\nmorning.</i>\r\n\r\n\r\n"
        "00:00:03,000 --> 00:00:04,000\r\n42\r\n\r\n9\r\n00:00:05,000 --> 00:00:06,000\r\n\r\n"
    )
    assert seen(srt.read(text)) == [(1_000, 2_500, "Good\nmorning."), (3_000, 4_000, "42")]


def test_a_vtt_file_of_another_program_is_read() -> None:
    text = (
        "WEBVTT - a title\n\nNOTE 00:01 is no cue\n\nSTYLE\n::cue { color: red }\n\nintro\n00:01.000 --> 00:02.500"
        " line:0 align:left\n<v.loud Ann>One <i>and</i> two &amp;&nbsp;three</v>\n\n"
        "1:00:03.000 --> 01:00:04.000\n<c>Four</c> <01:00:03.500>five\n"
    )
    read = vtt.read(text)
    assert seen(read) == [(1_000, 2_500, "One and two &\u00a0three"), (3_603_000, 3_604_000, "Four five")]
    assert read.segments[0].speaker == "Ann"
    assert read.segments[1].words == (Word(3_603_000, 3_603_500, " Four"), Word(3_603_500, 3_604_000, " five"))


@pytest.mark.parametrize(("name", "text"), [("srt", "Dear diary"), ("vtt", ""), ("vtt", "WEBVTTX\n"), ("json", "{}")])
def test_what_is_none_is_said_so(name: str, text: str) -> None:
    with pytest.raises(EngineError) as error:
        READERS[name](text)
    assert error.value.code == Code.NOT_A_TRANSCRIPT
