"""Dictation: what is said goes to the clipboard, at each pause or at the end of the recording."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.recording import Recording
from app.settings import Settings
from engine.dictation import cleaned
from engine.types import Segment


class Dictation(QObject):
    """Follows a recording, as the settings `dictation` and `clean_dictation` have it."""

    said = Signal(str)  # one line for the status line
    spoken = Signal(str)  # what was said up to a pause, cleaned when that is asked for

    def __init__(self, recording: Recording, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._recording, self._settings = recording, settings
        self._entry: int | None = None
        self._segments: list[Segment] = []
        recording.segment.connect(self._hear)
        recording.ended.connect(self._end)

    def text_of(self, entry_id: int) -> str:
        """All that was said in a recording, as it goes to the clipboard; "" for any but the last one."""
        return self._text(self._segments) if entry_id == self._entry and self._segments else ""

    def _hear(self, segment: Segment) -> None:
        if self._recording.entry_id != self._entry:
            self._entry, self._segments = self._recording.entry_id, []
        self._segments.append(segment)
        self.spoken.emit(self._text([segment]))
        if self._settings.values.dictation == "pause":
            self._copy()

    def _end(self, entry_id: int) -> None:
        if self._settings.values.dictation == "off" or entry_id != self._entry:
            return
        self._copy()
        self.said.emit("What you said is in the clipboard.")

    def _copy(self) -> None:
        """All of it so far: a pause that nobody used is not lost."""
        QGuiApplication.clipboard().setText(self._text(self._segments))

    def _text(self, segments: list[Segment]) -> str:
        text = " ".join(segment.text.strip() for segment in segments)
        return cleaned(text, segments[-1].language) if self._settings.values.clean_dictation else text
