"""What becomes of the words while somebody records: captions above all windows, the clipboard, clean-up."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.settings import Dictation, Settings

_WHEN: dict[Dictation, str] = {
    "off": "Leave the clipboard alone",
    "pause": "Copy the words at each pause",
    "stop": "Copy the words at the end",
}


class DictationMenu(QMenu):
    """Shows and changes the settings of dictation; `captions` opens and closes their window."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__("Dictation", parent)
        self._settings = settings
        self.captions = QAction("Captions above all windows", self)
        self.captions.setCheckable(True)
        self.captions.setShortcut(QKeySequence("Ctrl+Shift+L"))
        self.addAction(self.captions)
        self.addSeparator()
        self._group = QActionGroup(self)
        self._when: dict[Dictation, QAction] = {}
        for when, text in _WHEN.items():
            self._when[when] = action = self.addAction(text)
            action.setCheckable(True)
            action.triggered.connect(partial(self._choose, when))
            self._group.addAction(action)
        self.addSeparator()
        self.hold_key = self.addAction("Hold a key to dictate…")
        self._clean = self.addAction("Leave out “um” and words said twice")
        self._clean.setCheckable(True)
        self._clean.triggered.connect(lambda checked: settings.change(clean_dictation=checked))
        self.aboutToShow.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the settings."""
        self._when[self._settings.values.dictation].setChecked(True)
        self._clean.setChecked(self._settings.values.clean_dictation)

    def _choose(self, when: Dictation, _checked: bool) -> None:
        self._settings.change(dictation=when)
