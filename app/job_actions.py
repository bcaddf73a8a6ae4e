"""What can be done with the selected jobs: the same actions in the context menu, on keys and on the page's buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence

from app.icons import set_icon
from app.job_list import JobList
from app.job_words import can_cancel, can_go_on, can_retry
from app.jobs import Jobs
from app.rerun import Rerun
from app.reveal import reveal
from engine.files import shown
from engine.library import Entry
from engine.recording import is_recording


class JobActions(QObject):
    """Actions on the selection of the list; they are enabled when they make sense for it."""

    said = Signal(str)  # one line for the status line
    removed = Signal(int, bool)  # how many, and whether recordings of our own are among them

    def __init__(self, jobs: Jobs, job_list: JobList, rerun: Rerun) -> None:
        super().__init__(job_list)
        self._jobs, self._list = jobs, job_list
        self._removed: list[int] = []  # the first of each removal, to be shown when it is undone
        self.cancel = self._action("Cancel", "cancelled", "Ctrl+.", self._each(jobs.cancel, can_cancel))
        self.go_on = self._action("Go on", "go-on", "Ctrl+G", self._each(jobs.go_on, can_go_on))
        self.retry = self._action("Retry from the start", "retry", "F5", self._each(jobs.retry, can_retry))
        self.rename = self._action("Rename", "rename", "F2", job_list.rename_current)
        self.reveal = self._action("Show in folder", "folder", "Ctrl+Shift+R", self._reveal)
        self.copy_path = self._action("Copy path", "copy", "Ctrl+Alt+P", self._copy_path)
        self.remove = self._action("Remove", "remove", QKeySequence.StandardKey.Delete, self._remove)
        self.rerun_menu = rerun.menu(job_list.selected_entries)
        job_list.view.insertAction(self.rename, self.rerun_menu.menuAction())
        job_list.selection_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Enable what makes sense for the selection."""
        entries = self._list.selected_entries()
        one = len(entries) == 1
        self.cancel.setEnabled(any(can_cancel(entry) for entry in entries))
        self.go_on.setEnabled(any(can_go_on(entry) for entry in entries))
        self.retry.setEnabled(any(can_retry(entry) for entry in entries))
        self.rename.setEnabled(one)
        self.reveal.setEnabled(one)
        self.copy_path.setEnabled(bool(entries))
        self.remove.setEnabled(bool(entries))
        self.rerun_menu.setEnabled(bool(entries))

    def undo(self) -> None:
        """Bring back what was removed last."""
        if self._jobs.undo_remove():
            self._list.select(self._removed.pop())
        else:
            self.said.emit("There is nothing to undo.")

    def _action(self, text: str, icon: str, key: QKeySequence.StandardKey | str, act: Callable[[], None]) -> QAction:
        action = QAction(text, self)
        set_icon(action, icon)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(lambda _checked: act())
        self._list.view.addAction(action)
        return action

    def _each(self, act: Callable[[int], None], may: Callable[[Entry], bool]) -> Callable[[], None]:
        def do() -> None:
            for entry in self._list.selected_entries():
                if may(entry):
                    act(entry.id)

        return do

    def _remove(self) -> None:
        entries = self._list.selected_entries()
        ids = [entry.id for entry in entries]
        self._jobs.remove(ids)
        self._removed.append(ids[0])
        self.removed.emit(len(ids), any(is_recording(entry.source) for entry in entries))

    def _reveal(self) -> None:
        for entry in self._list.selected_entries():
            if not reveal(entry.source):
                self.said.emit(f"{shown(entry.source)} is not there any more.")

    def _copy_path(self) -> None:
        paths = (shown(entry.source) for entry in self._list.selected_entries())
        QGuiApplication.clipboard().setText("\n".join(paths))
