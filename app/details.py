"""The pane at the right: where the time went, what ran and why, with which options, and what to know of the file."""

from __future__ import annotations

from dataclasses import fields

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QToolButton, QVBoxLayout, QWidget

from app.look import Label, Quiet, scaled, small, unit
from app.messages import describe_failure
from app.timing_table import TimingTable
from app.wording import clock, seconds
from engine.languages import language_name
from engine.library import Entry
from engine.models.catalog import human_size
from engine.notices import notice_sentence
from engine.protocol import Notice
from engine.types import Options, Timings


class Details(QScrollArea):
    """`jump`: a notice was clicked that is about this time."""

    jump = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Details")
        inside = QWidget()
        self.setWidget(inside)
        for widget in (self.viewport(), inside):
            widget.setBackgroundRole(QPalette.ColorRole.Window)
        step = unit(self)
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(3 * step, 2 * step, 3 * step, 3 * step)
        layout.setSpacing(step)
        self._timing = TimingTable()
        self._run, self._options, self._memory = Facts(), Facts(), Facts()
        self._notices = QVBoxLayout()
        self._notices.setSpacing(step)
        self._shown: tuple[Notice, ...] | None = None
        self._add(layout, "Timing", self._timing)
        self._add(layout, "Ran with", self._run)
        self._notice_heading = self._heading("Notices")
        layout.addWidget(self._notice_heading)
        layout.addLayout(self._notices)
        self._add(layout, "Memory", self._memory)
        self._add(layout, "Options", self._options)
        layout.addStretch(1)

    def show_entry(self, entry: Entry | None) -> None:
        """Say everything that is known of an entry."""
        self.show_timings(entry.timings if entry else None)
        self._run.show_facts(_run_facts(entry) if entry else [])
        self._options.show_facts(_option_facts(entry.options) if entry else [])
        self._show_notices(entry.notices if entry else ())

    def show_timings(self, timings: Timings | None) -> None:
        """The timing table of a run, complete or so far."""
        self._timing.show_timings(timings)
        self._memory.show_facts(_memory_facts(timings) if timings else [])

    def _add(self, layout: QVBoxLayout, heading: str, part: QWidget) -> None:
        layout.addWidget(self._heading(heading))
        layout.addWidget(part)

    def _heading(self, text: str) -> Label:
        label = Label(text)
        label.setFont(scaled(self.font(), 1.0, QFont.Weight.DemiBold))
        label.setContentsMargins(0, 2 * unit(self), 0, 0)
        return label

    def _show_notices(self, notices: tuple[Notice, ...]) -> None:
        if notices == self._shown:
            return
        self._shown = notices
        self._notice_heading.setVisible(bool(notices))
        while (item := self._notices.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for notice in notices:
            self._notices.addWidget(self._notice(notice))

    def _notice(self, notice: Notice) -> QWidget:
        text = Label(notice_sentence(notice))
        text.setFont(small(self.font()))
        text.setWordWrap(True)
        if notice.start is None:
            return text
        row = QWidget()
        layout = QVBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(text)
        button = QToolButton(autoRaise=True)
        button.setText(f"Go to {clock(notice.start)}")
        button.setFont(text.font())
        button.clicked.connect(lambda _checked, start=notice.start: self.jump.emit(start))
        layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return row


class Facts(QWidget):
    """Names and values in two columns; "—" when there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * unit(self))
        self._grid.setVerticalSpacing(unit(self) // 2)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[Label, Label]] = []

    def show_facts(self, facts: list[tuple[str, str]]) -> None:
        """Show these in place of what was there; labels are used again, since this is called often."""
        shown = facts or [("—", "")]
        while len(self._rows) < len(shown):
            self._rows.append(self._new_row())
        for number, (name, value) in enumerate(self._rows):
            used = number < len(shown)
            name.setVisible(used)
            value.setVisible(used)
            if used:
                name.setText(shown[number][0])
                value.setText(shown[number][1])

    def _new_row(self) -> tuple[Label, Label]:
        name, value = Quiet(), Label()
        value.setFont(name.font())
        value.setWordWrap(True)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = len(self._rows)
        self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, row, 1)
        return name, value


def _run_facts(entry: Entry) -> list[tuple[str, str]]:
    facts = (
        ("Model", entry.model or ""),
        ("Backend", entry.backend or ""),
        ("Device", entry.device or ""),
        ("Why", entry.reason or ""),
        ("Loaded in", seconds(entry.load_ms) if entry.load_ms is not None else ""),
        ("Language", language_name(entry.language) if entry.language else ""),
        ("Speech", clock(entry.speech) if entry.speech is not None else ""),
        ("Loudest", f"{entry.peak_dbfs:.0f} dBFS".replace("-", "−") if entry.peak_dbfs is not None else ""),
        ("Ended by", describe_failure(entry).detail if entry.error else ""),
    )
    return [(name, value) for name, value in facts if value]


def _option_facts(options: Options) -> list[tuple[str, str]]:
    """Every option with its value, also 0 and nothing: what reached the engine is seen."""
    names = {"vad": "Only where speech is", "words": "Times of words", "beam": "Beam"}
    return [
        (names.get(field.name, field.name.capitalize()), _value(getattr(options, field.name)))
        for field in fields(options)
    ]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "default" if value is None else str(value) or "none"


def _memory_facts(timings: Timings) -> list[tuple[str, str]]:
    facts = [(name, human_size(count)) for name, count in timings.buffers.items()]
    return [*facts, ("Peak", human_size(timings.peak_memory))] if timings.peak_memory else facts
