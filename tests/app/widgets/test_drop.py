"""Dropping files and folders on the window."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.drop import local_path, promise
from app.jobs import Jobs
from app.main_window import MainWindow
from app.settings import Settings
from engine.library import Library
from tests.app.widgets.seen import shown_text
from tests.measure.sample_library import ENGLISH, add_done, segments

OpenWindow = Callable[[], MainWindow]
BUTTON, HELD = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def dragged(*urls: QUrl) -> QMimeData:
    data = QMimeData()
    data.setUrls(list(urls))
    return data


def enter(widget: QWidget, data: QMimeData) -> bool:
    event = QDragEnterEvent(QPoint(10, 10), Qt.DropAction.CopyAction, data, BUTTON, HELD)
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def drop(widget: QWidget, data: QMimeData) -> None:
    assert enter(widget, data)
    QApplication.sendEvent(widget, QDropEvent(QPointF(10, 10), Qt.DropAction.CopyAction, data, BUTTON, HELD))


def url_of(path: Path | str) -> QUrl:
    return QUrl.fromLocalFile(str(path))


def test_files_and_folders_dropped_anywhere_start_at_once_and_are_shown(
    open_window: OpenWindow, jobs: Jobs, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.change(language="de", model="tiny.en")
    window = open_window()
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name in ("b.wav", "a.mp3"):
        (folder / name).write_bytes(b"x")
    single = tmp_path / "single.ogg"
    single.write_bytes(b"x")
    drop(window, dragged(url_of(single), url_of(folder)))
    qtbot.waitUntil(lambda: len(jobs.entries()) == 3)
    entries = {entry.title: entry for entry in jobs.entries()}
    assert set(entries) == {"single.ogg", "a.mp3", "b.wav"}
    assert entries["single.ogg"].state == "running"
    assert entries["a.mp3"].options.model == "tiny.en"
    assert entries["a.mp3"].options.language == "en"  # what this model can
    assert window.page.entry is not None
    assert window.page.entry.title == "single.ogg"


def test_the_window_says_how_many_files_it_takes_while_they_are_dragged(
    open_window: OpenWindow, tmp_path: Path
) -> None:
    window = open_window()
    (tmp_path / "a.wav").write_bytes(b"x")
    assert enter(window, dragged(url_of(tmp_path / "a.wav"), url_of(tmp_path), url_of(tmp_path)))
    assert window.drop.isVisible()
    assert window.drop.geometry() == window.rect()
    assert window.drop.accessibleName() == "Drop 1 file and 2 folders to transcribe them"
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not window.drop.isVisible()


def test_text_that_is_dragged_over_the_window_is_not_taken(open_window: OpenWindow) -> None:
    window = open_window()
    data = QMimeData()
    data.setText("hello")
    assert not enter(window, data)
    assert not window.drop.isVisible()


def test_what_is_not_on_this_computer_is_refused_with_a_sentence(open_window: OpenWindow, jobs: Jobs) -> None:
    window = open_window()
    drop(window, dragged(QUrl("https://example.org/a.mp3"), QUrl("https://example.org/b.mp3")))
    assert jobs.entries() == []
    assert "2 dropped items not on this computer" in shown_text(window.status)
    assert promise([QUrl("https://example.org/a.mp3")]) == "This is not a file on this computer"


@pytest.mark.parametrize(
    "name", ["a b.wav", "100 %.wav", "#1?.wav", "naïve – 日本.wav", "'quoted'.wav", "a\nb.wav", "%41.wav"]
)
def test_odd_names_arrive_as_they_are(tmp_path: Path, name: str) -> None:
    assert local_path(url_of(tmp_path / name)) == os.fsencode(tmp_path / name)


def test_a_name_that_is_no_text_arrives_byte_for_byte() -> None:
    assert local_path(QUrl.fromEncoded(b"file:///tmp/caf%E9%20a.wav")) == b"/tmp/caf\xe9 a.wav"


def test_a_drop_while_reading_does_not_lose_the_settings_of_the_toolbar(
    open_window: OpenWindow, jobs: Jobs, library: Library, settings: Settings
) -> None:
    add_done(library, "read.wav", "en", segments(ENGLISH, 3), 0)
    settings.change(model="large-v3-turbo", task="translate")
    window = open_window()
    window.add_files([b"/nowhere/new.wav"])
    assert jobs.entries()[0].options.task == "transcribe"  # turbo cannot translate
