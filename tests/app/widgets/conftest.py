"""Fixtures for the widgets: a real window over a real library; the engine says only what the test lets it say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.jobs import Jobs
from app.main_window import MainWindow
from app.settings import Settings
from app.transcript_model import TranscriptModel
from app.transcript_view import TranscriptView
from engine.library import Library
from engine.types import Segment
from tests.measure.sample_library import ENGLISH, StillEngine, folder_of, segments

HERE = Path(__file__).parent
NO_SCREEN = "This plugin does not support"  # … raise(), grabbing the keyboard: said by the platform without a screen


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Popups and smallest sizes are nothing for the platform without a screen."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore(NO_SCREEN))


@pytest.fixture
def engine(tmp_path: Path) -> StillEngine:
    """An engine without a process; `engine.say(…)` is its answer."""
    return StillEngine(tmp_path)


@pytest.fixture
def jobs(library: Library, engine: StillEngine) -> Iterator[Jobs]:
    """Jobs over an empty library, not started."""
    made = Jobs(library, engine)
    yield made
    made.stop()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings as they are at first."""
    return Settings(tmp_path / "settings.json")


@pytest.fixture
def open_window(jobs: Jobs, settings: Settings, tmp_path: Path, qtbot: QtBot) -> Callable[[], MainWindow]:
    """Opens the window, once the library has what the test needs."""

    def opened() -> MainWindow:
        window = MainWindow(jobs, settings, folder_of(tmp_path))
        qtbot.addWidget(window)
        window.resize(1280, 800)
        window.show()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        return window

    return opened


@pytest.fixture
def show_page(qtbot: QtBot) -> Callable[..., TranscriptView]:
    """A transcript on a page of its own: the given texts, or so many sentences."""

    def shown(*texts: str, count: int = 60, width: int = 900, height: int = 600) -> TranscriptView:
        model = TranscriptModel()
        view = TranscriptView(model)
        model.setParent(view)
        view.resize(width, height)
        qtbot.addWidget(view)
        view.show()
        view.activateWindow()
        qtbot.waitUntil(view.isActiveWindow)
        said = [Segment(n * 1000, n * 1000 + 900, f" {text}") for n, text in enumerate(texts)]
        model.load(said or segments(ENGLISH, count))
        view.setFocus()
        QGuiApplication.processEvents()
        return view

    return shown


@pytest.fixture
def clipboard() -> Iterator[Callable[[], str]]:
    """What is on the clipboard."""
    QGuiApplication.clipboard().clear()
    yield lambda: QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().clear()
