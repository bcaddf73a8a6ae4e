"""The middle of the window: one transcript, or what there is to say while it has no text."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.empty_page import EmptyPage
from app.jobs import Jobs
from app.note import Bar, Button, Placard
from app.page_header import PageHeader
from app.page_words import Says, Way, bar_says, page_says
from app.reader import Reader
from app.rerun import Rerun
from app.transcript_layout import Sheet
from app.transcript_model import TranscriptModel
from app.transcript_view import TranscriptView
from engine.languages import RIGHT_TO_LEFT
from engine.library import Entry


class Page(QWidget):
    """Shows the entry that the list chose, and keeps up with it."""

    shown = Signal()  # another entry than before
    filled = Signal(bool)  # whether there is text to export

    def __init__(self, jobs: Jobs, rerun: Rerun, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs, self._rerun = jobs, rerun
        self._rerun_menu = rerun.menu(lambda: [self.entry] if self.entry else [])
        self.entry: Entry | None = None
        self._sought = ""
        self._seeking = False  # whether the sought text is still to be shown
        self._said: tuple[int, Says | None, bool] | None = None  # what the bar or the placard shows
        self.model = TranscriptModel(self)
        self.view = TranscriptView(self.model)
        self.empty, self.header, self.placard, self.bar = EmptyPage(), PageHeader(), Placard(), Bar()
        self._stack = QStackedWidget()
        for page in (self.empty, self.placard, self.view):
            self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.header, self.bar, self._stack):
            layout.addWidget(widget)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._reader = Reader(jobs, self.model, self)
        self.header.language_picked.connect(self._as_language)
        self._listen()
        self._refresh()

    def show_entry(self, entry_id: int | None) -> None:
        """Show an entry from its start; None shows the empty page."""
        if entry_id is not None and self.entry is not None and entry_id == self.entry.id:
            return
        self.entry = None if entry_id is None else self._jobs.entry(entry_id)
        self._read()
        self.shown.emit()

    def seek(self, text: str) -> None:
        """Mark a text wherever it stands, and bring the first place to the reader."""
        self._sought, self._seeking = text, bool(text)
        self.view.set_sought(text)
        self._find_first()

    def go_to(self, ms: int) -> None:
        """Bring the segment at a time to the reader."""
        if self.model.rowCount():
            self.view.go_to(self.model.row_at(ms))
            self.view.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._align()

    def _align(self) -> None:
        """The header stands above the text, or where the text will be."""
        sheet = self.view.sheet
        if self._stack.currentWidget() is not self.view:
            sheet = Sheet.divide(self.width(), self.view.reading_font, self.view.margin_font)
        self.header.set_bounds(sheet.text_x, self.width() - sheet.text_x - sheet.text_width)

    def _listen(self) -> None:
        self.view.divided.connect(self._align)
        self._stack.currentChanged.connect(lambda _place: self._align())
        self._jobs.changed.connect(self._on_changed)
        self._jobs.progress.connect(self._on_changed)
        self._jobs.partial.connect(self._on_partial)
        self._reader.more.connect(self._on_more)
        self._jobs.cleared.connect(self._on_cleared)

    def _read(self) -> None:
        self.view.set_growing(False)
        self._seeking = bool(self._sought)
        self._reader.read(self.entry.id if self.entry else None)
        self._refresh()

    def _on_more(self) -> None:
        """The place that is sought may be in the part that was just read."""
        self.view.set_partial(0)
        self._find_first()
        if self._stack.currentWidget() is not self.view and self.model.rowCount():
            self._refresh()

    def _find_first(self) -> None:
        if self._seeking and self.view.find_first():
            self._seeking = False

    def _on_changed(self, entry_id: int) -> None:
        if self.entry is not None and entry_id == self.entry.id:
            self.entry = self._jobs.entry(entry_id)
            self._refresh()

    def _on_partial(self, entry_id: int, start: int, firm: str, loose: str) -> None:
        if self.entry is not None and entry_id == self.entry.id:
            self.view.set_partial(start, firm, loose)
            if self._stack.currentWidget() is not self.view:
                self._refresh()

    def _on_cleared(self, entry_id: int) -> None:
        if self.entry is not None and entry_id == self.entry.id:
            self.entry = self._jobs.entry(entry_id)
            self._read()

    def _refresh(self) -> None:
        entry, text = self.entry, self.model.rowCount() > 0 or self.view.has_partial
        self.header.setVisible(entry is not None)
        self.filled.emit(text)
        if entry is None:
            self.bar.hide()
            self._said = None
            self._stack.setCurrentWidget(self.empty)
            return
        self.view.set_mirrored(entry.language in RIGHT_TO_LEFT)
        live = self._jobs.live(entry.id)
        self.header.show_entry(entry, live)
        if entry.state != "running":
            self.view.set_partial(0)
        self.view.set_growing(entry.state == "running")
        self._stack.setCurrentWidget(self.view if text else self.placard)
        says = bar_says(entry) if text else page_says(entry, live, self._jobs.queue.why_waits(entry.id))
        if (entry.id, says, text) != self._said:
            self._said = entry.id, says, text
            self._say(says, entry.id, text)

    def _say(self, says: Says | None, entry_id: int, above_text: bool) -> None:
        self.bar.setVisible(says is not None and above_text)
        if says is None:
            return
        buttons = [self._button(way, entry_id) for way in says.ways]
        if above_text:
            self.bar.say(" ".join(filter(None, (says.what, says.detail, says.todo))), buttons, says.icon)
        else:
            self.placard.say(says, buttons)

    def _button(self, way: Way, entry_id: int) -> Button:
        jobs = self._jobs
        match way:
            case Way.CANCEL:
                return "Cancel", lambda: jobs.cancel(entry_id)
            case Way.GO_ON:
                return "Go on", lambda: jobs.go_on(entry_id)
            case Way.TRANSCRIBE:
                return "Transcribe", lambda: jobs.go_on(entry_id)
            case Way.RETRY:
                return "Retry", lambda: jobs.retry(entry_id)
            case Way.OTHER_MODEL:
                return "Choose another model", self._rerun_menu
            case Way.GET_MODELS:
                return "Get models…", self._rerun.get_models.emit

    def _as_language(self, code: str) -> None:
        if self.entry is not None:
            self._rerun.with_language(self.entry, code)
