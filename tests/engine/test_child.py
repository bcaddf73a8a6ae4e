"""The worker of the command line: what hangs or dies costs one file, and a GPU that it died on is not used again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.backends import fake
from engine.child import EngineProcess
from engine.errors import Code
from engine.protocol import Done, Event, Failed, Loaded, Transcribe
from engine.types import Options

FAKE = Options(backend="fake", language="en")
HANG_MS = 4_000  # longer than a loaded machine takes to start a child
Run = Callable[[int], list[Event]]


@pytest.fixture
def run(tmp_path: Path, speak: Callable[..., Path]) -> Iterator[Run]:
    """Runs the same talk as a job of this number."""
    engine = EngineProcess(tmp_path, HANG_MS)
    talk = os.fsencode(speak("This is short, but it is speech."))
    yield lambda job: list(engine.events(Transcribe(job, talk, FAKE)))
    engine.close()


def on_gpu(events: list[Event]) -> list[bool]:
    return [event.gpu for event in events if isinstance(event, Loaded)]


def scripted(monkeypatch: pytest.MonkeyPatch, **script: object) -> None:
    monkeypatch.setenv(fake.VARIABLE, json.dumps(script))


def test_a_worker_that_hangs_is_ended_and_the_next_file_runs(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripted(monkeypatch, die="hang", once=str(tmp_path / "hung"))
    assert run(1)[-1] == Failed(1, Code.ENGINE_HUNG, "No sign of life for 4 s.")
    assert isinstance(run(2)[-1], Done)


@pytest.mark.parametrize("how", ["SIGSEGV", "hang"])
def test_a_death_on_a_gpu_keeps_later_files_off_it(run: Run, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    scripted(monkeypatch, die=how, gpu=True)
    dead, alive = run(1), run(2)
    assert (on_gpu(dead), on_gpu(alive)) == ([True], [False])
    assert isinstance(dead[-1], Failed)
    assert isinstance(alive[-1], Done)


def test_a_death_on_the_cpu_says_nothing_about_a_gpu(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scripted(monkeypatch, die="SIGSEGV", once=str(tmp_path / "died"))
    assert isinstance(run(1)[-1], Failed)
    assert not (tmp_path / "state" / "gpu.json").exists()
