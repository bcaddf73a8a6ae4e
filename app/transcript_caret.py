"""The place in the transcript where reading goes on, and the text selected from there.

Positions count UTF-16 units, as Qt does; an emoji takes two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QTextLayout, QTextLine

from app.transcript_layout import TextLayouts, position_in
from app.transcript_model import TranscriptModel

Keys = QKeySequence.StandardKey


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Before the character at `pos` of a row."""

    row: int
    pos: int


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def cut(text: str, start: int, end: int) -> str:
    """A part of a text by UTF-16 units."""
    if text.isascii():
        return text[start:end]
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "replace")


class Caret:
    """A place and the anchor of the selection; moves by characters, words, lines and pages."""

    def __init__(self, model: TranscriptModel, layouts: TextLayouts) -> None:
        self._model, self._layouts = model, layouts
        self.place = self.anchor = Place(0, 0)
        self._goal: float | None = None  # x that moving by lines keeps to

    @property
    def first(self) -> Place:
        """Where the selection begins."""
        return min(self.place, self.anchor)

    @property
    def last(self) -> Place:
        """Where the selection ends."""
        return max(self.place, self.anchor)

    @property
    def selects(self) -> bool:
        """Whether any text is selected."""
        return self.place != self.anchor

    def put(self, place: Place, keep_anchor: bool = False) -> None:
        """Move to a place; with `keep_anchor` the text on the way is selected."""
        self.place, self._goal = place, None
        if not keep_anchor:
            self.anchor = place

    def select(self, first: Place, last: Place) -> None:
        """Select what lies between."""
        self.anchor, self.place, self._goal = first, last, None

    def select_all(self) -> None:
        """Select the whole transcript."""
        if rows := self._model.rowCount():
            self.select(Place(0, 0), self.end_of(rows - 1))

    def select_word(self, place: Place) -> None:
        """Select the word at a place."""
        layout = self._layouts.layout(place.row)
        skip = QTextLayout.CursorMode.SkipWords
        end = layout.nextCursorPosition(place.pos, skip)
        start = layout.previousCursorPosition(end, skip)
        word = cut(self._model.text(place.row), start, end)
        self.select(Place(place.row, start), Place(place.row, end - units(word) + units(word.rstrip())))

    def select_row(self, row: int) -> None:
        """Select a segment."""
        self.select(Place(row, 0), self.end_of(row))

    def range_in(self, row: int) -> tuple[int, int]:
        """Which part of a row is selected, as start and length; length 0 for none."""
        if not self.selects or not self.first.row <= row <= self.last.row:
            return 0, 0
        start = self.first.pos if row == self.first.row else 0
        end = self.last.pos if row == self.last.row else self.end_of(row).pos
        return start, end - start

    def selected(self) -> list[tuple[int, str]]:
        """Rows with the part of their text that is selected."""
        if not self.selects:
            return []
        first, last = self.first, self.last
        rows = [(row, self._model.text(row)) for row in range(first.row, last.row + 1)]
        rows[-1] = (last.row, cut(rows[-1][1], 0, last.pos))  # the end first: both may be in one row
        rows[0] = (first.row, cut(rows[0][1], first.pos, units(rows[0][1])))
        return rows

    def move(self, motion: Motion, keep_anchor: bool) -> None:
        """Make one motion; without `keep_anchor` it ends the selection."""
        if self._model.rowCount():
            by_line = motion in {line_up, line_down}
            if self._goal is None or not by_line:
                self._goal = self.x()
            goal = self._goal
            self.put(motion(self, goal), keep_anchor)
            self._goal = goal if by_line else None

    def row(self, number: int) -> QTextLayout:
        """A laid-out row."""
        return self._layouts.layout(number)

    def line(self) -> QTextLine:
        """The line the caret is in."""
        return self.row(self.place.row).lineForTextPosition(self.place.pos)

    def x(self) -> float:
        """Where in its line the caret stands."""
        return self.line().cursorToX(self.place.pos)[0]  # type: ignore[index]  (the stub hides the tuple)

    def end_of(self, row: int) -> Place:
        """Behind the last character of a row."""
        return Place(row, units(self._model.text(row)))

    def last_row(self) -> int:
        """The number of the last row."""
        return self._model.rowCount() - 1


Motion: TypeAlias = Callable[[Caret, float], Place]  # the second is the x to keep to


def char_left(caret: Caret, _goal: float) -> Place:
    """One character to the left, as the eye sees it."""
    return _backward(caret) if not _runs_left(caret) else _forward(caret)


def char_right(caret: Caret, _goal: float) -> Place:
    """One character to the right, as the eye sees it."""
    return _forward(caret) if not _runs_left(caret) else _backward(caret)


def word_left(caret: Caret, _goal: float) -> Place:
    """One word to the left."""
    go = _backward if not _runs_left(caret) else _forward
    return go(caret, QTextLayout.CursorMode.SkipWords)


def word_right(caret: Caret, _goal: float) -> Place:
    """One word to the right."""
    go = _forward if not _runs_left(caret) else _backward
    return go(caret, QTextLayout.CursorMode.SkipWords)


def line_up(caret: Caret, goal: float) -> Place:
    """To the line above, in this row or the one before."""
    number, row = caret.line().lineNumber(), caret.place.row
    if number > 0:
        return _in_line(caret, row, number - 1, goal)
    return _in_line(caret, row - 1, caret.row(row - 1).lineCount() - 1, goal) if row > 0 else Place(0, 0)


def line_down(caret: Caret, goal: float) -> Place:
    """To the line below, in this row or the next."""
    number, row = caret.line().lineNumber(), caret.place.row
    if number + 1 < caret.row(row).lineCount():
        return _in_line(caret, row, number + 1, goal)
    return _in_line(caret, row + 1, 0, goal) if row < caret.last_row() else caret.end_of(row)


def line_start(caret: Caret, _goal: float) -> Place:
    """To the start of the line."""
    return Place(caret.place.row, caret.line().textStart())


def line_end(caret: Caret, _goal: float) -> Place:
    """To the end of the line, before the space where it breaks."""
    line = caret.line()
    last = line.lineNumber() == caret.row(caret.place.row).lineCount() - 1
    return Place(caret.place.row, line.textStart() + line.textLength() - (0 if last else 1))


def text_start(_caret: Caret, _goal: float) -> Place:
    """To the first word of all."""
    return Place(0, 0)


def text_end(caret: Caret, _goal: float) -> Place:
    """Behind the last word of all."""
    return caret.end_of(caret.last_row())


MOTIONS: tuple[tuple[Keys, Motion, bool], ...] = (
    (Keys.MoveToPreviousChar, char_left, False),
    (Keys.MoveToNextChar, char_right, False),
    (Keys.MoveToPreviousWord, word_left, False),
    (Keys.MoveToNextWord, word_right, False),
    (Keys.MoveToPreviousLine, line_up, False),
    (Keys.MoveToNextLine, line_down, False),
    (Keys.MoveToStartOfLine, line_start, False),
    (Keys.MoveToEndOfLine, line_end, False),
    (Keys.MoveToStartOfDocument, text_start, False),
    (Keys.MoveToEndOfDocument, text_end, False),
    (Keys.SelectPreviousChar, char_left, True),
    (Keys.SelectNextChar, char_right, True),
    (Keys.SelectPreviousWord, word_left, True),
    (Keys.SelectNextWord, word_right, True),
    (Keys.SelectPreviousLine, line_up, True),
    (Keys.SelectNextLine, line_down, True),
    (Keys.SelectStartOfLine, line_start, True),
    (Keys.SelectEndOfLine, line_end, True),
    (Keys.SelectStartOfDocument, text_start, True),
    (Keys.SelectEndOfDocument, text_end, True),
)


def _forward(caret: Caret, mode: QTextLayout.CursorMode = QTextLayout.CursorMode.SkipCharacters) -> Place:
    row, pos = caret.place.row, caret.place.pos
    if caret.place == caret.end_of(row):
        return Place(row + 1, 0) if row < caret.last_row() else caret.place
    return Place(row, caret.row(row).nextCursorPosition(pos, mode))


def _backward(caret: Caret, mode: QTextLayout.CursorMode = QTextLayout.CursorMode.SkipCharacters) -> Place:
    row, pos = caret.place.row, caret.place.pos
    if pos == 0:
        return caret.end_of(row - 1) if row > 0 else caret.place
    return Place(row, caret.row(row).previousCursorPosition(pos, mode))


def _runs_left(caret: Caret) -> bool:
    return caret.row(caret.place.row).textOption().textDirection() == Qt.LayoutDirection.RightToLeft


def _in_line(caret: Caret, row: int, number: int, x: float) -> Place:
    layout = caret.row(row)
    return Place(row, position_in(layout.lineAt(number), x, last=number == layout.lineCount() - 1))
