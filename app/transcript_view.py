"""The transcript as a page to read: drawn row by row, following the end while it grows."""

# ruff: noqa: D102, N802  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect
from PySide6.QtGui import QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QPushButton, QWidget

from app.icons import set_icon
from app.lazy_rows import Index
from app.look import unit
from app.selectable_rows import SelectableRows
from app.transcript_caret import Place, units
from app.transcript_layout import lay_out
from app.transcript_model import TranscriptModel
from app.transcript_paint import Ink, Row, found_in, paint_row
from app.wording import margin_clock


class TranscriptView(SelectableRows):
    """Draws what is in sight, marks what was searched for, and keeps to the end of a running job."""

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.growing = self.following = False
        self._partial: QTextLayout | None = None
        self._partial_start = 0
        self._partial_text = self._partial_firm = ""
        self._sought = ""
        self.setAccessibleName("Transcript")
        self.chip = QPushButton("Follow", self)
        set_icon(self.chip, "follow")
        self.chip.setToolTip("Back to where the text grows")
        self.chip.clicked.connect(self.follow)
        self.chip.hide()
        self.setModel(model)

    def set_growing(self, growing: bool) -> None:
        """While text is added at the end the view follows it, until the reader scrolls away."""
        if growing and not self.growing:
            self.following = True
        self.growing = growing
        self._keep_following()

    def set_mirrored(self, mirrored: bool) -> None:
        """Put the times at the right, for scripts that run to the left."""
        if mirrored != self.mirrored:
            self.mirrored = mirrored
            self.relayout()

    def set_partial(self, start: int, firm: str = "", loose: str = "") -> None:
        """Words that are not stored yet, below the last row, those that are not sure stepping back; none: away."""
        self._partial_start, self._partial_firm, self._partial_text = start, firm.lstrip(), (firm + loose).strip()
        self._lay_out_partial()
        self._keep_following()
        self.viewport().update()

    @property
    def has_partial(self) -> bool:
        """Whether there are words that are not stored yet."""
        return bool(self._partial_text)

    def set_sought(self, text: str) -> None:
        """Mark where this text stands."""
        self._sought = text
        self.viewport().update()

    def find_match(self, step: int) -> None:
        """Go to the next (1) or previous (-1) row that has the sought text, round the end."""
        rows = self.rows.rows_with(self._sought) if self._sought else []
        if rows:
            here = self.caret.place.row
            beyond = [row for row in rows if (row > here if step > 0 else row < here)] or rows
            self.go_to(beyond[0 if step > 0 else -1])

    def find_first(self) -> bool:
        """Go to the first row that has the sought text; whether there is one."""
        rows = self.rows.rows_with(self._sought)
        if rows:
            self.go_to(rows[0])
        return bool(rows)

    def go_to(self, row: int) -> None:
        """Bring a row to the reader, a third down the page, and make it current."""
        self.layouts.measure(row - 20, row + 20)
        self.updateGeometries()
        self.scrollTo(self.rows.index(row), self.ScrollHint.PositionAtCenter)
        self.move_to(Place(row, 0))

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following = True
        self._keep_following()

    def caret_moved(self, make_seen: bool = True) -> None:
        super().caret_moved(make_seen)
        if self.growing and make_seen and self.caret.place == self.caret.end_of(self.caret.last_row()):
            self.follow()

    def relayout(self) -> None:
        following = self.following
        super().relayout()
        self._lay_out_partial()
        self.following = following
        self._keep_following()

    def reset(self) -> None:
        super().reset()
        self.caret.put(Place(0, 0))

    def rowsInserted(self, parent: Index, first: int, last: int) -> None:
        super().rowsInserted(parent, first, last)
        self._keep_following()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        if self.growing and not self.settling:
            bar = self.verticalScrollBar()
            self.following = bar.value() >= bar.maximum() - self.sheet.gap
            self._place_chip()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.relayout()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        ink = Ink.of(self.palette(), self.hasFocus())
        above = self.verticalOffset() - self.margin_top
        if len(self.layouts):
            first = self.layouts.row_at(above + event.rect().top())
            last = self.layouts.row_at(above + event.rect().bottom())
            for number in range(first, last + 1):
                paint_row(painter, self._row(number), self.sheet, ink, self.margin_font)
        if self._partial is not None:
            time = margin_clock(self._partial_start)
            top, firm = self.layouts.total - above, units(self._partial_firm)
            row = Row(time, self._partial, top, self.tail, provisional=True, firm=firm)
            paint_row(painter, row, self.sheet, ink, self.margin_font)

    def _row(self, number: int) -> Row:
        segment = self.rows.segment(number)
        index = self.rows.index(number)
        current = index == self.currentIndex()
        return Row(
            time=margin_clock(segment.start),
            text=self.layouts.layout(number),
            top=self.visualRect(index).top(),
            height=self.layouts.height(number),
            flagged=bool(segment.flags),
            current=current,
            selection=self.caret.range_in(number),
            found=found_in(self.rows.text(number), self._sought),
            caret=self.caret.place.pos if current and self.hasFocus() and not self.caret.selects else None,
        )

    def _lay_out_partial(self) -> None:
        text = self._partial_text
        self._partial = lay_out(text, self.reading_font, self.sheet) if text else None
        self.tail = self.sheet.line * self._partial.lineCount() if self._partial else 0
        self.updateGeometries()

    def _keep_following(self) -> None:
        if self.growing and self.following:
            bar = self.verticalScrollBar()
            bar.setValue(bar.maximum())
            self.settle()
        self._place_chip()

    def _place_chip(self) -> None:
        self.chip.setVisible(self.growing and not self.following)
        self.chip.adjustSize()
        page = QRect(self.viewport().geometry())
        self.chip.move(page.center().x() - self.chip.width() // 2, page.bottom() - self.chip.height() - 2 * unit(self))
