"""How one row of the transcript is drawn: time in the margin, text, and a mark when there is something to know."""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPalette, QTextCharFormat, QTextLayout

from app import icons
from app.look import accent, accent_text, blend, secondary, wash
from app.transcript_caret import units
from app.transcript_layout import Sheet


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours of a page."""

    text: QColor
    quiet: QColor
    current: QColor
    current_wash: QColor
    selected: QTextCharFormat
    found: QTextCharFormat
    firm: QTextCharFormat

    @staticmethod
    def of(palette: QPalette, active: bool) -> Ink:
        """From the palette; the selection steps back when the page has not the focus."""
        selected, found, firm = QTextCharFormat(), QTextCharFormat(), QTextCharFormat()
        firm.setForeground(palette.text())
        if active:
            selected.setBackground(palette.highlight())
            selected.setForeground(palette.highlightedText())
        else:
            selected.setBackground(wash(palette, 0.3))
        found.setBackground(wash(palette, 0.35))
        return Ink(
            palette.text().color(),
            secondary(palette),
            accent_text(palette),
            blend(accent(palette), palette.base().color(), 0.07),
            selected,
            found,
            firm,
        )


@dataclass(frozen=True, slots=True)
class Row:
    """What is to be drawn in one row."""

    time: str
    text: QTextLayout
    top: int
    height: int  # with the gap below
    flagged: bool = False
    current: bool = False
    provisional: bool = False
    firm: int = 0  # so much of a provisional text, in UTF-16 units, will not change
    selection: tuple[int, int] = (0, 0)
    found: tuple[tuple[int, int], ...] = ()
    caret: int | None = None


def paint_row(painter: QPainter, row: Row, sheet: Sheet, ink: Ink, margin_font: QFont) -> None:
    """Draw a row on a viewport."""
    if row.current:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.current_wash)
        painter.drawRoundedRect(_band(row, sheet), sheet.gap / 2, sheet.gap / 2)
    painter.setFont(margin_font)
    painter.setPen(ink.current if row.current else ink.quiet)
    width = painter.fontMetrics().horizontalAdvance(row.time)
    left = sheet.time_x if sheet.mirrored else sheet.time_x + sheet.time_width - width
    painter.drawText(QPointF(left, row.top + _baseline(row.text)), row.time)
    painter.setPen(ink.quiet if row.provisional else ink.text)
    at = QPointF(sheet.text_x, row.top)
    row.text.draw(painter, at, _formats(row, ink))
    if row.caret is not None:
        painter.setPen(ink.text)
        row.text.drawCursor(painter, at, row.caret, 2)
    if row.flagged:
        ratio = painter.device().devicePixelRatioF()
        mark = icons.pixmap("repeat", ink.quiet, sheet.mark, ratio)
        painter.drawPixmap(sheet.mark_x, row.top + (sheet.line - sheet.mark) // 2, mark)


def found_in(text: str, sought: str) -> tuple[tuple[int, int], ...]:
    """Where a text is found in another, whatever its case: starts and lengths in UTF-16 units."""
    if not sought:
        return ()
    matches = re.finditer(re.escape(sought), text, re.IGNORECASE)
    return tuple((units(text[: match.start()]), units(match.group())) for match in matches)


def _baseline(laid: QTextLayout) -> float:
    first = laid.lineAt(0)
    return first.y() + first.ascent()


def _band(row: Row, sheet: Sheet) -> QRect:
    left = min(sheet.time_x, sheet.mark_x)
    right = max(sheet.time_x + sheet.time_width, sheet.mark_x + sheet.mark)
    return QRect(left, row.top - sheet.gap // 2, right - left, row.height)


def _formats(row: Row, ink: Ink) -> list[QTextLayout.FormatRange]:
    spans = [(start, length, ink.found) for start, length in row.found]
    spans += [(0, row.firm, ink.firm), (*row.selection, ink.selected)]
    return [_format_range(start, length, style) for start, length, style in spans if length]


def _format_range(start: int, length: int, style: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, length, style  # type: ignore[misc]  (plain fields in Qt)
    return made
