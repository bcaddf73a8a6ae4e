"""Figures: the details pane and the status line."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.details import Details
from app.jobs import Jobs
from app.main_window import MainWindow
from app.settings import Settings
from app.timing_table import TimingTable
from engine.library import Library
from engine.protocol import Progress, TimingsEvent
from engine.types import Phase, Timings
from tests.app.widgets.seen import begin
from tests.measure.sample_library import ENGLISH, StillEngine, add_done, notices, segments, timings

OpenWindow = Callable[[], MainWindow]


def texts_of(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if not label.isHidden() and label.text()]


def status_of(window: MainWindow) -> list[str]:
    return [button.text() for button in window.status.findChildren(QToolButton) if button.isVisible()]


def test_the_timing_table_shows_phase_time_runs_and_a_run(qtbot: QtBot) -> None:
    table = TimingTable()
    qtbot.addWidget(table)
    table.show_timings(Timings(10_000, 260_000, (Phase("encode", 6_000, 10), Phase("decode text", 40, 20))))
    texts = texts_of(table)
    assert texts[texts.index("encode") :][:4] == ["encode", "6.0 s", "10", "0.6 s"]
    assert texts[texts.index("decode text") :][:4] == ["decode text", "40 ms", "20", "2.0 ms"]
    assert {"Total 10.0 s", "26 × real time"} <= set(texts)
    table.show_timings(Timings(5, 0, (Phase("open", 5),)))
    assert "encode" not in texts_of(table)


def test_details_name_what_ran_and_every_option(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "talk.wav", "en", segments(ENGLISH, 3), 0)
    window = open_window()
    QTest.keyClick(window, Qt.Key.Key_F4)
    assert window.details.isVisible()
    texts = texts_of(window.details)
    assert {"whisper.cpp", "CPU", "no GPU in this build", "0.3 s", "412 MB"} <= set(texts)
    assert texts[texts.index("Temperature") + 1] == "0.0"
    assert texts[texts.index("Prompt") + 1] == "none"
    assert texts[texts.index("Only where speech is") + 1] == "yes"


def test_details_are_remembered(open_window: OpenWindow, settings: Settings) -> None:
    window = open_window()
    assert not window.details.isVisible()
    window.toolbar.details.trigger()
    assert settings.values.details_open
    assert open_window().details.isVisible()


def test_a_click_on_a_notice_goes_to_its_time(open_window: OpenWindow, library: Library) -> None:
    entry = add_done(library, "talk.wav", "en", segments(ENGLISH, 60), 0)
    library.update(entry.id, notices=notices(entry))
    window = open_window()
    window.toolbar.details.trigger()
    QApplication.processEvents()
    texts = " ".join(texts_of(window.details))
    assert "very quiet" in texts
    (button,) = (b for b in window.details.findChildren(QToolButton) if b.text() == "Go to 1:35")
    button.click()
    row = window.page.view.currentIndex().row()
    assert window.page.model.segment(row).start <= 95_000 <= window.page.model.segment(row + 1).start
    assert window.page.view.hasFocus()


def test_the_status_line_says_model_device_speed_and_time_left(
    open_window: OpenWindow, jobs: Jobs, engine: StillEngine
) -> None:
    window = open_window()
    assert status_of(window) == ["base"]
    job = begin(jobs, engine)
    window.job_list.select(job)
    engine.say(TimingsEvent(job, timings(1_000, 26_000)), Progress(job, "transcribing", 26_000, 100_000, 2_900))
    assert status_of(window) == ["base", "whisper.cpp · CPU", "loaded in 0.3 s", "26 × real time", "about 0:03 left"]


def test_the_status_line_tells_why_the_model_runs_where_it_does(open_window: OpenWindow, library: Library) -> None:
    window = open_window()
    done = add_done(library, "talk.wav", "en", segments(ENGLISH, 3), 0)
    entry = library.update(done.id, reason="the fastest here: onnx 26 × real time, whisper.cpp 5.9 ×")
    window.status.show_entry(entry, None, "base")
    assert "onnx 26 × real time, whisper.cpp 5.9 ×" in window.status.device.toolTip()
    window.status.show_entry(None, None, "base")
    assert "×" not in window.status.device.toolTip()


def test_parts_of_the_status_line_lead_to_where_they_come_from(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "talk.wav", "en", segments(ENGLISH, 3), 0)
    window = open_window()
    window.status.speed.click()
    assert window.details.isVisible()
    window.status.model.click()
    assert window.toolbar.model_menu.isVisible()
    window.toolbar.model_menu.hide()


def test_a_click_on_a_segment_shows_its_exact_times(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "talk.wav", "en", segments(ENGLISH, 3), 0)
    window = open_window()
    window.page.view.move_to(window.page.view.caret.end_of(1))
    segment = window.page.model.segment(1)
    assert window.status.place.text().strip() == f"0:0{segment.start / 1000:.3f} – 0:{segment.end / 1000:.3f}"
    window.page.show_entry(None)
    assert window.status.place.text() == ""


def test_a_message_goes_by_itself_and_its_button_acts_once(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    pressed: list[int] = []
    window.status.say("Removed.", "Undo", lambda: pressed.append(1))
    window.status._act.click()
    assert pressed == [1]
    assert not window.status._act.isVisible()
    window.status.say("Something happened.")
    window.status._over.setInterval(10)
    window.status._over.start()
    qtbot.waitUntil(lambda: window.status._message.text() == "")


def test_details_of_nothing_are_no_error(qtbot: QtBot) -> None:
    details = Details()
    qtbot.addWidget(details)
    details.show_entry(None)
    assert "No run yet" in texts_of(details)
