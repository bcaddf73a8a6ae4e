"""The one window. It only composes: list, page, details, toolbar and status line are files of their own."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QMainWindow, QVBoxLayout, QWidget

from app.about import About
from app.announcements import Announcements
from app.details import Details
from app.drop import Drop
from app.export_menu import ExportMenu
from app.icons import app_icon, recolour
from app.job_actions import JobActions
from app.job_list import JobList
from app.jobs import Jobs
from app.keys import Keys
from app.look import Hairline
from app.models_dialog import ModelsDialog
from app.note import Bar
from app.page import Page
from app.panes import Panes
from app.record_desk import RecordDesk
from app.rerun import Rerun
from app.settings import Settings
from app.status_line import StatusLine
from app.toolbar import Toolbar, pop_up
from app.transcript_model import span
from engine.folders import models_folder
from engine.models.store import ModelStore
from engine.types import Timings

_MEDIA = (
    "*.aac *.aif *.aiff *.amr *.avi *.flac *.m4a *.m4b *.m4v *.mka *.mkv *.mov *.mp3 *.mp4 *.mpeg *.mpg *.oga *.ogg"
    " *.opus *.ts *.wav *.webm *.wma *.wmv *.3gp"
)
_TRANSCRIPTS = "Transcripts and subtitles (*.json *.srt *.vtt)"


class MainWindow(QMainWindow):
    """Files come in by `add_files`; ending the jobs is left to whoever ends the program."""

    def __init__(self, jobs: Jobs, settings: Settings, data: Path) -> None:
        super().__init__()
        self._jobs, self._settings = jobs, settings
        self.setWindowTitle("Sottovoce")
        self.setWindowIcon(app_icon())
        self.toolbar = Toolbar(settings, ModelStore(models_folder(data)), self)
        self.addToolBar(self.toolbar)
        self.job_list = JobList(jobs)
        self.rerun = Rerun(jobs, self.toolbar.models, self)
        self.actions_ = JobActions(jobs, self.job_list, self.rerun)
        self.page = Page(jobs, self.rerun)
        self.details = Details()
        self.status = StatusLine()
        self.bar = Bar()
        self.export = ExportMenu(data, settings, lambda: self.page.entry, self)
        self.toolbar.export.clicked.connect(lambda: pop_up(self.export, self.toolbar.export))
        self.drop = Drop(self)
        self.desk = RecordDesk(jobs, settings, data, self.toolbar, self)
        self.recording = self.desk.recording
        self._data = data
        self.models: ModelsDialog | None = None  # made when it is asked for
        self.announcements = Announcements(jobs, self.page, self.bar, self.status, self)
        self.announcements.listen(self.actions_, self.export, self.toolbar)
        self._compose()
        self._connect_list()
        self._connect_page()
        self._add_keys()
        self._restore()

    def add_files(self, paths: Sequence[bytes]) -> None:
        """Add files and folders (os.fsencode) with the settings of the toolbar, and show the first of them."""
        ids = self._jobs.add(paths, self.toolbar.options())
        if ids:
            self.job_list.select(ids[0])

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.recording.is_open:  # first the sound, then the window
            event.ignore()
            self.recording.closed.connect(self.close)
            self.recording.stop()
            return
        self.desk.stop()
        self._settings.change(geometry=bytes(self.saveGeometry().data()))
        self.export.finish()
        if self.models is not None:
            self.models.stop()
        super().closeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:  # also when the system turns dark
            recolour(self)

    def open_files(self) -> None:
        """Ask for files; what they are is decided by what is in them, so that all can be chosen."""
        dialog = QFileDialog(self, "Open recordings or videos")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([f"Recordings and videos ({_MEDIA})", _TRANSCRIPTS, "All files (*)"])
        dialog.filesSelected.connect(lambda names: self.add_files([os.fsencode(name) for name in names]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def show_models(self) -> None:
        """All models that can be had."""
        if self.models is None:
            self.models = ModelsDialog(self._data, self._settings, self)
            self.models.changed.connect(self.toolbar.refresh)
            self.models.arrived.connect(self.announcements.arrived)
        self.models.refresh()
        self.models.show()

    def _compose(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.panes = Panes(self.job_list, self.page, self.details)
        layout.addWidget(self.desk.panel)
        layout.addWidget(self.bar)
        layout.addWidget(self.panes, 1)
        layout.addWidget(Hairline())
        layout.addWidget(self.status)
        self.setCentralWidget(inside)
        self.setUnifiedTitleAndToolBarOnMac(True)

    def _connect_list(self) -> None:
        self.job_list.chosen.connect(self._show)
        self.job_list.sought.connect(self.page.seek)
        self.rerun.added.connect(self.job_list.select)
        for changed in (self.job_list.model.rowsInserted, self.job_list.model.rowsRemoved):
            changed.connect(self._note_emptiness)
        self._jobs.changed.connect(self._on_changed)
        self._jobs.progress.connect(self._on_changed)
        self._jobs.timings.connect(self._on_timings)

    def _connect_page(self) -> None:
        self.toolbar.open.triggered.connect(lambda _checked: self.open_files())
        self.page.empty.open_files.connect(self.open_files)
        self.page.empty.record.connect(self.desk.toggle)
        self.desk.begun.connect(self.job_list.select)
        self.page.filled.connect(self.toolbar.export.setEnabled)
        self.page.filled.connect(self.export.set_possible)
        self.page.view.chosen.connect(lambda row: self.status.show_place(span(self.page.model.segment(row))))
        self.page.model.modelReset.connect(lambda: self.status.show_place(""))
        self.details.jump.connect(self.page.go_to)
        self.toolbar.details.toggled.connect(self._show_details)
        self.status.details_clicked.connect(self.toolbar.details.toggle)
        self.status.model_clicked.connect(self.toolbar.model.click)
        self.drop.dropped.connect(self.add_files)
        for wish in (self.toolbar.more_models, self.rerun.get_models):
            wish.connect(self.show_models)
        speakers = (self._settings, self.actions_, self.rerun, self.export, self.recording)
        more = (self.drop.refused, self.desk.dictation.said, self.desk.push_to_talk.said)
        for said in (*(speaker.said for speaker in speakers), *more):
            said.connect(self.status.say)

    def _add_keys(self) -> None:
        toolbar = self.toolbar
        toolbar.open.setShortcut(QKeySequence(QKeySequence.StandardKey.Open))
        toolbar.details.setShortcut(QKeySequence("F4"))
        self.addAction(self.export.copy_all)
        self.addAction(self.desk.dictation_menu.captions)
        keys: tuple[tuple[str, Callable[[], None]], ...] = (
            ("Ctrl+R", self.desk.toggle),
            ("Ctrl+M", toolbar.model.click),
            ("Ctrl+L", toolbar.show_languages),
            ("Ctrl+Shift+T", toolbar.task.click),
            ("Ctrl+E", toolbar.export.click),
            ("Ctrl+F", self.job_list.focus_search),
            ("F3", lambda: self.page.view.find_match(1)),
            ("Shift+F3", lambda: self.page.view.find_match(-1)),
            ("Ctrl+Z", self.actions_.undo),
            ("F6", self._next_pane),
            ("F1", lambda: Keys(self).open()),
            ("Shift+F1", lambda: About(self).open()),
        )
        for key, act in keys:
            QShortcut(QKeySequence(key), self).activated.connect(act)

    def _restore(self) -> None:
        em = self.fontMetrics().horizontalAdvance("m")
        self.resize(100 * em, 62 * em)
        self.setMinimumSize(56 * em, 34 * em)
        self.restoreGeometry(self._settings.values.geometry)
        self.details.setVisible(self._settings.values.details_open)
        self.toolbar.details.setChecked(self._settings.values.details_open)
        self.job_list.select_first()
        self.announcements.offer_recovery()
        self._show(None if self.page.entry is None else self.page.entry.id)
        self._note_emptiness()
        self.job_list.view.setFocus()

    def _note_emptiness(self) -> None:
        """Without any entry there is only the page to drop on."""
        self.job_list.setVisible(not self.job_list.model.is_empty)

    def _show(self, entry_id: int | None) -> None:
        self.page.show_entry(entry_id)
        self._show_facts()

    def _show_facts(self) -> None:
        entry = self.page.entry
        live = self._jobs.live(entry.id) if entry else None
        self.status.show_entry(entry, live, self._settings.values.model)
        if not self.details.isHidden():
            self.details.show_entry(entry)

    def _show_details(self, shown: bool) -> None:
        self.details.setVisible(shown)
        self._settings.change(details_open=shown)
        self._show_facts()

    def _on_changed(self, entry_id: int) -> None:
        if self.page.entry is not None and entry_id == self.page.entry.id:
            self._show_facts()

    def _on_timings(self, entry_id: int, timings: Timings) -> None:
        if self.page.entry is not None and entry_id == self.page.entry.id:
            self.status.show_timings(timings)
            if not self.details.isHidden():
                self.details.show_timings(timings)

    def _next_pane(self) -> None:
        """From the list to the page to the details to the status line, and round."""
        panes = [self.job_list.view, self.page.view, self.details, self.status.model]
        shown = [pane for pane in panes if pane.isVisible()]
        here = next((place for place, pane in enumerate(shown) if pane.hasFocus()), -1)
        shown[(here + 1) % len(shown)].setFocus(Qt.FocusReason.ShortcutFocusReason)
