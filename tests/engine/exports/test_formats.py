"""Subtitles and text are what the standards and other people's parsers expect."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import pysubs2
import pytest
import webvtt
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.exports import FORMATS, srt, txt, vtt
from engine.exports.cues import Cue, cues
from engine.exports.rules import PRESETS
from engine.types import Segment, Transcript

PLAIN = PRESETS["plain"]
ROOT = Path(__file__).resolve().parents[3]

SRT_TIME = r"\d\d+:[0-5]\d:[0-5]\d,\d{3}"
SRT = re.compile(rf"(?:\d+\n{SRT_TIME} --> {SRT_TIME}\n(?:(?!.*-->).+\n)+(?:\n(?=\d)|\Z))*")
# W3C WebVTT, 4.1: cue text is made of text without & and <, of character references, and here of voice spans;
# "-->" is never in it, a line terminator never doubled.
VTT_TIME = r"\d\d+:[0-5]\d:[0-5]\d\.\d{3}"
VTT_LINE = r"(?:[^&<>\n]|&(?:amp|lt|gt|#45);)+"
VTT_TEXT = rf"{VTT_LINE}(?:\n{VTT_LINE})*"
VTT_CUE = rf"{VTT_TIME} --> {VTT_TIME}\n(?:<v {VTT_LINE}>{VTT_TEXT}</v>|{VTT_TEXT})\n"
VTT = re.compile(rf"WEBVTT\n\n(?:{VTT_CUE}(?:\n(?=\d)|\Z))*")

HUNDRED_HOURS = 360_000_000
SPECIAL = ("a", "42", " ", "\n", "\n\n", "-->", "<", ">", "&", "&lt;", "<b>", "</v>", "{i}", "-", "语")
NO_TEXT = ("\r", "\u2028", "\x00", "\x0b", "\x85", "\ud800", "\ufeff")
PIECES = st.sampled_from(SPECIAL + NO_TEXT)
TEXTS = st.one_of(st.text(max_size=30), st.lists(PIECES, max_size=12).map("".join))


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    segments = [
        Segment(start, start + draw(st.integers(-10, 20_000)), draw(TEXTS), speaker=draw(st.one_of(st.none(), TEXTS)))
        for start in draw(st.lists(st.integers(0, 500_000_000), max_size=6))
    ]
    return make(*segments, duration=draw(st.one_of(st.none(), st.integers(1, 500_000_000))))


def make(*segments: Segment, duration: int | None = None) -> Transcript:
    return Transcript("talk.mp3", duration, "en", "base", "fake", segments)


def milliseconds(clock: str) -> int:
    hours, minutes, seconds = clock.split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000 + int(re.sub(r"\D", "", seconds))


def cues_of(transcript: Transcript, named: bool = True) -> list[Cue]:
    rules = PLAIN if named else replace(PLAIN, speakers="none")
    return cues(transcript.segments, transcript.duration, rules)


def check_golden(name: str, written: str) -> None:
    """After a wanted change: look at build/golden/, then copy it over tests/golden/."""
    golden = ROOT / "tests" / "golden" / name
    if not golden.exists() or golden.read_bytes() != written.encode():
        new = ROOT / "build" / "golden" / golden.name
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(written.encode())
    assert written.encode() == golden.read_bytes()


@pytest.mark.parametrize("name", [format_.name for format_ in FORMATS.values() if format_.is_text])
def test_a_rich_transcript_is_written_as_before(rich: Transcript, name: str) -> None:
    check_golden(f"rich.{name}", FORMATS[name].write(rich, PLAIN).decode())


@pytest.mark.parametrize("preset", ["netflix", "bbc", "social"])
@pytest.mark.parametrize("name", ["srt", "vtt", "ass", "lrc"])
def test_a_rich_transcript_keeps_the_rules_as_before(rich: Transcript, name: str, preset: str) -> None:
    check_golden(f"rich.{preset}.{name}", FORMATS[name].write(rich, PRESETS[preset]).decode())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_a_transcript_without_speech(name: str) -> None:
    written = FORMATS[name].write(make(), PLAIN)
    assert name not in {"srt", "txt"} or written == b""
    assert written or name in {"srt", "txt"}


def times(made: Sequence[Cue] | Sequence[Segment]) -> list[tuple[int, int]]:
    return [(cue.start, cue.end) for cue in made]


def check_srt(transcript: Transcript) -> None:
    written = srt.write(transcript, PLAIN)
    assert SRT.fullmatch(written)
    cues = cues_of(transcript)
    heads = re.findall(r"^(\d+)\n(\S+) --> (\S+)$", written, re.MULTILINE)
    assert [int(number) for number, _, _ in heads] == list(range(1, len(cues) + 1))
    assert [(milliseconds(start), milliseconds(end)) for _, start, end in heads] == times(cues)
    if not cues or cues[-1].end < HUNDRED_HOURS:  # from there pysubs2 reads the last two digits
        found = pysubs2.SSAFile.from_string(written, format_="srt", keep_html_tags=True, keep_unknown_html_tags=True)
        assert [(event.start, event.end) for event in found] == times(cues)


def check_vtt(transcript: Transcript) -> None:
    written = vtt.write(transcript, PLAIN)
    assert VTT.fullmatch(written)
    cues = cues_of(transcript, named=False)
    found: list[Any] = webvtt.from_string(written, strict=True).captions
    assert [(milliseconds(caption.start), milliseconds(caption.end)) for caption in found] == times(cues)
    said = [html.unescape(re.sub(r"</?v[^>]*>", "", caption.raw_text)) for caption in found]
    assert said == [cue.text for cue in cues]


def test_others_read_our_subtitles(rich: Transcript) -> None:
    check_srt(rich)
    check_vtt(rich)
    voices = [caption.voice for caption in webvtt.from_string(vtt.write(rich, PLAIN), strict=True).captions]
    assert [html.unescape(voice) for voice in voices if voice] == ["Anna <A> & B", "Anna <A> & B", "太郎", "太郎"]


@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_ffmpeg_finds_the_same_cues(rich: Transcript, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"rich.{name}"
    path.write_text(FORMATS[name].write(rich, PLAIN).decode(), "utf-8")
    with av.open(path) as subtitles:
        packets = [(packet.pts, packet.duration) for packet in subtitles.demux() if packet.size]
    cues = cues_of(rich)
    assert packets == [(cue.start, cue.end - cue.start) for cue in cues]


@settings(max_examples=150, deadline=None)
@given(transcripts())
def test_others_read_any_subtitles_of_ours(transcript: Transcript) -> None:
    check_srt(transcript)
    check_vtt(transcript)


@settings(max_examples=100, deadline=None)
@given(transcripts())
def test_any_text_has_paragraphs_with_one_empty_line_between(transcript: Transcript) -> None:
    written = txt.write(transcript)
    written.encode()
    assert re.fullmatch(r"(?:.*\S.*\n(?:\n(?=.)|\Z))*", written)


def test_a_speaker_is_named_in_srt_when_another_begins() -> None:
    names = ["A", "A", "B\nC", None, "A"]
    segments = [Segment(at * 1_000, at * 1_000 + 900, f"{at}.", speaker=name) for at, name in enumerate(names)]
    texts = re.findall(r"-->.*\n(.*)\n", srt.write(make(*segments), PLAIN))
    assert texts == ["A: 0.", "1.", "B C: 2.", "3.", "A: 4."]


def test_text_begins_a_paragraph_after_a_pause_and_for_each_speaker() -> None:
    segments = [
        Segment(0, 1_000, " One."),
        Segment(1_500, 2_000, "Two\nlines."),
        Segment(4_000, 5_000, "After a pause."),
        Segment(5_000, 6_000, "日本", speaker="Anna"),
        Segment(6_000, 7_000, "語", speaker="Anna"),
        Segment(7_000, 8_000, "Hello.", speaker="Ben"),
        Segment(10_000, 11_000, "And on.", speaker="Ben"),
        Segment(11_000, 12_000, "Who?"),
    ]
    assert txt.write(make(*reversed(segments))) == (
        "One. Two lines.\n\nAfter a pause.\n\nAnna: 日本語\n\nBen: Hello.\n\nAnd on.\n\nWho?\n"
    )


def test_text_without_pauses_is_not_one_paragraph() -> None:
    segments = [
        Segment(at, at + 1, f"Sentence {at} goes on,\nand ends." if at % 2 else "It begins") for at in range(200)
    ]
    paragraphs = txt.write(make(*segments)).split("\n\n")
    assert len(paragraphs) > 4
    assert all(len(paragraph) < 900 and paragraph.rstrip().endswith("ends.") for paragraph in paragraphs)
