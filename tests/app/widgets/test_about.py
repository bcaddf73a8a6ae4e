"""The About box says what runs and what it carries; files that macOS hands over as events are added."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.about import About
from app.file_open import FileOpen


def test_versions_and_licences_can_be_read_and_copied(qtbot: QtBot) -> None:
    about = About()
    qtbot.addWidget(about)
    text = about.versions.text()
    assert text.startswith("Sottovoce 0.")
    assert "Qt 6." in text
    assert "ONNX Runtime" in text
    assert "# Notices" in about.licences.toPlainText()
    about.licences.selectAll()
    about.licences.copy()
    assert "GNU General Public License" in QApplication.clipboard().text()


def test_tab_leaves_the_licences(qtbot: QtBot) -> None:
    about = About()
    qtbot.addWidget(about)
    about.show()
    about.licences.setFocus()
    qtbot.keyClick(about.licences, "\t")
    assert not about.licences.hasFocus()


def test_a_file_that_the_system_opens_with_us_is_told(qapp: QApplication, tmp_path: Path) -> None:
    opened, told = FileOpen(qapp), []
    opened.files.connect(told.append)
    file = tmp_path / "Zoë 1.mp3"
    QApplication.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile(str(file))))
    qapp.removeEventFilter(opened)
    assert told == [(os.fsencode(file),)]
