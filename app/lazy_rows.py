"""A list view that lays out only the rows it shows, for 20,000 rows of unequal height.

It is a QListView so that screen readers meet a list with one item a row; of QListView's own layout nothing is used.
The row that stands at the top stays where it is when rows above it turn out to be higher than estimated.
"""

# ruff: noqa: D102, N802  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFont, QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from app.look import READING_SCALE, scaled, small
from app.transcript_layout import Sheet, TextLayouts
from app.transcript_model import TranscriptModel

Index = QModelIndex | QPersistentModelIndex


class LazyRows(QListView):
    """The geometry of the transcript: rows, heights and scrolling. The last class of the line sets the model."""

    divided = Signal()  # `sheet` is another one

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = model
        self.sheet = Sheet.divide(self.viewport().width(), self.reading_font, self.margin_font)
        self.layouts = TextLayouts(model.text)
        self.mirrored = False
        self.tail = 0  # pixels kept free below the last row
        self.settling = False  # while it scrolls by itself
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragDropMode(QAbstractItemView.DragDropMode.NoDragDrop)

    @property
    def reading_font(self) -> QFont:
        """The type of the transcript."""
        return scaled(self.font(), READING_SCALE)

    @property
    def margin_font(self) -> QFont:
        """The type of the times."""
        return small(self.font())

    @property
    def margin_top(self) -> int:
        """White space above the first row."""
        return self.sheet.line

    def relayout(self) -> None:
        """Everything anew, after a change of width or font; the row at the top stays there."""
        top_row = self.layouts.row_at(self.verticalOffset() - self.margin_top) if len(self.layouts) else 0
        self.sheet = Sheet.divide(self.viewport().width(), self.reading_font, self.margin_font, self.mirrored)
        self.layouts.divide(self.sheet, self.reading_font)
        self.updateGeometries()
        self.divided.emit()
        if top_row > 0:
            self.verticalScrollBar().setValue(self.layouts.top(top_row) + self.margin_top)
        self.settle()

    def settle(self) -> None:
        """Measure what is to be seen, keeping the first row that is wholly in sight where it stands."""
        if self.settling or not len(self.layouts):
            return
        self.settling = True
        bar = self.verticalScrollBar()
        page = self.viewport().height()
        for _attempt in range(4):  # measured rows may be lower than estimated, so that more come into sight
            first = self.layouts.row_at(bar.value() - self.margin_top - page // 4)
            last = self.layouts.row_at(bar.value() - self.margin_top + page + page // 4)
            anchor = min(self.layouts.row_at(bar.value() - self.margin_top) + 1, len(self.layouts) - 1)
            was = self.layouts.top(anchor)
            at_start, at_end = bar.value() == 0, bar.value() >= bar.maximum()
            if not self.layouts.measure(first, last):
                break
            self.updateGeometries()
            if not at_start:
                bar.setValue(bar.maximum() if at_end else bar.value() + self.layouts.top(anchor) - was)
        self.settling = False

    def doItemsLayout(self) -> None:
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:
        page = self.viewport().height()
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, self.layouts.total + 2 * self.margin_top + self.tail - page))
        bar.setPageStep(max(1, page - self.sheet.line))
        bar.setSingleStep(self.sheet.line)

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def visualRect(self, index: Index) -> QRect:
        row = index.row()
        if not index.isValid() or row >= len(self.layouts):
            return QRect()
        top = self.layouts.top(row) + self.margin_top - self.verticalOffset()
        return QRect(0, top, self.viewport().width(), self.layouts.height(row))

    def indexAt(self, point: QPoint) -> QModelIndex:
        y = point.y() + self.verticalOffset() - self.margin_top
        inside = 0 <= y < self.layouts.total
        return self.rows.index(self.layouts.row_at(y)) if inside else QModelIndex()

    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        rect = self.visualRect(index)
        if not rect.isValid():
            return
        bar, page = self.verticalScrollBar(), self.viewport().height()
        if hint == QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - page // 3)
        elif rect.top() < 0:
            bar.setValue(bar.value() + rect.top() - self.sheet.gap)
        elif rect.bottom() > page:
            bar.setValue(bar.value() + min(rect.top(), rect.bottom() - page + self.sheet.gap))

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Text is selected, not rows."""

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:  # noqa: ARG002
        return QRegion()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        self.settle()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != self.sheet.width:
            self.relayout()
        else:
            self.updateGeometries()
            self.settle()

    def reset(self) -> None:
        QAbstractItemView.reset(self)
        self.layouts.reset(map(self.rows.text, range(self.rows.rowCount())))
        self.verticalScrollBar().setValue(0)
        self.relayout()

    def rowsInserted(self, _parent: Index, first: int, last: int) -> None:
        self.layouts.append(self.rows.text(row) for row in range(first, last + 1))
        self.updateGeometries()
        self.settle()
        self.viewport().update()

    def currentChanged(self, current: Index, _previous: Index) -> None:
        """Tell screen readers which row is read; QListView would ask a layout that is not there."""
        if QAccessible.isActive() and current.isValid() and self.hasFocus():
            event = QAccessibleEvent(self, QAccessible.Event.Focus)
            event.setChild(current.row())
            QAccessible.updateAccessibility(event)
        self.viewport().update()
