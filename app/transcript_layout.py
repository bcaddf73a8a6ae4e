"""Where the text of 20,000 segments stands, though only what is seen is ever laid out.

The height of a row is estimated from the length of its text until the row comes near the viewport; then it is measured.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextLayout, QTextLine, QTextOption

_SAMPLE = "It was a bright morning, and nobody in the whole valley had heard the news yet; "
_MEASURE = 74  # characters a line holds at most
_LEADING = 1.4  # height of a line against the font's own
_WIDE = 1.9  # a Chinese character against the mean Latin one
_WRAP_LOSS = 0.1  # of a line, since words are not cut
_KEPT = 256  # laid-out rows that are kept


@dataclass(frozen=True, slots=True)
class Sheet:
    """How a page of some width is divided: times in the margin, then text, then the place for marks."""

    width: int
    time_x: int
    time_width: int
    text_x: int
    text_width: int
    mark_x: int
    mark: int  # size of a mark
    line: int  # height of a line with its leading
    gap: int  # between two segments
    char: float  # mean width of a character
    mirrored: bool  # times at the right, for scripts that run to the left

    @staticmethod
    def divide(width: int, reading: QFont, margin: QFont, mirrored: bool = False) -> Sheet:
        """Divide `width` pixels; what exceeds the measure becomes white space on both sides."""
        metrics = QFontMetrics(reading)
        char = metrics.horizontalAdvance(_SAMPLE) / len(_SAMPLE)
        time_width = QFontMetrics(margin).horizontalAdvance("00:00:00")
        gutter, mark = metrics.height(), metrics.ascent()
        around = time_width + 2 * gutter + mark
        text_width = max(round(12 * char), min(round(_MEASURE * char), width - around - 2 * gutter))
        left = max(gutter, (width - around - text_width) // 2)
        time_x, text_x = left, left + time_width + gutter
        mark_x = text_x + text_width + gutter
        if mirrored:
            time_x, text_x, mark_x = (
                width - time_x - time_width,
                width - text_x - text_width,
                width - mark_x - mark,
            )
        line = round(metrics.height() * _LEADING)
        return Sheet(
            width, time_x, time_width, text_x, text_width, mark_x, mark, line, round(line * 0.45), char, mirrored
        )


class TextLayouts:
    """Tops, heights and laid-out text of rows, all in pixels from the top of the first row."""

    def __init__(self, text_of: Callable[[int], str]) -> None:
        self._text_of = text_of
        self._font = QFont()
        self._sheet = Sheet.divide(600, self._font, self._font)
        self._lengths: list[float] = []
        self._heights: list[int] = []
        self._measured = bytearray()
        self._tops: list[int] = [0]  # one more than rows: the last is the height of all
        self._fresh = 0  # tops up to this index are right
        self._laid: OrderedDict[int, QTextLayout] = OrderedDict()

    def reset(self, texts: Iterable[str]) -> None:
        """Other rows than before."""
        self._lengths = [_length(text) for text in texts]
        self.divide(self._sheet, self._font)

    def divide(self, sheet: Sheet, font: QFont) -> None:
        """The same rows in another width or font."""
        self._sheet, self._font = sheet, font
        self._laid.clear()
        self._heights = [self._estimate(length) for length in self._lengths]
        self._measured = bytearray(len(self._lengths))
        self._tops = [0] * (len(self._lengths) + 1)
        self._fresh = 0

    def append(self, texts: Iterable[str]) -> None:
        """More rows at the end."""
        lengths = [_length(text) for text in texts]
        self._lengths += lengths
        self._heights += [self._estimate(length) for length in lengths]
        self._measured += bytes(len(lengths))
        self._tops += [0] * len(lengths)

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        """The height of all rows."""
        return self.top(len(self._heights))

    def top(self, row: int) -> int:
        """Where a row begins."""
        if row > self._fresh:
            start = self._fresh
            self._tops[start:] = accumulate(self._heights[start:], initial=self._tops[start])
            self._fresh = len(self._heights)
        return self._tops[row]

    def height(self, row: int) -> int:
        """How high a row is, with the gap below it."""
        return self._heights[row]

    def row_at(self, y: int) -> int:
        """The row at a height; the first or last one outside, -1 when there are no rows."""
        self.top(len(self._heights))
        return min(max(0, bisect_right(self._tops, y) - 1), len(self._heights) - 1)

    def measure(self, first: int, last: int) -> bool:
        """Lay out the rows first … last; whether the height of any of them changed."""
        changed = False
        for row in range(max(0, first), min(last, len(self._heights) - 1) + 1):
            if not self._measured[row]:
                height = _text_height(self.layout(row)) + self._sheet.gap
                self._measured[row] = 1
                if height != self._heights[row]:
                    self._heights[row] = height
                    self._fresh = min(self._fresh, row)
                    changed = True
        return changed

    def layout(self, row: int) -> QTextLayout:
        """The laid-out text of a row."""
        laid = self._laid.get(row)
        if laid is None:
            laid = self._laid[row] = lay_out(self._text_of(row), self._font, self._sheet)
            if len(self._laid) > _KEPT:
                self._laid.popitem(last=False)
        else:
            self._laid.move_to_end(row)
        return laid

    def _estimate(self, length: float) -> int:
        lines = int(length * self._sheet.char / self._sheet.text_width + _WRAP_LOSS) + 1
        return lines * self._sheet.line + self._sheet.gap


def _length(text: str) -> float:
    """How long a text is, in mean Latin characters."""
    wide = not text.isascii() and len(text.encode()) > 2.2 * len(text)  # mostly characters of 3 bytes
    return len(text) * _WIDE if wide else len(text)


def lay_out(text: str, font: QFont, sheet: Sheet) -> QTextLayout:
    """Break a text into lines of the sheet's measure and leading."""
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    if runs_left(text):
        option.setTextDirection(Qt.LayoutDirection.RightToLeft)
        option.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute)
    laid = QTextLayout(text, font)
    laid.setCacheEnabled(True)
    laid.setTextOption(option)
    laid.beginLayout()
    y = 0.0
    while (line := laid.createLine()).isValid():
        line.setLineWidth(sheet.text_width)
        height = max(float(sheet.line), line.height())
        line.setPosition(QPointF(0, y + (height - line.height()) // 2))  # whole pixels keep the type sharp
        y += height
    laid.endLayout()
    return laid


def place_at(laid: QTextLayout, point: QPointF) -> int:
    """The position in the text nearest to a point, counted from the top left of the row."""
    for number in range(laid.lineCount()):
        line = laid.lineAt(number)
        if point.y() < line.y() + line.height():
            return position_in(line, point.x(), last=number == laid.lineCount() - 1)
    return position_in(laid.lineAt(laid.lineCount() - 1), point.x(), last=True)


def position_in(line: QTextLine, x: float, last: bool) -> int:
    """The position in a line nearest to x; never behind the space where the line breaks, which is in the next one."""
    end = line.textStart() + line.textLength() - (0 if last else 1)
    return min(line.xToCursor(x), max(line.textStart(), end))


def runs_left(text: str) -> bool:
    """Whether the first letter with a direction of its own runs from right to left."""
    if text.isascii():
        return False
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in {"L", "R", "AL"}:
            return direction != "L"
    return False


def _text_height(laid: QTextLayout) -> int:
    last = laid.lineAt(laid.lineCount() - 1)
    first = laid.lineAt(0)
    return ceil(last.y() + last.height() + first.y())  # as much room below the last line as above the first
