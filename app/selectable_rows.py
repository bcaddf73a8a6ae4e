"""Selecting text across the rows of the transcript by mouse and keys, and copying it."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.lazy_rows import LazyRows
from app.transcript_caret import MOTIONS, Caret, Place
from app.transcript_layout import place_at
from app.transcript_model import TranscriptModel
from app.wording import margin_clock


class SelectableRows(LazyRows):
    """Carries the caret; the row it is in is the current one."""

    chosen = Signal(int)  # the row the reader is at

    def __init__(self, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.caret = Caret(model, self.layouts)
        self._mouse_at = QPoint()
        self._double_click = QPoint(-9, -9)
        interval = QGuiApplication.styleHints().mouseDoubleClickInterval()
        self._since_double_click = QTimer(self, singleShot=True, interval=interval)
        self._dragging = QTimer(self, interval=40)  # goes on while a selection is dragged past the edge
        self._dragging.timeout.connect(self._drag)
        self.setAutoScroll(False)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.add_key("Copy", self.copy, QKeySequence.StandardKey.Copy)
        self.add_key("Copy with times", self.copy_with_times, "Ctrl+Alt+C")
        self.add_key("Select all", self.select_all, QKeySequence.StandardKey.SelectAll)

    def add_key(self, text: str, act: Callable[[], None], key: QKeySequence.StandardKey | str) -> None:
        """An action of the context menu, with a key that works while the page has the focus."""
        action = QAction(text, self)
        action.setShortcuts(QKeySequence.keyBindings(key) if not isinstance(key, str) else [QKeySequence(key)])
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda _checked: act())
        self.addAction(action)

    def select_all(self) -> None:
        """Select the whole transcript."""
        self.caret.select_all()
        self.viewport().update()

    def copy(self) -> None:
        """The selected text, or the current segment, to the clipboard; one line a segment."""
        QGuiApplication.clipboard().setText("\n".join(text for _row, text in self.selected()))

    def copy_with_times(self) -> None:
        """The same with the time before each segment."""
        lines = (f"[{margin_clock(self.rows.segment(row).start)}] {text}" for row, text in self.selected())
        QGuiApplication.clipboard().setText("\n".join(lines))

    def selected(self) -> list[tuple[int, str]]:
        """Rows and their selected text; the current row when nothing is selected."""
        here = self.caret.place.row
        if self.caret.selects or here >= self.rows.rowCount():
            return self.caret.selected()
        return [(here, self.rows.text(here))]

    def move_to(self, place: Place, keep_anchor: bool = False) -> None:
        """Put the caret somewhere and make it seen."""
        self.caret.put(place, keep_anchor)
        self.caret_moved()

    def caret_moved(self, make_seen: bool = True) -> None:
        """Make the caret's row current."""
        row = self.caret.place.row
        if row < self.rows.rowCount():
            self.setCurrentIndex(self.rows.index(row))
            if make_seen:
                self._show_caret()
            self.chosen.emit(row)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        for key, motion, keep_anchor in MOTIONS:
            if event.matches(key):
                self.caret.move(motion, keep_anchor)
                self.caret_moved()
                return
        pages = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}.get(Qt.Key(event.key()))
        if pages and self.rows.rowCount():
            self._move_by_page(pages, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() == Qt.Key.Key_Escape and self.caret.selects:
            self.move_to(self.caret.place)
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self.rows.rowCount():
            return
        self._mouse_at = event.position().toPoint()
        place = self.place_under(self._mouse_at)
        again = self._since_double_click.isActive() and (self._mouse_at - self._double_click).manhattanLength() < 6
        if again or self.in_margin(self._mouse_at):
            self.caret.select_row(place.row)
        else:
            self.caret.put(place, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        self.caret_moved(make_seen=False)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rows.rowCount():
            self._double_click = event.position().toPoint()
            self._since_double_click.start()
            self.caret.select_word(self.place_under(self._double_click))
            self.caret_moved(make_seen=False)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse_at = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self.rows.rowCount():
            self._drag()
            self._dragging.start()
        else:
            margin = self.in_margin(self._mouse_at)
            self.viewport().setCursor(Qt.CursorShape.ArrowCursor if margin else Qt.CursorShape.IBeamCursor)

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        self._dragging.stop()

    def place_under(self, point: QPoint) -> Place:
        """The place in the text nearest to a point of the viewport."""
        row = self.layouts.row_at(point.y() + self.verticalOffset() - self.margin_top)
        rect = self.visualRect(self.rows.index(row))
        inside = QPointF(point.x() - self.sheet.text_x, point.y() - rect.top())
        return Place(row, place_at(self.layouts.layout(row), inside))

    def in_margin(self, point: QPoint) -> bool:
        """Whether a point of the viewport is over the times."""
        return self.sheet.time_x <= point.x() <= self.sheet.time_x + self.sheet.time_width

    def _drag(self) -> None:
        page = self.viewport().height()
        beyond = min(0, self._mouse_at.y()) + max(0, self._mouse_at.y() - page)
        if beyond:
            self.verticalScrollBar().setValue(self.verticalOffset() + beyond)
        self.caret.put(self.place_under(self._mouse_at), keep_anchor=True)
        self.caret_moved(make_seen=False)

    def _move_by_page(self, pages: int, keep_anchor: bool) -> None:
        bar, at = self.verticalScrollBar(), self._caret_point()
        step, before = pages * bar.pageStep(), bar.value()
        bar.setValue(before + step)
        rest = step - (bar.value() - before)  # at either end the caret goes where the page cannot
        self.move_to(self.place_under(at + QPoint(0, rest)), keep_anchor)

    def _caret_point(self) -> QPoint:
        rect = self.visualRect(self.rows.index(self.caret.place.row))
        line = self.caret.line()
        return QPoint(self.sheet.text_x + round(self.caret.x()), rect.top() + round(line.y() + line.height() / 2))

    def _show_caret(self) -> None:
        self.layouts.measure(self.caret.place.row - 1, self.caret.place.row + 1)
        y, room = self._caret_point().y(), self.sheet.line
        bar, page = self.verticalScrollBar(), self.viewport().height()
        if y < room:
            bar.setValue(bar.value() + y - room)
        elif y > page - room:
            bar.setValue(bar.value() + y - page + room)
