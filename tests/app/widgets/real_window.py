"""A child for test_real_window.py: the window on a real display, beside something to drag; answers questions on stdin.

state      one JSON object a line: where the focus is, what is shown, selected, copied
quit
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QSocketNotifier, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

from app.jobs import Jobs
from app.main_window import MainWindow
from app.settings import Settings
from engine.folders import library_file
from engine.library import Library
from tests.measure.sample_library import StillEngine, fill, folder_of


class Source(QLabel):
    """A file to drag from, as a file manager has it."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__("drag me")
        self.setWindowFlags(Qt.WindowType.FramelessWindowHint)
        self._paths = paths
        self._pressed = QPoint()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if (event.position().toPoint() - self._pressed).manhattanLength() > 8:
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(path) for path in self._paths])
            drag = QDrag(self)
            drag.setMimeData(data)
            drag.exec(Qt.DropAction.CopyAction)


def state_of(window: MainWindow, jobs: Jobs) -> dict[str, object]:
    focused = QApplication.focusWidget()
    return {
        "focus": focused.accessibleName() if focused else None,
        "shown": window.page.entry.title if window.page.entry else None,
        "row": window.page.view.caret.place.row,
        "entries": [entry.title for entry in jobs.entries()],
        "copied": QApplication.clipboard().text(),
        "details": window.details.isVisible(),
        "covered": window.drop.accessibleName() if window.drop.isVisible() else "",
        "search": window.job_list.search.text(),
    }


def main(folder: Path, paths: list[str]) -> None:
    application = QApplication([])
    library = Library.open(library_file(folder_of(folder)), writable=True)
    ids = fill(library)
    jobs = Jobs(library, StillEngine(folder))
    window = MainWindow(jobs, Settings(folder / "settings.json"), folder)
    window.setGeometry(200, 40, 1000, 700)
    window.show()
    window.job_list.select(ids["english"])
    source = Source(paths)
    source.setGeometry(20, 60, 120, 60)
    source.show()
    window.activateWindow()

    def answer() -> None:
        for word in os.read(0, 4096).decode().split():
            if word == "quit":
                application.quit()
            else:
                print(json.dumps(state_of(window, jobs)), flush=True)

    asked = QSocketNotifier(0, QSocketNotifier.Type.Read)
    asked.activated.connect(answer)
    print("{}", flush=True)
    application.exec()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
