"""The page: what it says in every state, and how it keeps up with the job it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.jobs import Jobs, Live
from app.main_window import MainWindow
from app.page_words import Way, bar_says, page_says
from app.reader import AT_A_TURN
from engine.errors import Code
from engine.library import Entry, Library
from engine.protocol import Done, Failed, Partial, Progress, SegmentEvent
from engine.types import Options, Segment
from tests.app.widgets.seen import begin, buttons_of, shown_text
from tests.measure.sample_library import ENGLISH, StillEngine, add_done, segments

OpenWindow = Callable[[], MainWindow]
ENTRY = Entry(1, b"/a/talk.wav", "talk.wav", 0, "waiting", Options(), duration=100_000)


@pytest.mark.parametrize(
    ("changes", "live", "what", "ways"),
    [
        ({}, None, "Waiting", {Way.CANCEL}),
        ({"state": "running"}, Live("opening", 0, None, None), "Opening the file…", {Way.CANCEL}),
        ({"state": "running"}, Live("loading", 0, None, None), "Loading the model…", {Way.CANCEL}),
        ({"state": "running"}, Live("building", 1, 3, None), "Preparing the model…", {Way.CANCEL}),
        ({"state": "running"}, Live("listening", 0, None, None), "Listening for speech…", {Way.CANCEL}),
        ({"state": "done", "outcome": "no_speech"}, None, "No speech was found.", {Way.OTHER_MODEL}),
        ({"state": "failed", "error": Code.NOT_FOUND}, None, "The file is not there.", {Way.RETRY}),
        (
            {"state": "failed", "error": Code.ENGINE_DIED, "settled": 9},
            None,
            "The engine stopped unexpectedly.",
            {Way.GO_ON, Way.RETRY, Way.OTHER_MODEL},
        ),
        (
            {"state": "failed", "error": Code.MODEL_MISSING},
            None,
            "The model is not on this computer.",
            {Way.RETRY, Way.GET_MODELS, Way.OTHER_MODEL},
        ),
        ({"state": "cancelled"}, None, "It was cancelled.", {Way.RETRY}),
        ({"state": "interrupted", "settled": 41_000}, None, "It was cut off at 0:41.", {Way.GO_ON, Way.RETRY}),
    ],
)
def test_every_state_says_what_is_and_offers_a_way_out(
    changes: dict[str, object], live: Live | None, what: str, ways: set[Way]
) -> None:
    says = page_says(replace(ENTRY, **changes), live)  # type: ignore[arg-type]
    assert (says.what, set(says.ways)) == (what, ways)


def test_how_much_of_a_model_is_prepared_is_said_and_that_it_is_done_once() -> None:
    says = page_says(replace(ENTRY, state="running"), Live("building", 33_000_000, 100_000_000, None))
    assert says.todo == "33 %; next time it starts at once."


@pytest.mark.parametrize("code", list(Code))
def test_every_error_has_a_sentence_and_something_to_do(code: Code) -> None:
    says = page_says(replace(ENTRY, state="failed", error=code), None)
    assert says.what.endswith(".")
    assert says.todo
    assert says.ways


@pytest.mark.parametrize(
    ("peak", "speech", "todo"),
    [
        (None, 0, "The recording is silent throughout."),
        (-62.0, 0, "The loudest sound is −62 dBFS, which is very quiet. Nothing in it sounds like a voice."),
        (-3.0, 4_000, "The loudest sound is −3 dBFS. 0:04 of it may be a voice, but no words were recognised."),
    ],
)
def test_no_speech_says_how_loud_it_was(peak: float | None, speech: int, todo: str) -> None:
    entry = replace(ENTRY, state="done", outcome="no_speech", peak_dbfs=peak, speech=speech)
    assert page_says(entry, None).todo == todo


def test_a_finished_text_has_no_bar() -> None:
    assert bar_says(replace(ENTRY, state="done", outcome="text")) is None
    assert bar_says(replace(ENTRY, state="running")) is None


def test_text_appears_as_it_is_found(open_window: OpenWindow, jobs: Jobs, engine: StillEngine) -> None:
    window = open_window()
    job = begin(jobs, engine)
    window.job_list.select(job)
    assert "Transcribing…" in shown_text(window.page.placard)
    engine.say(Partial(job, 0, " Good mor"), SegmentEvent(job, Segment(0, 900, " Good morning.")))
    assert window.page.view.isVisible()
    engine.say(
        SegmentEvent(job, Segment(1000, 1900, " Thank you.")), Progress(job, "transcribing", 50_000, 100_000, 9_000)
    )
    assert [window.page.model.text(row) for row in range(2)] == ["Good morning.", "Thank you."]
    assert window.page.header.line.height() == 2
    engine.say(Done(job, "text", 100_000, 90_000, -3.0))
    assert window.page.header.line.height() == 1
    assert not window.page.bar.isVisible()


def test_a_job_that_fails_half_way_keeps_its_text_and_says_why(
    open_window: OpenWindow, jobs: Jobs, engine: StillEngine
) -> None:
    window = open_window()
    job = begin(jobs, engine)
    window.job_list.select(job)
    engine.say(
        SegmentEvent(job, Segment(0, 900, " Good morning.")), Progress(job, "transcribing", 1_000, 100_000, None)
    )
    engine.say(Failed(job, "out_of_memory", ""))
    assert window.page.view.isVisible()
    assert "There is not enough memory for this model." in shown_text(window.page.bar)
    buttons_of(window.page.bar)["Go on"].click()
    assert jobs.entry(job).state == "running"
    assert not window.page.bar.isVisible()


def test_cancel_and_retry_are_one_click_away(open_window: OpenWindow, jobs: Jobs, engine: StillEngine) -> None:
    window = open_window()
    job = begin(jobs, engine)
    window.job_list.select(job)
    buttons_of(window.page.placard)["Cancel"].click()
    assert jobs.entry(job).state == "cancelled"
    buttons_of(window.page.placard)["Retry"].click()
    assert jobs.entry(job).state == "running"


def test_buttons_of_the_page_mean_its_entry_whatever_is_selected_in_the_list(
    open_window: OpenWindow, jobs: Jobs, library: Library
) -> None:
    add_done(library, "done.wav", "en", segments(ENGLISH, 2), 0)
    failed = library.add(b"/nowhere/failed.wav", Options())
    library.update(failed.id, state="failed", error=Code.NOT_MEDIA)
    window = open_window()
    window.job_list.select(failed.id)
    window.job_list.view.selectionModel().clearSelection()
    buttons_of(window.page.placard)["Retry"].click()
    assert jobs.entry(failed.id).state in {"waiting", "running"}


def test_another_language_is_one_click_away_and_makes_a_new_entry(
    open_window: OpenWindow, jobs: Jobs, library: Library
) -> None:
    entry = add_done(library, "talk.wav", "nl", segments(ENGLISH, 2), 0, 0.41)
    window = open_window()
    assert window.page.header._language.text() == "Dutch 0.41 ▾"
    window.page.header._language.click()
    QTest.keyClicks(window.page.header._picker._field, "germ")
    QTest.keyClick(window.page.header._picker._field, Qt.Key.Key_Return)
    assert window.page.entry is not None
    assert window.page.entry.id != entry.id
    assert window.page.entry.options.language == "de"
    assert jobs.entry(entry.id).language == "nl"


def test_another_model_is_offered_from_those_that_are_here(open_window: OpenWindow, library: Library) -> None:
    entry = library.add(b"/nowhere/failed.wav", Options())
    library.update(entry.id, state="failed", error=Code.OUT_OF_MEMORY)
    window = open_window()
    menu = buttons_of(window.page.placard)["Choose another model"].menu()
    menu.aboutToShow.emit()
    offered = {action.text(): action for action in menu.actions() if action.text()}
    assert list(offered) == ["tiny.en", "base (again)", "small-q5_1", "More models…"]
    offered["tiny.en"].trigger()
    assert window.page.entry is not None
    assert window.page.entry.options.model == "tiny.en"


def test_a_long_transcript_is_read_in_parts_and_what_arrives_meanwhile_is_not_doubled(
    open_window: OpenWindow, jobs: Jobs, engine: StillEngine, library: Library, qtbot: QtBot
) -> None:
    window = open_window()
    job = begin(jobs, engine)
    many = segments("One. | Two.", 3 * AT_A_TURN)
    library.segments.append(job, *many)
    window.page.show_entry(None)
    window.page.show_entry(job)
    assert window.page.model.rowCount() == AT_A_TURN
    last = Segment(many[-1].end + 10, many[-1].end + 90, " Last.")
    engine.say(SegmentEvent(job, last))
    qtbot.waitUntil(lambda: window.page.model.rowCount() == 3 * AT_A_TURN + 1)
    assert window.page.model.text(3 * AT_A_TURN) == "Last."
    engine.say(SegmentEvent(job, replace(last, start=last.start + 100, end=last.end + 100)))
    assert window.page.model.rowCount() == 3 * AT_A_TURN + 2
    assert window.page.view.following


def test_the_page_of_another_file_does_not_move_while_one_runs(
    open_window: OpenWindow, jobs: Jobs, engine: StillEngine, library: Library
) -> None:
    read = add_done(library, "read.wav", "en", segments(ENGLISH, 60), 0)
    window = open_window()
    job = begin(jobs, engine)
    window.job_list.select(read.id)
    before = window.page.grab().toImage()
    engine.say(SegmentEvent(job, Segment(0, 900, " Good morning.")), Partial(job, 900, " Thank"))
    assert window.page.model.rowCount() == 60
    assert window.page.grab().toImage() == before


def test_the_page_is_mirrored_when_the_language_is_found_to_run_to_the_left(
    open_window: OpenWindow, jobs: Jobs, engine: StillEngine
) -> None:
    window = open_window()
    job = begin(jobs, engine, language="he")
    window.job_list.select(job)
    engine.say(SegmentEvent(job, Segment(0, 900, " שלום")))
    sheet = window.page.view.sheet
    assert sheet.time_x > sheet.text_x


def test_the_header_stands_above_the_text_at_every_width(open_window: OpenWindow, library: Library) -> None:
    short = add_done(library, "short.wav", "en", segments(ENGLISH, 2), 0)
    long = add_done(library, "long.wav", "en", segments(ENGLISH, 80), 1)
    window = open_window()
    for entry in (short, long):
        window.job_list.select(entry.id)
        for width in (900, 1280, 1600):
            window.resize(width, 700)
            QApplication.processEvents()
            title = window.page.header._title
            assert title.mapTo(window.page, title.rect().topLeft()).x() == window.page.view.sheet.text_x


def test_jobs_that_were_cut_off_are_offered_as_a_bar(open_window: OpenWindow, jobs: Jobs, library: Library) -> None:
    cut = library.add(b"/nowhere/cut.wav", Options(), 1)
    library.update(cut.id, state="running", duration=100_000)
    library.segments.append(cut.id, *segments(ENGLISH, 3))
    library.segments.settle(cut.id, 12_000)
    add_done(library, "other.wav", "en", segments(ENGLISH, 3), 2)
    window = open_window()
    jobs.queue.start()
    assert "1 transcription was cut off. Go on from 0:12?" in shown_text(window.bar)
    window.job_list.select(cut.id)
    assert not window.bar.isVisible()
    assert "It was cut off at 0:12." in shown_text(window.page.bar)
    window.job_list.select_first()
    buttons_of(window.bar)["Go on"].click()
    assert jobs.entry(cut.id).state == "running"
    assert not window.bar.isVisible()


def test_who_does_not_want_to_go_on_is_not_asked_again(open_window: OpenWindow, jobs: Jobs, library: Library) -> None:
    cut = library.add(b"/nowhere/cut.wav", Options(), 1)
    library.update(cut.id, state="interrupted")
    add_done(library, "other.wav", "en", segments(ENGLISH, 3), 2)
    window = open_window()
    buttons_of(window.bar)["Not now"].click()
    assert not window.bar.isVisible()
    assert jobs.entry(cut.id).state == "cancelled"
