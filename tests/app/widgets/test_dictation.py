"""What is said goes to the clipboard when the settings say so, and into the caption window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.caption_window import CaptionWindow
from app.dictation import Dictation
from app.jobs import Jobs
from app.microphone_permission import MicrophonePermission
from app.recording import Recording
from app.settings import Settings
from engine.types import Segment


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "settings.json")


@pytest.fixture
def recording(jobs: Jobs, tmp_path: Path) -> Recording:
    made = Recording(jobs, tmp_path, MicrophonePermission())
    made.words.entry_id = 1
    return made


@pytest.fixture
def dictation(qtbot: QtBot, recording: Recording, settings: Settings) -> Dictation:
    QGuiApplication.clipboard().setText("what was there")
    return Dictation(recording, settings, recording)


@pytest.fixture
def captions(recording: Recording, settings: Settings, qtbot: QtBot) -> CaptionWindow:
    window = CaptionWindow(recording, settings)
    qtbot.addWidget(window)
    window.show()
    return window


def say(recording: Recording, *texts: str) -> None:
    for text in texts:
        recording.segment.emit(Segment(0, 1000, f" {text}", language="en"))


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def test_the_clipboard_is_left_alone_unless_it_is_asked_for(dictation: Dictation, recording: Recording) -> None:
    say(recording, "Hello.")
    recording.ended.emit(1)
    assert clipboard() == "what was there"


def test_at_each_pause_the_clipboard_has_all_that_was_said_so_far(
    dictation: Dictation, recording: Recording, settings: Settings
) -> None:
    settings.change(dictation="pause")
    say(recording, "Hello.")
    assert clipboard() == "Hello."
    say(recording, "How are you?")
    assert clipboard() == "Hello. How are you?"
    recording.words.entry_id = 2
    say(recording, "Another time.")
    assert clipboard() == "Another time."


def test_at_the_end_means_not_before(dictation: Dictation, recording: Recording, settings: Settings) -> None:
    settings.change(dictation="stop")
    said: list[str] = []
    dictation.said.connect(said.append)
    say(recording, "Hello.", "How are you?")
    assert clipboard() == "what was there"
    recording.ended.emit(1)
    assert clipboard() == "Hello. How are you?"
    assert said == ["What you said is in the clipboard."]


def test_words_are_cleaned_only_when_that_is_asked_for(
    dictation: Dictation, recording: Recording, settings: Settings
) -> None:
    settings.change(dictation="pause")
    say(recording, "Um, hello hello.")
    assert clipboard() == "Um, hello hello."
    settings.change(clean_dictation=True)
    say(recording, "Bye.")
    assert clipboard() == "Hello. Bye."


def test_captions_follow_what_is_said_and_firm_up(captions: CaptionWindow, recording: Recording) -> None:
    recording.partial.emit(0, "Hello", " wor")
    assert captions.text == "Hello wor"
    say(recording, "Hello world.")
    recording.partial.emit(0, "", "Next")
    assert captions.text == "Hello world. Next"
    recording.state = "starting"
    recording.changed.emit()
    assert captions.text == ""


def test_captions_remember_their_type_and_place(
    captions: CaptionWindow, recording: Recording, settings: Settings, qtbot: QtBot
) -> None:
    before = captions.height()
    qtbot.keyClick(captions, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert captions.height() > before
    captions.move(120, 80)
    qtbot.keyClick(captions, Qt.Key.Key_Escape)
    assert not captions.isVisible()
    again = CaptionWindow(recording, settings)
    qtbot.addWidget(again)
    again.show()
    assert (again.pos(), again.height()) == (QPoint(120, 80), captions.height())


def test_a_very_long_talk_costs_captions_no_more_than_a_short_one(
    captions: CaptionWindow, recording: Recording
) -> None:
    say(recording, *(["A sentence of some length that is said again and again."] * 2000))
    assert len(captions.text) <= 400
    captions.grab()
