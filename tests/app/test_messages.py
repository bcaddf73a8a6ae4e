"""Every error and notice as a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.messages import describe_failure, message
from engine.errors import Code
from engine.library import Entry
from engine.notices import notice_sentence
from engine.protocol import Notice
from engine.types import Options

FAILED = Entry(1, b"/talks/talk.wav", "talk.wav", 0, "failed", Options())


@pytest.mark.parametrize("code", list(Code))
def test_every_error_says_what_happened_and_what_to_do(code: Code) -> None:
    told = message(code, "why exactly")
    for sentence in (told.what, told.todo):
        assert sentence[0].isupper() or sentence[0] == "“"
        assert sentence[-1] in ".”"
    assert told.what != told.todo
    assert told.detail == "why exactly"


@pytest.mark.parametrize("code", list(Code))
def test_no_advice_names_what_the_window_does_not_have(code: Code) -> None:
    told = message(code).todo
    assert "backend" not in told
    assert "naming a track" not in told


def test_a_failed_job_tells_its_error() -> None:
    told = describe_failure(replace(FAILED, error=Code.NO_AUDIO, error_detail="1 video track"))
    assert told == message(Code.NO_AUDIO, "1 video track")


def test_a_name_that_qt_could_not_read_is_sent_to_the_terminal() -> None:
    told = describe_failure(replace(FAILED, source="/my talks/t\ufffdlk.wav".encode(), error=Code.NOT_FOUND))
    assert told.what == "The window cannot open this file, because its name is not valid text."
    assert "cd '/my talks'; sottovoce transcribe FILE" in told.todo


def test_a_missing_file_with_a_readable_name_is_just_missing() -> None:
    assert describe_failure(replace(FAILED, error=Code.NOT_FOUND)).what == "The file is not there."


@pytest.mark.parametrize(
    ("notice", "sentence"),
    [
        (Notice(1, "uncovered", "", 61_000, 65_500), "1:01–1:05: Someone speaks here, but no text was found."),
        (Notice(1, "damaged_at", "", 61_000), "1:01: The file is damaged here; what could be read was transcribed."),
        (
            Notice(1, "channels_cancel"),
            "The two channels cancel each other out; one of them was taken.",
        ),
        (Notice(1, "of_tomorrow", "Something."), "Of tomorrow. Something."),
    ],
)
def test_a_notice_names_its_place(notice: Notice, sentence: str) -> None:
    assert notice_sentence(notice) == sentence
