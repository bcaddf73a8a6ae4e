"""The same promises with the engine's own worker, its pipeline, and real sound; only the words are scripted."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient
from app.jobs import Jobs
from engine.errors import Code
from engine.library import Entry, Library
from engine.types import Options

FAKE = Options(backend="fake")
SENTENCES = "Every sentence of this talk is as long as it has to be, and then it ends. " * 28  # about two minutes
Run = Callable[..., list[Entry]]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Speech of several windows."""
    file = tmp_path_factory.mktemp("speech") / "talk.wav"
    subprocess.run(["espeak-ng", "-w", file, SENTENCES], check=True)
    return file


@pytest.fixture(scope="module")
def remark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Speech of one window."""
    file = tmp_path_factory.mktemp("speech") / "remark.wav"
    subprocess.run(["espeak-ng", "-w", file, "This is short, but it is speech."], check=True)
    return file


@pytest.fixture
def run(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Iterator[Run]:
    """Runs files through a worker that follows a script, and gives their entries in order."""
    running: list[Jobs] = []

    def begin(script: dict[str, object], *files: Path) -> list[Entry]:
        monkeypatch.setenv("SOTTOVOCE_FAKE", json.dumps({"text": "Words as scripted."} | script))
        jobs = Jobs(library, EngineClient(tmp_path, hang_ms=5_000))
        running.append(jobs)
        jobs.queue.start()
        before = {entry.id for entry in jobs.entries()}
        jobs.add([os.fsencode(file) for file in files], FAKE)

        def mine() -> list[Entry]:
            return [entry for entry in reversed(jobs.entries()) if entry.id not in before]

        def all_ended() -> bool:
            return len(mine()) == len(files) and all(entry.state in ("done", "failed") for entry in mine())

        qtbot.waitUntil(all_ended, timeout=60_000)
        jobs.stop()
        return mine()

    yield begin
    for jobs in running:
        jobs.stop()


def test_a_recording_becomes_a_transcript(run: Run, library: Library, talk: Path) -> None:
    (entry,) = run({"segments": 4}, talk)
    segments = library.segments.read(entry.id)
    assert (entry.state, entry.outcome, entry.language) == ("done", "text", "en")
    assert len(segments) >= 8
    assert all(segment.end <= (entry.duration or 0) for segment in segments)
    assert entry.timings is not None


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("SIGSEGV", Code.ENGINE_DIED),
        ("SIGABRT", Code.ENGINE_DIED),
        ("SIGKILL", Code.ENGINE_DIED),
        ("exit", Code.ENGINE_DIED),
        ("garbage", Code.ENGINE_GARBLED),
        ("hang", Code.ENGINE_HUNG),
    ],
)
def test_two_deaths_end_the_job_and_the_next_one_runs(
    run: Run, library: Library, talk: Path, remark: Path, how: str, code: Code
) -> None:
    dead, alive = run({"die": how, "die_at": 1}, talk, remark)
    assert (dead.state, dead.error, dead.deaths) == ("failed", code, 2)
    assert library.segments.read(dead.id)  # the first window stands
    assert alive.state == "done"


@pytest.mark.parametrize("how", ["SIGSEGV", "hang"])
def test_a_file_that_survives_a_death_has_the_same_text(
    run: Run, library: Library, tmp_path: Path, talk: Path, how: str
) -> None:
    (whole,) = run({"segments": 3}, talk)
    (cut,) = run({"segments": 3, "die": how, "die_at": 1, "once": str(tmp_path / "died")}, talk)
    assert (cut.state, cut.deaths) == ("done", 1)
    assert library.segments.read(cut.id) == library.segments.read(whole.id)
    assert (cut.duration, cut.speech, cut.outcome) == (whole.duration, whole.speech, whole.outcome)


def test_a_worker_that_dies_while_it_loads_costs_no_more_than_its_file(
    run: Run, talk: Path, remark: Path, tmp_path: Path
) -> None:
    survived, after = run({"die": "SIGSEGV", "die_at": -1, "once": str(tmp_path / "died")}, remark, talk)
    assert (survived.state, survived.deaths, after.state) == ("done", 1, "done")


@pytest.mark.parametrize("how", ["SIGSEGV", "garbage", "hang"])
def test_a_job_whose_engine_dies_on_the_gpu_goes_on_on_the_cpu(
    run: Run, library: Library, talk: Path, remark: Path, how: str
) -> None:
    (whole,) = run({"segments": 3}, talk)
    cut, after = run({"segments": 3, "die": how, "die_at": 1, "gpu": True}, talk, remark)
    assert (cut.state, cut.deaths, after.state, after.deaths) == ("done", 1, "done", 0)
    assert "gpu_failed" in [notice.code for notice in cut.notices]
    assert library.segments.read(cut.id) == library.segments.read(whole.id)


def test_what_is_no_recording_fails_in_one_sentence(run: Run, tmp_path: Path, remark: Path) -> None:
    (tmp_path / "notes.mp3").write_text("these are notes\n" * 50)
    (tmp_path / "empty.wav").touch()
    notes, empty, gone, good = run({}, tmp_path / "notes.mp3", tmp_path / "empty.wav", tmp_path / "gone.wav", remark)
    assert [entry.error for entry in (notes, empty, gone)] == [Code.NOT_MEDIA, Code.EMPTY_FILE, Code.NOT_FOUND]
    assert good.state == "done"
