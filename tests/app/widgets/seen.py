"""What a widget shows, and a job to show: shared by the tests of the widgets."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from app.jobs import Jobs
from engine.protocol import Language, Loaded, Progress, Started
from engine.types import Options
from tests.measure.sample_library import StillEngine


def shown_text(widget: QWidget) -> str:
    return " ".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def buttons_of(widget: QWidget) -> dict[str, QPushButton]:
    QApplication.processEvents()  # new ones show in the next turn
    return {button.text(): button for button in widget.findChildren(QPushButton) if button.isVisible()}


def begin(jobs: Jobs, engine: StillEngine, name: str = "talk.wav", language: str = "en") -> int:
    """A running job that has been opened and loaded."""
    (job,) = jobs.add([b"/nowhere/" + name.encode()], Options())
    engine.say(
        Started(job, 100_000, 1, "", 1),
        Loaded(job, "base", "whisper.cpp", "CPU", "no GPU in this build", 312, 1_000),
        Language(job, language, 0.98),
        Progress(job, "transcribing", 0, 100_000, None),
    )
    return job
