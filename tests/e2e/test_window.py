"""The whole program in a real window with a real model: drop, read, export; a crash, a second start, a wrong file."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pysubs2
import pytest

from engine.folders import library_file
from engine.library import Library
from engine.types import Options
from tests.e2e.screen import Screen, wait_for
from tests.e2e.window import ended, entries, open_window, segments

pytestmark = pytest.mark.window

SENTENCE = "Good morning everyone, and welcome to the first meeting of the year."


@pytest.fixture
def talk(speak: Callable[..., Path], tmp_path: Path) -> Path:
    return Path(shutil.copy(speak(SENTENCE), tmp_path / "talk ☃ 1.wav"))


def test_a_dropped_recording_becomes_text_and_a_subtitle_file(
    screen: Screen, data: Path, talk: Path, tmp_path: Path, drag_source: Callable[..., None]
) -> None:
    window = open_window(screen, data)
    drag_source(talk)
    screen.drag((60, 70), (700, 400))
    (entry,) = wait_for(lambda: ended(data), 120)
    assert entry.state == "done", entry.error_detail
    assert "welcome to the first meeting" in " ".join(s.text for s in segments(data, entry)).lower()
    screen.do("windowactivate", "--sync", window)
    screen.do("key", "ctrl+e")
    time.sleep(0.5)
    screen.do("key", "Home", "Return")
    dialog = screen.window("^Export$")
    target = tmp_path / "out.srt"
    screen.do("windowactivate", "--sync", dialog)
    screen.do("key", "ctrl+a")
    screen.do("type", str(target))
    screen.do("key", "Return")
    wait_for(target.exists)
    cues = pysubs2.load(str(target))
    assert "welcome to the first meeting" in " ".join(" ".join(cue.plaintext.split()) for cue in cues).lower()


def test_text_that_stays_after_the_window_was_closed(screen: Screen, data: Path, talk: Path) -> None:
    window = open_window(screen, data, talk)
    (before,) = wait_for(lambda: ended(data), 120)
    words = segments(data, before)
    screen.shut(window, screen.processes[-1])
    open_window(screen, data)
    (after,) = entries(data)
    assert (after.id, after.state) == (before.id, "done")
    assert segments(data, after) == words


def test_a_wrong_file_says_why_and_the_next_one_runs(screen: Screen, data: Path, talk: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "notes.mp3"
    wrong.write_text("these are notes\n" * 100)
    open_window(screen, data, wrong, talk)
    by_name = {entry.title: entry for entry in wait_for(lambda: ended(data, 2), 120)}
    assert by_name["notes.mp3"].error == "not_media"
    assert by_name[talk.name].state == "done"


def test_a_second_start_hands_its_files_to_the_first_window(screen: Screen, data: Path, talk: Path) -> None:
    open_window(screen, data)
    second = screen.start(sys.executable, "-P", "-m", "app", "--data-dir", data, talk)
    assert second.wait(30) == 0
    (entry,) = wait_for(lambda: ended(data), 120)
    assert entry.title == talk.name
    assert len(screen.do("search", "--onlyvisible", "--name", "^Sottovoce$").split()) == 1


def test_a_killed_window_takes_its_engine_along_and_goes_on_at_the_next_start(
    screen: Screen, data: Path, speak: Callable[..., Path]
) -> None:
    long = speak("This sentence is said again and again, and it is never quite over. " * 30)
    script = json.dumps({"window_ms": 4000})
    library = Library.open(library_file(data), writable=True)
    library.add(str(long).encode(), Options(backend="fake"))
    library.close()
    open_window(screen, data, SOTTOVOCE_FAKE=script)
    wait_for(lambda: entries(data)[0].settled > 0, 60)
    program = screen.processes[-1]
    children = psutil.Process(program.pid).children(recursive=True)
    program.kill()
    program.wait(10)
    _gone, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    open_window(screen, data)
    (entry,) = entries(data)
    assert entry.state == "interrupted"
    assert segments(data, entry)


def test_the_window_s_process_has_no_native_machine_learning_library(screen: Screen, data: Path, talk: Path) -> None:
    open_window(screen, data, talk)
    wait_for(lambda: ended(data), 120)
    maps = Path(f"/proc/{screen.processes[-1].pid}/maps").read_text("utf-8")
    loaded = [name for name in ("onnxruntime", "libwhisper", "_pywhispercpp", "libavcodec", "numpy") if name in maps]
    assert loaded == []
