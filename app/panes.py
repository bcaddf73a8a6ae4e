"""List, page and details side by side, a hairline between them that can be dragged."""

# ruff: noqa: D102, N802  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

from app.look import hairline


class Panes(QSplitter):
    """The middle takes what room there is; the sides keep their width."""

    def __init__(self, left: QWidget, middle: QWidget, right: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setHandleWidth(1)  # Qt widens the part that the mouse can grab
        self.setChildrenCollapsible(False)
        em = self.fontMetrics().horizontalAdvance("m")
        for place, (pane, least, usual) in enumerate(((left, 14, 23), (middle, 36, 70), (right, 20, 25))):
            pane.setMinimumWidth(least * em)
            self.addWidget(pane)
            self.setStretchFactor(place, 1 if pane is middle else 0)
            pane.resize(usual * em, pane.height())
        self.setSizes([23 * em, 70 * em, 25 * em])

    def createHandle(self) -> QSplitterHandle:
        return _Line(self.orientation(), self)


class _Line(QSplitterHandle):
    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), hairline(self.palette()))
