"""What just happened, in the status line; and what wants an answer, as a bar above the page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.export_menu import ExportMenu
from app.job_actions import JobActions
from app.jobs import Jobs
from app.note import Bar
from app.page import Page
from app.recovery import Recovery
from app.reveal import reveal
from app.status_line import StatusLine
from app.toolbar import Toolbar
from app.wording import counted


class Announcements(QObject):
    """Undo, "show in folder", "save elsewhere", and jobs that were cut off."""

    arrived = Signal(str)  # a model was downloaded

    def __init__(self, jobs: Jobs, page: Page, bar: Bar, status: StatusLine, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs, self._page, self._bar, self._status = jobs, page, bar, status
        self._recovery = Recovery(jobs)
        self._cut_off = False  # whether there are jobs to go on with
        jobs.said.connect(status.say)
        jobs.changed.connect(self._on_changed)
        page.shown.connect(self._on_shown)

    def listen(self, actions: JobActions, export: ExportMenu, toolbar: Toolbar) -> None:
        """Say what these do, and offer what they can do next."""

        def say_removed(count: int, recorded: bool) -> None:
            what = "Removed." if count == 1 else f"Removed {counted(count, 'entry', 'entries')}."
            if recorded:
                what += " The recorded sound is deleted when Sottovoce starts the next time."
            self._status.say(what, "Undo", actions.undo)

        def say_arrived(model: str) -> None:
            self._status.say(f"{model} is here now.", "Use it", lambda: toolbar.use_model(model))

        actions.removed.connect(say_removed)
        self.arrived.connect(say_arrived)
        export.saved.connect(self._say_saved)
        export.failed.connect(self._say_failed)

    def offer_recovery(self) -> None:
        """Jobs that a crash cut off: go on with all of them, or leave them. The page says it of the one it shows."""
        cut = {entry.id for entry in self._recovery.offer()}
        self._cut_off = bool(cut)
        if cut - {self._page.entry.id if self._page.entry else 0}:
            buttons = [("Go on", self._recovery.go_on), ("Not now", self._recovery.decline)]
            self._bar.say(self._recovery.sentence(), buttons, "interrupted")
        else:
            self._bar.hide()

    def _on_changed(self, entry_id: int) -> None:
        if self._cut_off or self._jobs.entry(entry_id).state == "interrupted":
            self.offer_recovery()

    def _on_shown(self) -> None:
        if self._cut_off:
            self.offer_recovery()

    def _say_saved(self, path: Path) -> None:
        self._status.say(f"Saved {path.name}.", "Show in folder", lambda: reveal(os.fsencode(path)))

    def _say_failed(self, sentence: str, again: Callable[[], None]) -> None:
        def elsewhere() -> None:
            self._bar.hide()
            again()

        self._bar.say(sentence, [("Save elsewhere…", elsewhere), ("Close", self._bar.hide)])
