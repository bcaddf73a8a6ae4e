"""Our JSON comes back as it was, with what others have put into it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import Code, EngineError
from engine.exports.json import read, write
from engine.types import Segment, Transcript, Word

SEGMENT_KEYS = ["start", "end", "text", "speaker", "language", "words", "avg_logprob", "no_speech_prob"]

MINIMAL = {"version": 1, "segments": [{"start": 1, "end": 2, "text": "x"}]}


def test_what_was_written_is_read_again(rich: Transcript) -> None:
    assert read(write(rich)) == rich
    assert write(read(write(rich))) == write(rich)


def test_the_keys_are_those_that_were_promised(rich: Transcript) -> None:
    body = json.loads(write(rich))
    assert list(body) == [
        "version",
        "source",
        "duration",
        "language",
        "model",
        "backend",
        "segments",
        "timings",
        "editor",
    ]
    assert list(body["timings"]) == ["total", "audio", "phases", "buffers", "peak_memory"]
    first, second, *_ = body["segments"]
    assert list(first) == list(second) == SEGMENT_KEYS
    assert first["words"][0] == {"start": 1200, "end": 1450, "text": " And", "probability": 0.91}
    assert second["words"] is second["avg_logprob"] is first["no_speech_prob"] is None
    assert [segment.get("flags") for segment in body["segments"]].count(None) == len(body["segments"]) - 1


def test_each_segment_stands_on_its_own_line(rich: Transcript) -> None:
    lines = [line for line in write(rich).split("\n") if line.startswith("  {")]
    assert [json.loads(line.rstrip(","))["text"] for line in lines] == [segment.text for segment in rich.segments]


def test_unknown_keys_are_kept_wherever_they_are() -> None:
    body: dict[str, Any] = {
        "mine": {"a": [1, 2.5, None, "ü"]},
        "extra": 1,
        "timings": {"total": 5, "energy": 7},
        "version": 1,
        "segments": [
            {"start": 0, "end": 5, "text": "a b", "mine": None, "extra": [], "flags": ["repeats"],
             "words": [{"start": 0, "end": 1, "text": "a", "who": "X"}, {"start": 1, "end": 5, "text": " b"}]},
        ],
    }  # fmt: skip
    again = json.loads(write(read(json.dumps(body))))
    assert (again["mine"], again["extra"], again["timings"]["energy"]) == (body["mine"], 1, 7)
    (segment,) = again["segments"]
    assert (segment["mine"], segment["extra"], segment["flags"]) == (None, [], ["repeats"])
    assert [word.get("who") for word in segment["words"]] == ["X", None]


def test_other_peoples_keys_of_words_go_when_the_words_do() -> None:
    found = read(
        '{"version":1,"segments":[{"start":0,"end":1,"text":"a","words":[{"start":0,"end":1,"text":"a","x":1}]}]}'
    )
    edited = Segment(0, 1, "b", (Word(0, 1, "b"), Word(1, 1, "c")), extra=found.segments[0].extra)
    (segment,) = json.loads(write(Transcript("", None, None, None, None, (edited,))))["segments"]
    assert [list(word) for word in segment["words"]] == [["start", "end", "text", "probability"]] * 2


def test_what_is_not_known_may_be_left_out() -> None:
    assert read("\ufeff" + json.dumps(MINIMAL)) == Transcript("", None, None, None, None, (Segment(1, 2, "x"),))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "WEBVTT\n\n",
        "[]",
        "1",
        "null",
        "{}",
        "[" * 100_000,
        '"\ud800"',
        '{"segments":[]}',
        '{"version":2,"segments":[]}',
        '{"version":true,"segments":[]}',
        '{"version":"1","segments":[]}',
        '{"version":1}',
        '{"version":1,"segments":{}}',
        '{"version":1,"segments":[1]}',
        '{"version":1,"segments":[{"start":0,"end":1}]}',
        '{"version":1,"segments":[{"start":0.5,"end":1,"text":"x"}]}',
        '{"version":1,"segments":[{"start":"0","end":1,"text":"x"}]}',
        '{"version":1,"segments":[{"start":null,"end":1,"text":"x"}]}',
        '{"version":1,"segments":[{"start":0,"end":1,"text":"x","words":"x"}]}',
        '{"version":1,"segments":[{"start":0,"end":1,"text":"x","words":[{"start":0}]}]}',
        '{"version":1,"segments":[],"duration":"long"}',
        '{"version":1,"segments":[],"timings":[1]}',
        '{"version":1,"segments":[],"source":5}',
    ],
)
def test_anything_else_is_said_to_be_no_transcript(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read(text)
    assert caught.value.code is Code.NOT_A_TRANSCRIPT


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(VALUES, st.dictionaries(st.sampled_from(["version", "segments", "source", "timings", "x"]), VALUES)))
def test_any_json_is_a_transcript_or_is_said_not_to_be(value: object) -> None:
    try:
        found = read(json.dumps(value))
    except EngineError as error:
        found, code = None, error.code
    else:
        code = None
    assert code is Code.NOT_A_TRANSCRIPT if found is None else read(write(found)) == found
