"""From a data folder and some files to a window that runs, and to its end."""

from __future__ import annotations

import signal
import sys
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from app.crash_log import CrashLog
from app.engine_client import EngineClient
from app.file_open import FileOpen
from app.jobs import Jobs
from app.look import tip
from app.main_window import MainWindow
from app.messages import message
from app.recordings import adopt
from app.settings import Settings
from app.single_instance import Outcome, SingleInstance
from app.starter_import import StarterImport, is_needed
from engine.errors import EngineError
from engine.folders import library_file
from engine.library import Library
from engine.resource_files import resource

Files = tuple[bytes, ...]

PREPARING = "preparing the model…"


def open_window(data: Path, files: Files) -> int:
    """Be the window, or hand `files` to the one that is there. The exit code: 0, or 1 when that failed."""
    application = _application()
    instance = SingleInstance(data)
    outcome = instance.begin(files)
    if outcome is Outcome.HANDED_OVER:
        return 0
    if outcome is Outcome.NO_ANSWER:
        return _give_up(
            "Sottovoce is open with this data folder already, but does not answer.",
            f"Close it, or end its process. If there is none, delete {data / 'window.lock'}",
        )
    try:
        library = Library.open(library_file(data), writable=True)
    except EngineError as error:
        told = message(error.code, error.detail)
        return _give_up(told.what, f"{told.todo}\n\n{told.detail}")
    with closing(library), closing(CrashLog(data)) as log:
        settings = Settings(data / "settings.json")
        with suppress(EngineError):  # as the first thing that is stored will say
            adopt(library, data, settings.options())
        jobs = Jobs(library, EngineClient(data))
        window = _window(application, jobs, settings, data, files, instance)
        if log.last:
            QTimer.singleShot(0, partial(jobs.said.emit, log.last))
        application.aboutToQuit.connect(jobs.stop)
        code = application.exec()
        instance.end()
        window.deleteLater()
    return code


def _application() -> QApplication:
    application = QApplication(["sottovoce"])
    application.setApplicationName("Sottovoce")
    application.setDesktopFileName("io.sottovoce.Sottovoce")  # as in packaging/linux
    application.setWindowIcon(QIcon(str(resource("icons", "sottovoce.svg"))))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends the window; what was stored is stored
    return application


def _window(
    application: QApplication, jobs: Jobs, settings: Settings, data: Path, files: Files, instance: SingleInstance
) -> MainWindow:
    """The window, shown, and what begins once it is painted."""
    window = MainWindow(jobs, settings, data)
    instance.files.connect(window.add_files)
    instance.files.connect(lambda _files: _to_the_front(window))
    FileOpen(application).files.connect(window.add_files)
    window.show()
    if is_needed(data):
        _prepare_model(application, jobs, data)
    QTimer.singleShot(0, jobs.queue.start)
    QTimer.singleShot(0, window.desk.begin)
    QTimer.singleShot(0, partial(window.add_files, files))
    return window


def _prepare_model(application: QApplication, jobs: Jobs, data: Path) -> None:
    """Jobs wait until the model that came with the installation is in place, or cannot be."""
    starter = StarterImport(data, jobs)

    def end(why: str) -> None:
        if why:
            jobs.said.emit(f"The model could not be prepared. {why}")
        jobs.queue.hold("")

    starter.progress.connect(lambda percent: jobs.queue.hold(f"{PREPARING} {percent} %"))
    starter.ended.connect(end)
    application.aboutToQuit.connect(starter.stop)
    jobs.queue.hold(PREPARING)
    starter.start()


def _to_the_front(window: QWidget) -> None:
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.raise_()
    window.activateWindow()


def _give_up(what: str, todo: str) -> int:
    """Say why there is no window."""
    print(f"{what}\n{todo}", file=sys.stderr)
    if QGuiApplication.platformName() not in {"offscreen", "minimal"}:  # where nobody could close it
        box = QMessageBox(QMessageBox.Icon.Critical, "Sottovoce", tip(what))
        box.setInformativeText(tip(todo))
        box.exec()
    return 1
