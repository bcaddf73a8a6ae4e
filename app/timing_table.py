"""Where the time of a run went: a row for each phase, its share as a small bar, and below it the sum."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.look import Hairline, Label, Quiet, accent, faint, small, unit
from app.wording import seconds, speed
from engine.types import Phase, Timings

_HEADINGS = ("Phase", "", "Time", "Runs", "A run")


class TimingTable(QWidget):
    """The same figures as `--timings` prints; rows are used again, since it is live."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Timing table")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * unit(self))
        self._grid.setVerticalSpacing(unit(self) // 2)
        self._grid.setColumnStretch(1, 1)
        for column, heading in enumerate(_HEADINGS):
            self._grid.addWidget(Quiet(heading, 0.82), 0, column, _side(column))
        self._rows: list[tuple[Label, ShareBar, Label, Label, Label]] = []
        self._line = Hairline()
        self._total, self._speed = Label(), Label()
        for label in (self._total, self._speed):
            label.setFont(small(self.font()))

    def show_timings(self, timings: Timings | None) -> None:
        """Show a run, complete or so far; None empties the table."""
        phases = timings.phases if timings else ()
        self._make_rows(len(phases))
        whole = max((phase.ms for phase in phases), default=0)
        for number, widgets in enumerate(self._rows):
            for widget in widgets:
                widget.setVisible(number < len(phases))
            if number < len(phases):
                _fill(widgets, phases[number], whole)
        self._total.setText(f"Total {seconds(timings.total)}" if timings else "No run yet")
        self._speed.setText(speed(timings.speed) if timings and timings.audio else "")

    def _make_rows(self, count: int) -> None:
        while len(self._rows) < count:
            widgets = (Label(), ShareBar(), Label(), Label(), Label())
            for column, widget in enumerate(widgets):
                widget.setFont(small(self.font()))
                self._grid.addWidget(widget, len(self._rows) + 1, column, _side(column))
            self._rows.append(widgets)
        last = len(self._rows) + 1
        self._grid.addWidget(self._line, last, 0, 1, len(_HEADINGS))
        self._grid.addWidget(self._total, last + 1, 0, 1, 2)
        self._grid.addWidget(self._speed, last + 1, 2, 1, 3, Qt.AlignmentFlag.AlignRight)


class ShareBar(QWidget):
    """A bar for one number between 0 and 1."""

    def __init__(self) -> None:
        super().__init__()
        self._share = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(4 * unit(self), 6)

    def set_share(self, share: float) -> None:
        """Fill this share of the bar."""
        self._share = share
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for colour, share in ((faint(self.palette()), 1.0), (accent(self.palette()), self._share)):
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(0, 1, self.width() * share, 4), 2, 2)


def _fill(widgets: tuple[Label, ShareBar, Label, Label, Label], phase: Phase, whole: int) -> None:
    name, bar, time, runs, each = widgets
    name.setText(phase.name)
    bar.set_share(phase.ms / whole if whole else 0.0)
    time.setText(seconds(phase.ms))
    runs.setText(f"{phase.runs:,}")
    each.setText(_a_run(phase))
    for widget in (time, runs, each):
        widget.setAccessibleName(f"{phase.name}: {widget.text()}")


def _a_run(phase: Phase) -> str:
    """A step of the decoder takes few milliseconds: their tenths matter."""
    each = phase.ms / phase.runs if phase.runs else 0.0
    return f"{each:.1f} ms" if 0 < each < 10 else seconds(round(each)) if phase.runs else ""


def _side(column: int) -> Qt.AlignmentFlag:
    if column == 1:
        return Qt.AlignmentFlag.AlignVCenter
    return (Qt.AlignmentFlag.AlignRight if column > 1 else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter
