"""The segments of the transcript on the page, as rows: text for the eye, whole sentences for a screen reader."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.look import tip
from app.wording import clock, exact_clock
from engine.types import Segment

_FLAGS = {
    "repeats": "This passage repeats itself; the recording may say something else here.",
    "uncovered": "There is speech here that gave no text.",
}
Index = QModelIndex | QPersistentModelIndex


class TranscriptModel(QAbstractListModel):
    """Holds what the page shows of a transcript; grows at the end while a job runs.

    Not the words: 200,000 more objects would make Python's garbage collector stop the window for 80 ms.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._segments: list[Segment] = []

    def load(self, segments: Sequence[Segment]) -> None:
        """Show these segments instead of what was there."""
        self.beginResetModel()
        self._segments = _without_words(segments)
        self.endResetModel()

    def extend(self, segments: Sequence[Segment]) -> None:
        """More of them at the end."""
        if segments:
            row = len(self._segments)
            self.beginInsertRows(QModelIndex(), row, row + len(segments) - 1)
            self._segments.extend(_without_words(segments))
            self.endInsertRows()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._segments)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401  (Qt's variant)
        if not index.isValid():
            return None
        segment = self._segments[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_text(segment)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{clock(segment.start)}: {shown_text(segment)}"
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return flag_sentence(segment) or None
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(flag_sentence(segment)) or None
        return None

    def segment(self, row: int) -> Segment:
        """The segment of a row."""
        return self._segments[row]

    def text(self, row: int) -> str:
        """What the page shows in a row."""
        return shown_text(self._segments[row])

    def row_at(self, ms: int) -> int:
        """The row that stands at a time, or the last one before it; 0 when there is none."""
        return max(0, bisect_right(self._segments, ms, key=lambda segment: segment.start) - 1)

    def rows_with(self, text: str) -> list[int]:
        """Rows whose text contains this, whatever its case."""
        sought = text.casefold()
        return [row for row, segment in enumerate(self._segments) if sought in segment.text.casefold()]


def _without_words(segments: Sequence[Segment]) -> list[Segment]:
    return [replace(segment, words=()) if segment.words else segment for segment in segments]


def shown_text(segment: Segment) -> str:
    """The text as it stands on the page: the leading space of Whisper's tokens is not for the eye."""
    return segment.text.strip()


def flag_sentence(segment: Segment) -> str:
    """What the reader should know of a segment, or ""."""
    return " ".join(_FLAGS.get(flag, flag.capitalize() + ".") for flag in segment.flags)


def span(segment: Segment) -> str:
    """The exact times of a segment: 0:08.240 – 0:11.900."""
    return f"{exact_clock(segment.start)} – {exact_clock(segment.end)}"
