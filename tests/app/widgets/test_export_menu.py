"""Exports from the window: where they go, what happens when they cannot, and copying all."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

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
from tests.app.widgets.seen import buttons_of, shown_text
from tests.measure.sample_library import ENGLISH, add_done, segments

OpenWindow = Callable[[], MainWindow]


def dialog_of(window: MainWindow) -> QFileDialog:
    return next(dialog for dialog in window.findChildren(QFileDialog) if dialog.isVisible())


@pytest.fixture
def window(open_window: OpenWindow, library: Library) -> MainWindow:
    add_done(library, "Interview, part 1.m4a", "en", segments(ENGLISH, 12), 0)
    return open_window()


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_is_saved_where_the_dialog_says(window: MainWindow, tmp_path: Path, name: str) -> None:
    format_ = FORMATS[name]
    window.export.ask(format_)
    dialog = dialog_of(window)
    assert Path(dialog.selectedFiles()[0]).name == f"Interview, part 1{format_.suffix}"
    assert dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    dialog.setDirectory(str(tmp_path))
    dialog.fileSelected.emit(str(tmp_path / f"mine{format_.suffix}"))
    dialog.reject()
    assert (tmp_path / f"mine{format_.suffix}").read_text(encoding="utf-8")
    assert f"Saved mine{format_.suffix}." in shown_text(window.status)


def test_an_exported_srt_is_read_by_others(window: MainWindow, tmp_path: Path) -> None:
    assert window.page.entry is not None
    window.export.save(window.page.entry.id, FORMATS["srt"], tmp_path / "a.srt")
    read = pysubs2.load(str(tmp_path / "a.srt"))
    assert read[0].plaintext.startswith("Good morning")


def test_folder_and_format_are_remembered(window: MainWindow, tmp_path: Path, settings: Settings) -> None:
    assert window.page.entry is not None
    (tmp_path / "out").mkdir()
    window.export.save(window.page.entry.id, FORMATS["vtt"], tmp_path / "out" / "a.vtt")
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


def test_a_full_disk_is_said_with_a_way_out_and_harms_no_old_file(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "a.srt"
    old.write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert window.page.entry is not None
    window.export.save(window.page.entry.id, FORMATS["srt"], old)
    assert "a.srt was not saved. The disk is full." in shown_text(window.bar)
    assert old.read_text() == "old"
    buttons_of(window.bar)["Save elsewhere…"].click()
    dialog_of(window).reject()
    assert not window.bar.isVisible()


def test_a_folder_that_is_not_there_is_said(window: MainWindow, tmp_path: Path) -> None:
    assert window.page.entry is not None
    window.export.save(window.page.entry.id, FORMATS["srt"], tmp_path / "no" / "a.srt")
    assert "a.srt was not saved." in shown_text(window.bar)
    buttons_of(window.bar)["Close"].click()
    assert not window.bar.isVisible()


def test_all_text_is_copied_with_one_key(window: MainWindow, clipboard: Callable[[], str]) -> None:
    QTest.keyClick(window, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert clipboard().startswith("Good morning, and thank you for letting me come up here so early.")
    assert "All text was copied." in shown_text(window.status)


def test_without_text_there_is_nothing_to_export(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    assert not window.toolbar.export.isEnabled()
    assert not window.export.copy_all.isEnabled()
