"""The left side of the window: a search field above one list of all jobs and transcripts."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from app.icons import set_icon
from app.job_delegate import JobDelegate
from app.job_list_model import JobListModel
from app.jobs import Jobs
from app.look import Quiet, unit
from engine.library import Entry

_TYPING_MS = 150  # the search begins when nothing was typed for this long


class JobList(QWidget):
    """Says which entry is to be shown, and what is searched for."""

    chosen = Signal(object)  # the id of the current entry, or None
    selection_changed = Signal()
    sought = Signal(str)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.model = JobListModel(jobs, self)
        self.search = QLineEdit()
        self.view = QListView()
        self._nothing = Quiet("Nothing found")
        self._soon = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._soon.timeout.connect(self._search)
        self._build_search()
        self._build_view()
        step = unit(self)
        above = QVBoxLayout()
        above.setContentsMargins(2 * step, 2 * step, 2 * step, step)
        above.addWidget(self.search)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(above)
        layout.addWidget(self._nothing)
        layout.addWidget(self.view, 1)
        self.model.modelReset.connect(self._note_emptiness)
        self.model.rowsRemoved.connect(self._choose_neighbour)
        self._note_emptiness()

    def selected_entries(self) -> list[Entry]:
        """The selected entries, from top to bottom; the current one when nothing else is selected."""
        indexes = sorted(self.view.selectionModel().selectedIndexes(), key=QModelIndex.row)
        return [entry for index in indexes if (entry := self.model.entry(index))]

    def select(self, entry_id: int) -> None:
        """Make an entry the current one, and end a search that hides it."""
        index = self.model.index_of(entry_id)
        if not index.isValid() and self.search.text():
            self.search.clear()
            self._search()
            index = self.model.index_of(entry_id)
        self.view.setCurrentIndex(index)

    def select_first(self) -> None:
        """Make the newest entry the current one."""
        self.view.setCurrentIndex(self.model.first())

    def rename_current(self) -> None:
        """Edit the name of the current entry in its row."""
        if self.view.currentIndex().isValid():
            self.view.edit(self.view.currentIndex())

    def focus_search(self) -> None:
        """Go to the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _build_search(self) -> None:
        self.search.setPlaceholderText("Search")
        self.search.setAccessibleName("Search names and text")
        self.search.setToolTip("Search names and text (Ctrl+F)")
        self.search.setClearButtonEnabled(True)
        self.search.setAcceptDrops(False)  # a file that is dropped on it is for the window
        magnifier = QAction("Search", self.search)
        set_icon(magnifier, "search")
        self.search.addAction(magnifier, QLineEdit.ActionPosition.LeadingPosition)
        self.search.textChanged.connect(lambda _text: self._soon.start())
        self.search.returnPressed.connect(self._to_list)

    def _build_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        view.setItemDelegate(JobDelegate(view))
        view.setAccessibleName("Recordings and transcripts")
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setMouseTracking(True)
        view.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        selection = view.selectionModel()
        selection.currentChanged.connect(self._choose)
        selection.selectionChanged.connect(lambda _new, _old: self.selection_changed.emit())
        self.model.dataChanged.connect(lambda _first, _last: self.selection_changed.emit())

    def _choose(self, current: QModelIndex) -> None:
        if entry := self.model.entry(current):
            self.chosen.emit(entry.id)

    def _choose_neighbour(self, _parent: QModelIndex, first: int, _last: int) -> None:
        """After a removal Qt may have moved to a heading."""
        near = (self.model.index(row) for row in (first, first + 1, first - 1, first - 2))
        if self.model.entry(self.view.currentIndex()) is None:
            self.view.setCurrentIndex(next((index for index in near if self.model.entry(index)), QModelIndex()))
        if self.model.is_empty:
            self.chosen.emit(None)

    def _search(self) -> None:
        text = self.search.text().strip()
        here = self.model.entry(self.view.currentIndex())
        self.model.show_only(set(self._jobs.search(text)) if text else None)
        if here is not None:
            self.view.setCurrentIndex(self.model.index_of(here.id))
        self.sought.emit(text)

    def _to_list(self) -> None:
        self._soon.stop()
        self._search()
        if not self.view.currentIndex().isValid():
            self.select_first()
        self.view.setFocus()

    def _note_emptiness(self) -> None:
        self._nothing.setVisible(self.model.rowCount() == 0 and not self.model.is_empty)
