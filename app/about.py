"""What Sottovoce is, what exactly runs, and the licences of all that it carries (Shift+F1)."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.icons import app_icon
from app.look import Label, Quiet, scaled, unit
from engine.versions import licences, version_lines


class About(QDialog):
    """The versions can be copied into a report; the licences are read with the keyboard alone as well."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Sottovoce")
        step = unit(self)
        picture = QLabel()
        picture.setPixmap(app_icon().pixmap(12 * step, 12 * step))
        name = Label("Sottovoce")
        name.setFont(scaled(self.font(), 1.6, QFont.Weight.DemiBold))
        self.versions = Quiet("\n".join(version_lines()), 1.0)
        by_hand = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.versions.setTextInteractionFlags(by_hand)
        self.versions.setAccessibleName("Versions")
        words = QVBoxLayout()
        words.addWidget(name)
        words.addWidget(Label("Private, offline transcription. Nothing leaves this computer."))
        words.addWidget(self.versions)
        top = QHBoxLayout()
        top.setSpacing(4 * step)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(words, 1)
        self.licences = QPlainTextEdit(licences())
        self.licences.setReadOnly(True)
        self.licences.setTabChangesFocus(True)
        self.licences.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.licences.setAccessibleName("Licences of all that the program carries")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * step, 4 * step, 4 * step, 3 * step)
        layout.setSpacing(3 * step)
        layout.addLayout(top)
        layout.addWidget(self.licences, 1)
        layout.addWidget(buttons)
        self.resize(90 * step, 70 * step)
