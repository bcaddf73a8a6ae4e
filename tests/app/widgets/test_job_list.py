"""The list at the left: days, states in words, search, and what can be done with a row."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.job_list import JobList
from app.job_list_model import JobListModel
from app.job_words import row_words, spoken
from app.jobs import Jobs, Live
from app.main_window import MainWindow
from app.wording import clock, day, time_left
from engine.errors import Code
from engine.library import Entry, Library
from engine.types import Options
from tests.measure.sample_library import DAY, ENGLISH, MINUTE, add_done, segments

ENTRY = Entry(1, b"/a/talk.wav", "talk.wav", 0, "waiting", Options(), duration=100_000)
OpenWindow = Callable[[], MainWindow]


def rows_of(model: JobListModel) -> list[str]:
    return [str(model.index(row).data()) for row in range(model.rowCount())]


def titles(model: JobListModel) -> list[str]:
    return [str(model.index(row).data()) for row in range(model.rowCount()) if model.entry(model.index(row))]


@pytest.mark.parametrize(
    ("changes", "live", "state", "right"),
    [
        ({}, None, "Waiting", ""),
        ({"state": "running"}, None, "Starting…", ""),
        ({"state": "running"}, Live("loading", 0, None, None), "Loading the model…", ""),
        ({"state": "running"}, Live("building", 33_000_000, 100_000_000, None), "Preparing the model…", "33 %"),
        ({"state": "running"}, Live("transcribing", 62_000, 100_000, 41_000), "62 %", "about 0:41 left"),
        ({"state": "running", "duration": None}, Live("transcribing", 62_000, None, None), "Transcribing…", ""),
        ({"state": "done", "language": "de"}, None, "Done · German", ""),
        ({"state": "done", "outcome": "no_speech"}, None, "No speech found", ""),
        ({"state": "failed", "error": Code.NO_AUDIO}, None, "The file has no sound.", ""),
        ({"state": "cancelled"}, None, "Cancelled", ""),
        ({"state": "interrupted", "settled": 41_000}, None, "Cut off at 0:41", ""),
    ],
)
def test_a_row_says_its_state_in_words(changes: dict[str, object], live: Live | None, state: str, right: str) -> None:
    words = row_words(replace(ENTRY, **changes), live)  # type: ignore[arg-type]
    assert (words.state, words.right) == (state, right)


def test_a_waiting_row_says_what_it_waits_for() -> None:
    assert row_words(ENTRY, None, "preparing the model…").state == "Waiting: preparing the model…"


def test_a_screen_reader_hears_name_state_and_length() -> None:
    assert spoken(ENTRY, row_words(ENTRY, None)) == "talk.wav, Waiting, 1:40 long"


@pytest.mark.parametrize(
    ("then", "heading"),
    [
        ((2025, 6, 12, 23, 59), "Today"),
        ((2025, 6, 11, 0, 1), "Yesterday"),
        ((2025, 6, 8, 12), "Sunday"),
        ((2025, 6, 5, 12), "5 June"),
        ((2024, 12, 31, 12), "31 December 2024"),
    ],
)
def test_days_are_named_as_people_do(then: tuple[int, ...], heading: str) -> None:
    moment = datetime(*then).astimezone()  # type: ignore[arg-type]  (local, as the user's clock)
    assert day(round(moment.timestamp() * 1000), date(2025, 6, 12)) == heading


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (900, "about 0:01 left"),
        (41_200, "about 0:42 left"),
        (61_000, "about 1:05 left"),
        (1_205_000, "about 21:00 left"),
    ],
)
def test_time_left_is_no_more_exact_than_it_can_be(ms: int, text: str) -> None:
    assert time_left(ms) == text


def test_long_times_show_hours() -> None:
    assert [clock(ms) for ms in (0, 59_999, 60_000, 3_600_000, 5_892_000)] == [
        "0:00",
        "0:59",
        "1:00",
        "1:00:00",
        "1:38:12",
    ]


def test_the_newest_is_on_top_and_every_day_has_one_heading(jobs: Jobs, library: Library, qtbot: QtBot) -> None:
    now = time.time_ns() // 1_000_000
    for name, age in (("old", 11 * DAY), ("older", 12 * DAY), ("b", 2), ("a", 1), ("y", DAY)):
        library.add(name.encode(), Options(), now - age)
    model = JobListModel(jobs)
    assert [row for row in rows_of(model) if row in {"a", "b", "y", "old", "older"}] == ["a", "b", "y", "old", "older"]
    assert rows_of(model)[0] == "Today"
    assert len(rows_of(model)) == len(set(rows_of(model)))


@given(ages=st.lists(st.integers(0, 9), min_size=1, max_size=12), removals=st.lists(st.integers(0, 11), max_size=12))
def test_rows_that_come_and_go_leave_the_list_as_if_it_were_read_anew(
    qapp: object, ages: list[int], removals: list[int]
) -> None:
    entries: dict[int, Entry] = {}
    jobs = Jobs.__new__(Jobs)  # a list of entries is all it is asked for here
    Jobs.__bases__[0].__init__(jobs)  # type: ignore[misc]
    jobs.entries = lambda: list(entries.values())  # type: ignore[method-assign]
    jobs.entry = entries.__getitem__  # type: ignore[method-assign]
    model = JobListModel(jobs)
    now = time.time_ns() // 1_000_000
    for number, age in enumerate(ages):
        entries[number] = Entry(number, b"x", f"{number}", now - age * DAY // 3, "waiting", Options())
        jobs.added.emit(number)
    for number in removals:
        if entries.pop(number, None):
            jobs.removed.emit(number)
    assert rows_of(model) == rows_of(JobListModel(jobs))


def test_the_list_keeps_up_with_the_jobs(jobs: Jobs, library: Library, qtbot: QtBot) -> None:
    job_list = JobList(jobs)
    qtbot.addWidget(job_list)
    (first,) = jobs.add([b"/nowhere/first.wav"], Options())
    (second,) = jobs.add([b"/nowhere/second.wav"], Options())
    assert titles(job_list.model) == ["second.wav", "first.wav"]
    jobs.remove([first])
    assert titles(job_list.model) == ["second.wav"]
    assert jobs.undo_remove()
    assert titles(job_list.model) == ["second.wav", "first.wav"]
    jobs.rename(second, "Another name")
    assert titles(job_list.model) == ["Another name", "first.wav"]


def test_arrows_walk_over_headings(jobs: Jobs, library: Library, qtbot: QtBot) -> None:
    now = time.time_ns() // 1_000_000
    for name, age in (("today", 0), ("then", 12 * DAY)):
        library.add(name.encode(), Options(), now - age)
    job_list = JobList(jobs)
    qtbot.addWidget(job_list)
    job_list.show()
    job_list.select_first()
    QTest.keyClick(job_list.view, Qt.Key.Key_Down)
    assert job_list.view.currentIndex().data() == "then"
    QTest.keyClick(job_list.view, Qt.Key.Key_Up)
    assert job_list.view.currentIndex().data() == "today"


def test_search_filters_by_name_and_by_what_was_said(open_window: OpenWindow, library: Library, qtbot: QtBot) -> None:
    now = time.time_ns() // 1_000_000
    add_done(library, "bees.wav", "en", segments(ENGLISH, 20), now - MINUTE)
    add_done(library, "About HONEY.wav", "en", segments("Nothing of the kind.", 2), now - 2 * MINUTE)
    add_done(library, "other.wav", "en", segments("Something else.", 2), now - 3 * MINUTE)
    window = open_window()
    window.job_list.focus_search()
    QTest.keyClicks(window.job_list.search, "honey")
    qtbot.waitUntil(lambda: len(titles(window.job_list.model)) == 2)
    assert titles(window.job_list.model) == ["bees.wav", "About HONEY.wav"]
    assert "honey" in window.page.model.text(window.page.view.caret.place.row)
    window.job_list.search.clear()
    qtbot.waitUntil(lambda: len(titles(window.job_list.model)) == 3)


def test_search_says_when_nothing_is_found(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "bees.wav", "en", segments(ENGLISH, 3), 0)
    window = open_window()
    window.job_list.search.setText("zebra")
    window.job_list.search.returnPressed.emit()
    assert titles(window.job_list.model) == []
    assert any(
        label.isVisible() and label.text() == "Nothing found"
        for label in window.job_list.findChildren(type(window.job_list._nothing))
    )


def test_a_row_is_renamed_in_place(open_window: OpenWindow, library: Library, qtbot: QtBot) -> None:
    entry = add_done(library, "bees.wav", "en", segments(ENGLISH, 3), 0)
    window = open_window()
    QTest.keyClick(window.job_list.view, Qt.Key.Key_F2)
    editor = window.job_list.view.findChild(QLineEdit)
    assert editor is not None
    editor.setText("Bees, first part")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: library.entry(entry.id).title == "Bees, first part")
    assert titles(window.job_list.model) == ["Bees, first part"]


def test_what_was_removed_comes_back_with_one_key(open_window: OpenWindow, library: Library) -> None:
    for number in range(3):
        add_done(library, f"{number}.wav", "en", segments(ENGLISH, 3), number)
    window = open_window()
    view = window.job_list.view
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert titles(window.job_list.model) == ["0.wav"]
    assert window.page.entry is not None
    assert window.page.entry.title == "0.wav"
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert titles(window.job_list.model) == ["2.wav", "1.wav", "0.wav"]


def test_removing_the_last_one_leaves_the_empty_page(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "bees.wav", "en", segments(ENGLISH, 3), 0)
    window = open_window()
    QTest.keyClick(window.job_list.view, Qt.Key.Key_Delete)
    assert window.page.empty.isVisible()
    assert not window.job_list.isVisible()
    window.actions_.undo()
    assert window.job_list.isVisible()


def test_only_what_makes_sense_can_be_done(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "done.wav", "en", segments(ENGLISH, 3), 0)
    waiting = library.add(b"/nowhere/waiting.wav", Options())
    failed = library.add(b"/nowhere/failed.wav", Options())
    library.update(failed.id, state="failed", error=Code.NOT_MEDIA)
    window = open_window()
    actions = window.actions_

    def possible() -> dict[str, bool]:
        every = {"cancel": actions.cancel, "go on": actions.go_on, "retry": actions.retry, "remove": actions.remove}
        return {name: action.isEnabled() for name, action in every.items()}

    assert possible() == {"cancel": False, "go on": False, "retry": True, "remove": True}
    window.job_list.select(waiting.id)
    assert possible() == {"cancel": True, "go on": False, "retry": False, "remove": True}
    QTest.keyClick(window.job_list.view, Qt.Key.Key_End)
    assert possible() == {"cancel": False, "go on": False, "retry": False, "remove": True}


def test_the_rows_have_names_for_screen_readers(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "bees.wav", "en", segments(ENGLISH, 3), time.time_ns() // 1_000_000)
    window = open_window()
    read = QAccessible.queryAccessibleInterface(window.job_list.view)
    names = [read.child(row).text(QAccessible.Text.Name) for row in range(read.childCount())]
    assert names[0] == "Today"
    assert names[1].startswith("bees.wav, Done · English, 0:")
