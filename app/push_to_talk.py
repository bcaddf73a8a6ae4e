"""Dictation into any program: while the key is held somebody speaks, and what was said is typed where the focus is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.dictation import Dictation
from app.held_key_client import HeldKey
from app.recording import Recording
from app.settings import Settings


class PushToTalk(QObject):
    """Nothing is watched until the user has chosen a key; the text is in the clipboard as well, in case."""

    said = Signal(str)  # one line for the status line

    def __init__(
        self, held: HeldKey, recording: Recording, dictation: Dictation, settings: Settings, start: Callable[[], None]
    ) -> None:
        super().__init__(recording)
        self._held, self._recording, self._dictation, self._settings = held, recording, dictation, settings
        self._start = start
        self._is_mine = False  # the recording that goes on was begun with the key
        held.pressed.connect(self._pressed)
        held.released.connect(self._released)
        held.refused.connect(self.said)
        recording.ended.connect(self._ended)
        recording.changed.connect(self._watch_failures)

    def _pressed(self) -> None:
        if not self._recording.is_open and self._recording.state != "starting":
            self._is_mine = True
            self._start()

    def _released(self) -> None:
        if self._is_mine:
            self._recording.stop()

    def _ended(self, entry_id: int) -> None:
        if not self._is_mine:
            return
        self._is_mine = False
        text = self._dictation.text_of(entry_id)
        if not text:
            self.said.emit("Nothing was said while the key was held.")
            return
        QGuiApplication.clipboard().setText(text)
        if not (self._settings.values.held_key_types and self._held.type(text)):
            self.said.emit("What you said is in the clipboard.")

    def _watch_failures(self) -> None:
        if self._is_mine and self._recording.state == "failed":
            self._is_mine = False
            trouble = self._recording.trouble
            self.said.emit(f"{trouble.what} {trouble.todo}" if trouble else "Nothing was recorded.")
