"""The protocol: every message survives the pipe, everything else is an error."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import protocol
from engine.types import Options, Phase, Segment, Timings, Word

EVENTS: list[protocol.Event] = [
    protocol.Ready(1, 42),
    protocol.Started(1, None, 2, "2: German, stereo", 2),
    protocol.Loaded(1, "base", "whispercpp", "CPU: no GPU in this build", "the only one here", 140, 2500),
    protocol.Language(1, "de", 0.98),
    protocol.Progress(1, "transcribing", 30_000, None, None),
    protocol.Partial(1, 0, "words", "firm"),
    protocol.SegmentEvent(
        1,
        Segment(
            0, 900, "日本 \U0001f3a4\n\x00", (Word(0, 900, " 日本", 0.5),), flags=("repeats",), extra={"a": [None, 1]}
        ),
    ),
    protocol.TimingsEvent(1, Timings(10, 20, (Phase("vad", 3, 2),), {"weights": 5}, 7)),
    protocol.Notice(1, "uncovered", "", 5, 6),
    protocol.Done(1, "no_speech", 30_000, 0, None),
    protocol.Failed(1, "not_media", "why"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_arrives_as_it_was_sent(event: protocol.Event) -> None:
    line = protocol.encode(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert protocol.decode_event(line) == event


def test_a_file_name_need_not_be_text() -> None:
    options = Options(prompt="", temperature=0.0, vad=False)
    path = b"/a/\xff\n.wav"
    for command in (protocol.Transcribe(3, path, options, 5), protocol.Listen(3, path, options, 5, "de")):
        assert protocol.decode_command(protocol.encode(command)) == command


def test_every_option_is_sent_even_when_it_is_nothing() -> None:
    options = Options(prompt="", words=False, vad=False, threads=0, temperature=0.0)
    line = protocol.encode(protocol.Transcribe(1, b"x", options))
    for field in dataclasses.fields(Options):
        assert f'"{field.name}":'.encode() in line


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message_are_an_error(line: bytes) -> None:
    with pytest.raises(protocol.ProtocolError):
        protocol.decode_event(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"is":"segment","job":1}',
        b'{"is":"done","job":"1","outcome":"text","duration":1,"speech":1,"peak_dbfs":null}',
        b'{"is":"done","job":1,"outcome":"perhaps","duration":1,"speech":1,"peak_dbfs":null}',
        b'{"is":["done"]}',
        b'{"is":"transcribe"}',
        b"[]",
    ],
)
def test_a_message_with_a_wrong_field_is_an_error(line: bytes) -> None:
    with pytest.raises(protocol.ProtocolError):
        protocol.decode_event(line)
