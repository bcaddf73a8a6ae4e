"""Jobs from the drop to the transcript, over a scripted engine and a real library."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient
from app.jobs import Jobs
from engine.errors import Code
from engine.folders import library_file
from engine.library import Library, State
from engine.types import Options, Segment

OPTIONS = Options()
Drop = Callable[..., list[int]]
Reaches = Callable[[int, State], None]


@pytest.fixture
def drop(jobs: Jobs, tmp_path: Path, qtbot: QtBot) -> Drop:
    """Drops files of these names (without suffix) and gives their ids."""

    def add(*names: str) -> list[int]:
        paths = [os.fsencode(tmp_path / f"{name}.wav") for name in names]
        before = {entry.id for entry in jobs.entries()}
        jobs.add(paths, OPTIONS)
        qtbot.waitUntil(lambda: len(jobs.entries()) == len(before) + len(names))
        return sorted(entry.id for entry in jobs.entries() if entry.id not in before)

    return add


@pytest.fixture
def reaches(jobs: Jobs, qtbot: QtBot) -> Reaches:
    """Waits until a job is in a state."""

    def wait(entry_id: int, state: State) -> None:
        qtbot.waitUntil(lambda: jobs.entry(entry_id).state == state, timeout=30_000)

    return wait


def texts(segments: list[Segment]) -> list[str]:
    return [segment.text for segment in segments]


def test_a_dropped_file_is_transcribed_and_kept_with_all_that_is_known(
    jobs: Jobs, drop: Drop, reaches: Reaches
) -> None:
    (talk,) = drop("talk-3")
    reaches(talk, "done")
    entry = jobs.entry(talk)
    assert texts(jobs.segments(talk)) == [" Sentence 0.", " Sentence 1.", " Sentence 2."]
    assert (entry.duration, entry.settled, entry.speech, entry.peak_dbfs) == (3000, 3000, 2700, -3.5)
    assert (entry.language, entry.language_probability, entry.track_name) == ("en", 0.98, "English")
    assert (entry.model, entry.backend, entry.device, entry.load_ms) == ("base", "fake", "CPU", 120)
    assert entry.outcome == "text"
    assert [notice.code for notice in entry.notices] == ["quiet"]
    assert entry.timings is not None
    assert jobs.live(talk) is None


def test_a_segment_is_stored_before_it_is_shown(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    shown: list[Segment] = []

    def on_segment(entry_id: int, segment: Segment) -> None:
        shown.append(segment)
        assert segment in jobs.segments(entry_id)

    jobs.segment.connect(on_segment)
    (talk,) = drop("talk-5")
    reaches(talk, "done")
    assert shown == jobs.segments(talk)


def test_files_run_one_by_one_in_the_order_they_came(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    order: list[int] = []
    jobs.segment.connect(lambda entry_id, _: order.append(entry_id))
    ids = drop("talk-2", "talk-1", "talk-4")
    reaches(ids[-1], "done")
    assert order == [ids[0]] * 2 + [ids[1]] + [ids[2]] * 4


def test_no_speech_is_its_own_outcome(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    (silent,) = drop("silent")
    reaches(silent, "done")
    assert jobs.entry(silent).outcome == "no_speech"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("die-SIGSEGV", Code.ENGINE_DIED),
        ("die-SIGABRT", Code.ENGINE_DIED),
        ("die-SIGKILL", Code.ENGINE_DIED),
        ("die-SIGILL", Code.CPU_TOO_OLD),
        ("die-exit-1", Code.ENGINE_DIED),
        ("garbage", Code.ENGINE_GARBLED),
        ("hang", Code.ENGINE_HUNG),
    ],
)
def test_two_deaths_on_one_file_end_the_job_and_the_next_runs(
    jobs: Jobs, drop: Drop, reaches: Reaches, name: str, code: Code
) -> None:
    bad, good = drop(name, "talk-3")
    reaches(good, "done")
    entry = jobs.entry(bad)
    assert (entry.state, entry.error, entry.deaths) == ("failed", code, 2)
    assert entry.error_detail
    assert texts(jobs.segments(bad))[:1] == [" Sentence 0."]


@pytest.mark.parametrize("name", ["die-SIGSEGV", "die-SIGKILL", "die-exit-1", "garbage", "hang"])
def test_after_one_death_the_job_goes_on_with_the_same_result(
    jobs: Jobs, drop: Drop, reaches: Reaches, name: str
) -> None:
    said: list[str] = []
    jobs.said.connect(said.append)
    (whole,) = drop("talk-3")
    (cut,) = drop(f"once-{name}")
    reaches(cut, "done")
    assert jobs.segments(cut) == jobs.segments(whole)
    entry = jobs.entry(cut)
    assert entry.deaths == 1
    assert [(notice.code, notice.start) for notice in entry.notices][:1] == [("engine_restarted", 1000)]
    assert (entry.language, entry.language_probability) == ("en", 0.98)
    assert "It goes on from 0:01." in said[0]


def test_what_is_not_settled_is_taken_back_from_the_page(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    cleared: list[list[str]] = []
    jobs.cleared.connect(lambda entry_id: cleared.append(texts(jobs.segments(entry_id))))
    (cut,) = drop("once-die-SIGSEGV")
    reaches(cut, "done")
    assert cleared == [[" Sentence 0."]]


def test_a_failed_file_says_why_and_the_next_one_runs(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    missing, strange, good = drop("missing", "strange", "talk-1")
    reaches(good, "done")
    assert (jobs.entry(missing).state, jobs.entry(missing).error) == ("failed", Code.NOT_FOUND)
    assert jobs.entry(strange).error == Code.INTERNAL
    assert "a_code_of_a_later_version" in jobs.entry(strange).error_detail


def test_events_of_another_job_are_ignored(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    (wrong,) = drop("wrong")
    reaches(wrong, "done")
    assert len(jobs.segments(wrong)) == 3


def test_cancel_is_back_to_idle_at_once_and_keeps_the_text(
    jobs: Jobs, drop: Drop, reaches: Reaches, qtbot: QtBot
) -> None:
    slow, good = drop("slow", "talk-1")
    qtbot.waitUntil(lambda: len(jobs.segments(slow)) >= 2)
    before = time.monotonic()
    jobs.cancel(slow)
    assert time.monotonic() - before < 0.2 * 10
    assert jobs.entry(slow).state == "cancelled"
    assert jobs.live(slow) is None
    kept = jobs.segments(slow)
    assert len(kept) >= 2
    reaches(good, "done")
    assert jobs.segments(slow) == kept


def test_a_waiting_job_can_be_cancelled(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    slow, waiting = drop("slow", "talk-1")
    jobs.cancel(waiting)
    jobs.cancel(slow)
    assert jobs.entry(waiting).state == "cancelled"
    (last,) = drop("talk-2")
    reaches(last, "done")
    assert jobs.segments(waiting) == []


def test_a_cancelled_job_goes_on_where_it_was_settled(jobs: Jobs, drop: Drop, qtbot: QtBot) -> None:
    (slow,) = drop("slow")
    qtbot.waitUntil(lambda: jobs.entry(slow).settled >= 2000)
    jobs.cancel(slow)
    count = len(jobs.segments(slow))
    jobs.go_on(slow)
    qtbot.waitUntil(lambda: len(jobs.segments(slow)) > count + 2)
    starts = [segment.start for segment in jobs.segments(slow)]
    assert starts == [number * 1000 for number in range(len(starts))]


def test_retry_starts_from_nothing(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    (bad,) = drop("die-exit-1")
    reaches(bad, "failed")
    jobs.retry(bad)
    assert jobs.entry(bad).deaths == 0
    assert jobs.entry(bad).error is None
    assert jobs.segments(bad) == []
    reaches(bad, "failed")
    assert jobs.entry(bad).deaths == 2


def test_the_same_file_with_another_model_is_a_new_job(jobs: Jobs, drop: Drop, reaches: Reaches) -> None:
    (talk,) = drop("talk-2")
    reaches(talk, "done")
    jobs.rename(talk, "  The interview ")
    again = jobs.rerun(talk, Options(model="small"))
    reaches(again, "done")
    assert (jobs.entry(again).title, jobs.entry(again).options.model) == ("The interview", "small")
    assert jobs.segments(talk) == jobs.segments(again)


def test_removed_jobs_come_back_by_undo(jobs: Jobs, drop: Drop, reaches: Reaches, qtbot: QtBot) -> None:
    slow, first, second = drop("slow", "talk-1", "talk-2")
    qtbot.waitUntil(lambda: bool(jobs.segments(slow)))
    jobs.remove([slow, first])
    reaches(second, "done")
    assert [entry.id for entry in jobs.entries()] == [second]
    assert jobs.undo_remove()
    reaches(first, "done")
    assert {entry.id: entry.state for entry in jobs.entries()} == {slow: "cancelled", first: "done", second: "done"}
    assert not jobs.undo_remove()


def test_while_held_nothing_runs_and_the_first_row_says_why(
    jobs: Jobs, drop: Drop, reaches: Reaches, qtbot: QtBot
) -> None:
    jobs.queue.hold("preparing the model…")
    first, second = drop("talk-1", "talk-2")
    qtbot.wait(200)
    assert [jobs.entry(entry_id).state for entry_id in (first, second)] == ["waiting", "waiting"]
    assert jobs.queue.why_held == "preparing the model…"
    jobs.queue.hold("")
    reaches(second, "done")


def test_jobs_of_a_dead_window_are_cut_off_or_still_wait(
    tmp_path: Path, start_engine: Callable[..., EngineClient], qtbot: QtBot
) -> None:
    library = Library.open(library_file(tmp_path), writable=True)
    cut = library.add(b"/talk-3.wav", OPTIONS)
    waiting = library.add(b"/talk-2.wav", OPTIONS)
    gone = library.add(b"/talk-2.wav", OPTIONS)
    library.update(cut.id, state="running")
    library.remove([gone.id])
    jobs = Jobs(library, start_engine())
    jobs.queue.start()
    qtbot.waitUntil(lambda: jobs.entry(waiting.id).state == "done")
    assert jobs.entry(cut.id).state == "interrupted"
    with pytest.raises(KeyError):
        jobs.entry(gone.id)
    jobs.stop()
    library.close()


def test_at_quit_the_running_job_counts_as_cut_off(jobs: Jobs, drop: Drop, qtbot: QtBot) -> None:
    slow, waiting = drop("slow", "talk-1")
    qtbot.waitUntil(lambda: bool(jobs.segments(slow)))
    jobs.stop()
    assert (jobs.entry(slow).state, jobs.entry(waiting).state) == ("interrupted", "waiting")


def test_a_flood_of_segments_arrives_whole_and_never_holds_the_loop_for_long(
    jobs: Jobs, drop: Drop, reaches: Reaches
) -> None:
    turns = [time.monotonic()]
    timer = QTimer(interval=0)
    timer.timeout.connect(lambda: turns.append(time.monotonic()))
    timer.start()
    (flood,) = drop("flood-1000")
    reaches(flood, "done")
    timer.stop()
    assert len(jobs.segments(flood)) == 1000
    assert max(after - before for before, after in pairwise(turns)) < 0.05 * 10
