"""Jobs that were cut off are offered to go on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient
from app.jobs import Jobs
from app.recovery import Recovery
from engine.library import Library
from engine.types import Options, Segment

Cut = Callable[..., int]


@pytest.fixture
def cut(library: Library) -> Cut:
    """Leaves a job behind as a killed window does."""

    def leave(name: str, settled: int = 0) -> int:
        entry = library.add(f"/{name}.wav".encode(), Options())
        for start in range(0, settled + 1000, 1000):
            library.segments.append(entry.id, Segment(start, start + 900, f" Sentence {start // 1000}."))
        library.segments.settle(entry.id, settled)
        library.update(entry.id, state="running", language="en", language_probability=0.98)
        return entry.id

    return leave


@pytest.fixture
def reopen(library: Library, start_engine: Callable[..., EngineClient]) -> Callable[[], Jobs]:
    """A new window's jobs over the same library."""

    def start() -> Jobs:
        jobs = Jobs(library, start_engine())
        jobs.queue.start()
        return jobs

    return start


def test_nothing_is_offered_when_nothing_was_cut_off(jobs: Jobs) -> None:
    assert Recovery(jobs).offer() == ()
    assert Recovery(jobs).sentence() == ""


def test_a_cut_off_job_goes_on_with_the_same_result(cut: Cut, reopen: Callable[[], Jobs], qtbot: QtBot) -> None:
    entry = cut("talk-3", settled=1000)
    jobs = reopen()
    recovery = Recovery(jobs)
    assert [offered.id for offered in recovery.offer()] == [entry]
    assert recovery.sentence() == "1 transcription was cut off. Go on from 0:01?"
    recovery.go_on()
    qtbot.waitUntil(lambda: jobs.entry(entry).state == "done", timeout=20_000)
    (whole,) = jobs.add([b"/elsewhere/talk-3.wav"], Options())
    qtbot.waitUntil(lambda: jobs.entry(whole).state == "done", timeout=20_000)
    assert jobs.segments(entry) == jobs.segments(whole)
    assert recovery.offer() == ()
    jobs.stop()


def test_several_are_offered_together(cut: Cut, reopen: Callable[[], Jobs]) -> None:
    ids = [cut("a", 5000), cut("b"), cut("c")]
    jobs = reopen()
    assert [entry.id for entry in Recovery(jobs).offer()] == ids
    assert Recovery(jobs).sentence() == "3 transcriptions were cut off. Go on?"
    jobs.stop()


def test_a_declined_offer_is_not_made_again_but_the_job_can_go_on(
    cut: Cut, reopen: Callable[[], Jobs], qtbot: QtBot
) -> None:
    entry = cut("talk-3", settled=1000)
    jobs = reopen()
    Recovery(jobs).decline()
    jobs.stop()
    jobs = reopen()
    assert Recovery(jobs).offer() == ()
    jobs.go_on(entry)
    qtbot.waitUntil(lambda: jobs.entry(entry).state == "done", timeout=20_000)
    assert len(jobs.segments(entry)) == 3
    jobs.stop()


def test_what_was_running_at_quit_is_offered_at_the_next_start(reopen: Callable[[], Jobs], qtbot: QtBot) -> None:
    jobs = reopen()
    (slow,) = jobs.add([b"/slow.wav"], Options())
    qtbot.waitUntil(lambda: jobs.entry(slow).settled >= 1000, timeout=20_000)
    jobs.stop()
    jobs = reopen()
    assert [entry.id for entry in Recovery(jobs).offer()] == [slow]
    jobs.stop()
