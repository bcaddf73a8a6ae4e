"""Exports from the window: where they go, what happens when they cannot, and copying all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pysubs2
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.settings import Settings
from engine.exports import FORMATS
from engine.library import Library
from engine.types import Options
from tests.app.widgets.seen import buttons_of, shown_text
from tests.measure.sample_library import ENGLISH, add_done, segments

OpenWindow = Callable[[], MainWindow]


def dialog_of(window: MainWindow) -> QFileDialog:
    return next(dialog for dialog in window.findChildren(QFileDialog) if dialog.isVisible())


def saved(window: MainWindow, qtbot: QtBot, name: str, path: Path, how: Literal["saved", "failed"] = "saved") -> None:
    """Export, and wait for the end of it."""
    assert window.page.entry is not None
    with qtbot.waitSignal(getattr(window.export, how), timeout=20_000):
        window.export.save(window.page.entry.id, FORMATS[name], path)


@pytest.fixture
def window(open_window: OpenWindow, library: Library) -> MainWindow:
    add_done(library, "Interview, part 1.m4a", "en", segments(ENGLISH, 12), 0)
    return open_window()


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_is_saved_where_the_dialog_says(
    window: MainWindow, tmp_path: Path, name: str, qtbot: QtBot
) -> None:
    format_ = FORMATS[name]
    window.export.ask(format_)
    dialog = dialog_of(window)
    assert Path(dialog.selectedFiles()[0]).name == f"Interview, part 1{format_.suffix}"
    assert dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    dialog.setDirectory(str(tmp_path))
    with qtbot.waitSignal(window.export.saved, timeout=20_000):
        dialog.fileSelected.emit(str(tmp_path / f"mine{format_.suffix}"))
        dialog.reject()
    assert (tmp_path / f"mine{format_.suffix}").stat().st_size > 50
    assert f"Saved mine{format_.suffix}." in shown_text(window.status)


def test_an_exported_srt_is_read_by_others(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    saved(window, qtbot, "srt", tmp_path / "a.srt")
    read = pysubs2.load(str(tmp_path / "a.srt"))
    assert read[0].plaintext.startswith("Good morning")


def test_folder_and_format_are_remembered(window: MainWindow, tmp_path: Path, settings: Settings, qtbot: QtBot) -> None:
    (tmp_path / "out").mkdir()
    saved(window, qtbot, "vtt", tmp_path / "out" / "a.vtt")
    assert settings.values.export_folder == str(tmp_path / "out")
    window.export.ask(FORMATS["srt"])
    dialog = dialog_of(window)
    assert Path(dialog.selectedFiles()[0]) == tmp_path / "out" / "Interview, part 1.srt"
    dialog.reject()
    window.toolbar.export.click()
    assert window.export.activeAction().text().startswith("WebVTT")
    window.export.hide()


def test_a_folder_that_is_gone_is_not_offered(window: MainWindow, settings: Settings) -> None:
    settings.change(export_folder="/no/such/folder")
    window.export.ask(FORMATS["srt"])
    dialog = dialog_of(window)
    assert Path(dialog.selectedFiles()[0]).parent.is_dir()
    dialog.reject()


def test_a_failure_harms_no_old_file_and_has_a_way_out(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    old = tmp_path / "old.srt"
    old.mkdir()  # a folder cannot be replaced by a file
    (old / "inside").write_text("old")
    saved(window, qtbot, "srt", old, "failed")
    assert "old.srt was not saved." in shown_text(window.bar)
    assert (old / "inside").read_text() == "old"
    buttons_of(window.bar)["Save elsewhere…"].click()
    dialog_of(window).reject()
    assert not window.bar.isVisible()


@pytest.mark.parametrize(
    ("source", "title", "name"),
    [
        ("talk.wav", "Interview Dr. Smith", "Interview Dr. Smith"),
        ("Interview Dr. Smith", "Interview Dr. Smith", "Interview Dr. Smith"),
        ("2024.06.01 walk.wav", "2024.06.01 walk.wav", "2024.06.01 walk"),
        ("talk.wav", "either.or/both.wav", "either.or-both"),
        (".wav", ".wav", ".wav"),
    ],
)
def test_only_the_suffix_of_the_recording_is_taken_from_the_suggested_name(
    open_window: OpenWindow, library: Library, source: str, title: str, name: str
) -> None:
    entry = add_done(library, source, "en", segments(ENGLISH, 2), 0)
    library.update(entry.id, title=title)
    window = open_window()
    window.export.ask(FORMATS["srt"])
    dialog = dialog_of(window)
    assert Path(dialog.selectedFiles()[0]).name == f"{name}.srt"
    dialog.reject()


@pytest.mark.parametrize("way", ["itself", "link", "hard link"])
def test_the_recording_is_never_replaced(
    open_window: OpenWindow, library: Library, tmp_path: Path, way: str, qtbot: QtBot
) -> None:
    source, link = tmp_path / "talk.srt", tmp_path / "link.srt"
    source.write_bytes(b"sound")
    link.symlink_to(source) if way == "link" else link.hardlink_to(source)
    entry = library.add(bytes(source), Options())
    library.segments.append(entry.id, *segments(ENGLISH, 2))
    library.update(entry.id, state="done", outcome="text")
    window = open_window()
    saved(window, qtbot, "srt", source if way == "itself" else link, "failed")
    assert "was not saved. This file is the recording itself. Choose another name" in shown_text(window.bar)
    assert source.read_bytes() == link.read_bytes() == b"sound"
    saved(window, qtbot, "srt", tmp_path / "other.srt")


def test_an_export_that_breaks_is_said(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.export.failed, timeout=20_000) as failed:
        window.export.save(4711, FORMATS["srt"], tmp_path / "a.srt")  # there is no such entry
    assert failed.args is not None
    assert "a.srt was not saved." in failed.args[0]
    assert not (tmp_path / "a.srt").exists()


def test_an_export_that_was_asked_for_is_written_although_the_window_closes(window: MainWindow, tmp_path: Path) -> None:
    assert window.page.entry is not None
    window.export.save(window.page.entry.id, FORMATS["srt"], tmp_path / "a.srt")
    window.close()
    assert (tmp_path / "a.srt").read_text(encoding="utf-8")


def test_a_folder_that_is_not_there_is_said(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    saved(window, qtbot, "srt", tmp_path / "no" / "a.srt", "failed")
    assert "a.srt was not saved." in shown_text(window.bar)
    buttons_of(window.bar)["Close"].click()
    assert not window.bar.isVisible()


def test_all_text_is_copied_with_one_key(window: MainWindow, clipboard: Callable[[], str], qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.export.said, timeout=20_000):
        QTest.keyClick(window, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert clipboard().startswith("Good morning, and thank you for letting me come up here so early.")
    assert "All text was copied." in shown_text(window.status)


def test_without_text_there_is_nothing_to_export(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    assert not window.toolbar.export.isEnabled()
    assert not window.export.copy_all.isEnabled()
