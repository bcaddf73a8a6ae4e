"""The real program, started as a user does, on a screen that nobody sees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.errors import EngineError
from engine.folders import library_file, models_folder
from engine.library import Entry, Library

HEAVY = {"numpy", "onnx", "onnxruntime", "av", "coremltools", "_pywhispercpp", "pywhispercpp", "httpx", "truststore"}

# The real start, with something that happens while the window is there.
MEANWHILE = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.__main__ import main
run = QApplication.exec
def run_and_meanwhile(*_):
    QTimer.singleShot({after}, lambda: {act})
    return run()
QApplication.exec = run_and_meanwhile
sys.exit(main(sys.argv[1:]))
"""
LOOK = MEANWHILE.format(after=500, act="print(*sorted({name.partition('.')[0] for name in sys.modules}), flush=True)")
CLOSE = MEANWHILE.format(after=3000, act="QApplication.closeAllWindows()")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder in which a model seems to be, so that no starter is prepared."""
    (models_folder(tmp_path) / "ggml-none.bin").write_bytes(b"x")
    return tmp_path


Open = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def open_window(data: Path) -> Iterator[Open]:
    """Starts the program as a user does, on a screen that nobody sees."""
    windows: list[subprocess.Popen[str]] = []

    def start(*words: str | bytes | Path, code: str = "") -> subprocess.Popen[str]:
        how = ["-c", code] if code else ["-m", "app"]
        window = subprocess.Popen(
            [sys.executable, *how, "--data-dir", data, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        )
        windows.append(window)
        return window

    yield start
    for window in windows:
        window.kill()
        window.communicate()


def entries(data: Path) -> list[Entry]:
    """What another process reads while the window has the library open."""
    try:
        library = Library.open(library_file(data), writable=False)
    except EngineError:
        return []
    found = library.entries()
    library.close()
    return found


def wait_for(is_so: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_files_on_the_command_line_become_jobs(data: Path, open_window: Open) -> None:
    open_window(b"./models", b"/no such/talk.wav", b"/no/\xff\xfe.wav", b"--", b"-dash.wav", b"transcribe")
    wait_for(lambda: len(entries(data)) == 5)
    here = os.fsencode(Path.cwd()) + b"/"
    absolute = [here + b"models", b"/no such/talk.wav", b"/no/\xff\xfe.wav", here + b"-dash.wav", here + b"transcribe"]
    assert [entry.source for entry in reversed(entries(data))] == absolute


def test_a_second_start_hands_its_files_to_the_first_window(data: Path, open_window: Open) -> None:
    open_window("/first.wav")
    wait_for(lambda: len(entries(data)) == 1)
    second = open_window(b"/second \xff.wav")
    assert second.wait(timeout=30) == 0
    wait_for(lambda: len(entries(data)) == 2)
    assert entries(data)[0].source == b"/second \xff.wav"


def test_the_window_loads_no_machine_learning_and_no_network(data: Path, open_window: Open) -> None:
    window = open_window("/talk.wav", code=LOOK)
    wait_for(lambda: len(entries(data)) == 1)
    assert window.stdout is not None
    loaded = set(window.stdout.readline().split())
    assert "PySide6" in loaded
    assert loaded & HEAVY == set()


def test_a_window_that_hangs_is_said_by_the_second_start(data: Path, open_window: Open) -> None:
    first = open_window("/first.wav")
    wait_for(lambda: len(entries(data)) == 1)
    first.send_signal(signal.SIGSTOP)
    second = open_window("/second.wav")
    _, said = second.communicate(timeout=30)
    first.send_signal(signal.SIGCONT)
    assert second.returncode == 1
    assert "does not answer" in said
    assert str(data / "window.lock") in said


def test_a_library_that_is_none_is_said_and_left_as_it_is(data: Path, open_window: Open) -> None:
    library_file(data).write_bytes(b"this is no library " * 100)
    window = open_window()
    _, said = window.communicate(timeout=30)
    assert window.returncode == 1
    assert "The library file is damaged." in said
    assert library_file(data).read_bytes() == b"this is no library " * 100


def test_closing_the_window_ends_everything_in_silence(data: Path, open_window: Open) -> None:
    window = open_window("/talk.wav", code=CLOSE)
    wait_for(lambda: bool(children_of(window.pid)))
    engines = children_of(window.pid)
    out, said = window.communicate(timeout=30)
    assert (window.returncode, out, said) == (0, "", "")
    assert not any(Path(f"/proc/{pid}").exists() for pid in engines)
    assert not (data / "crash.log").exists()
    assert not (data / "window.lock").exists()


def test_a_killed_window_leaves_no_engine_behind(data: Path, open_window: Open) -> None:
    window = open_window("/first.wav")
    wait_for(lambda: len(entries(data)) == 1)
    wait_for(lambda: bool(children_of(window.pid)))
    engines = children_of(window.pid)
    window.kill()
    window.wait()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in engines))


def children_of(pid: int) -> list[int]:
    """Processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
