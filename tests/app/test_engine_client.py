"""One engine process, warm, and every way it can end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient
from app.worker_process import LINES_AT_ONCE
from engine.endings import Death
from engine.errors import Code
from engine.protocol import Done, Event, Loaded, Partial, Progress, Ready, SegmentEvent, Started, Transcribe
from engine.types import Options

Start = Callable[..., EngineClient]


class Heard:
    """What a client has said so far."""

    def __init__(self, client: EngineClient) -> None:
        self.events: list[Event] = []
        self.deaths: list[Death] = []
        client.events.connect(self.events.extend)
        client.died.connect(self.deaths.append)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def pids(self) -> list[int]:
        return [event.pid for event in self.events if isinstance(event, Ready)]


def asked(name: str, job: int = 1) -> Transcribe:
    return Transcribe(job, os.fsencode(name), Options())


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_file_gives_its_events_in_order(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    client.begin(asked("talk-3.wav"))
    qtbot.waitUntil(lambda: bool(heard.of(Done)), timeout=20_000)
    kinds = [type(event) for event in heard.events if isinstance(event, Ready | Started | Loaded | SegmentEvent | Done)]
    assert kinds == [Ready, Started, Loaded, SegmentEvent, SegmentEvent, SegmentEvent, Done]
    assert heard.deaths == []


def test_one_warm_process_takes_one_file_after_the_other(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    client.start()
    qtbot.waitUntil(lambda: len(heard.pids) == 1)
    for job in (1, 2, 3):
        client.begin(asked("talk-1.wav", job))
        qtbot.waitUntil(lambda job=job: len(heard.of(Done)) == job)
    assert len(heard.pids) == 1


def test_a_process_is_replaced_after_its_share_of_files(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine(files_a_process=2)
    heard = Heard(client)
    for job in (1, 2, 3, 4, 5):
        client.begin(asked("talk-1.wav", job))
        qtbot.waitUntil(lambda job=job: len(heard.of(Done)) == job)
    assert len(set(heard.pids)) == 3
    assert heard.deaths == []


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("die-SIGSEGV", Code.ENGINE_DIED, "stopped by signal SIGSEGV"),
        ("die-SIGABRT", Code.ENGINE_DIED, "stopped by signal SIGABRT"),
        ("die-SIGKILL", Code.ENGINE_DIED, "perhaps for lack of memory"),
        ("die-SIGILL", Code.CPU_TOO_OLD, "an instruction that this processor does not have"),
        ("die-exit-1", Code.ENGINE_DIED, "ended with code 1"),
        ("garbage", Code.ENGINE_GARBLED, "this is not JSON"),
        ("endless", Code.ENGINE_GARBLED, "in one line"),
        ("hang", Code.ENGINE_HUNG, "No sign of life for 2 s"),
        ("chatter", Code.ENGINE_HUNG, "No sign of life for 2 s"),
    ],
)
def test_every_bad_end_is_said_once_and_the_next_file_runs(
    qtbot: QtBot, start_engine: Start, name: str, code: Code, words: str
) -> None:
    client = start_engine()
    heard = Heard(client)
    client.start()
    qtbot.waitUntil(lambda: len(heard.pids) == 1)
    client.begin(asked(f"{name}.wav"))
    qtbot.waitUntil(lambda: bool(heard.deaths), timeout=20_000)
    assert heard.deaths[0].code == code
    assert words in heard.deaths[0].detail
    client.begin(asked("talk-2.wav", 2))
    qtbot.waitUntil(lambda: bool(heard.of(Done)), timeout=20_000)
    assert len(heard.deaths) == 1
    qtbot.waitUntil(lambda: is_gone(heard.pids[0]))


def test_what_came_before_the_death_arrives_before_it(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    order: list[str] = []
    client.events.connect(lambda events: order.extend(type(event).__name__ for event in events))
    client.died.connect(lambda _: order.append("death"))
    client.begin(asked("die-SIGSEGV.wav"))
    qtbot.waitUntil(lambda: bool(heard.deaths), timeout=20_000)
    assert order[-4:] == ["SegmentEvent", "Progress", "SegmentEvent", "death"]


def test_the_last_words_of_the_engine_are_kept(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    client.begin(asked("die-SIGABRT.wav"))
    qtbot.waitUntil(lambda: bool(heard.deaths), timeout=20_000)
    assert heard.deaths[0].detail.splitlines()[-1] == "about to end by SIGABRT"


@pytest.mark.parametrize("program", ["/no/such/program", "/etc/passwd"])
def test_an_engine_that_cannot_start_says_so(qtbot: QtBot, start_engine: Start, program: str) -> None:
    client = start_engine(program=program)
    heard = Heard(client)
    client.begin(asked("talk-1.wav"))
    qtbot.waitUntil(lambda: bool(heard.deaths), timeout=20_000)
    assert heard.deaths[0].code == Code.ENGINE_NOT_STARTED
    assert heard.deaths[0].detail


def test_a_kill_returns_at_once_and_nothing_of_the_old_process_arrives(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    client.begin(asked("slow.wav"))
    qtbot.waitUntil(lambda: bool(heard.of(SegmentEvent)))
    before = time.monotonic()
    client.kill()
    client.begin(asked("talk-1.wav", 2))
    assert time.monotonic() - before < 0.05 * 10
    heard.events.clear()
    qtbot.waitUntil(lambda: bool(heard.of(Done)), timeout=20_000)
    assert all(event.job == 2 for event in heard.events if not isinstance(event, Ready))
    assert heard.deaths == []


def test_quitting_leaves_no_process_behind(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    client.start()
    qtbot.waitUntil(lambda: len(heard.pids) == 1)
    client.kill()
    client.begin(asked("slow.wav"))
    qtbot.waitUntil(lambda: bool(heard.of(SegmentEvent)))
    client.stop()
    assert all(map(is_gone, heard.pids))


def test_a_flood_holds_no_turn_of_the_event_loop(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    sizes: list[int] = []
    client.events.connect(lambda events: sizes.append(len(events)))
    client.begin(asked("flood-5000.wav"))
    qtbot.waitUntil(lambda: bool(heard.of(Done)), timeout=20_000)
    assert len(heard.of(SegmentEvent)) == 5000
    assert max(sizes) <= LINES_AT_ONCE


def test_a_folder_called_engine_in_the_data_folder_is_not_imported(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('the wrong engine')")
    client = EngineClient(tmp_path, sys.executable, ("-P", "-c", "import engine.protocol, os; os._exit(7)"))
    heard = Heard(client)
    client.start()
    qtbot.waitUntil(lambda: bool(heard.deaths), timeout=20_000)
    assert heard.deaths[0].detail == "It ended with code 7."


def test_progress_partials_and_segments_are_signs_of_life(qtbot: QtBot, start_engine: Start) -> None:
    client = start_engine()
    heard = Heard(client)
    client.begin(asked("slow.wav"))
    qtbot.wait(4000)
    client.kill()
    assert heard.deaths == []
    assert heard.of(Progress)
    assert heard.of(Partial)
