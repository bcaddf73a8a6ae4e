"""The window on a real display, with a window manager, a mouse and a keyboard."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.window

ROOT = Path(__file__).resolve().parents[3]
CHILD = Path(__file__).with_name("real_window.py")
NEEDED = ("Xvfb", "openbox", "xdotool")
SECONDS = 20


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A display of its own, with a window manager."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        if os.environ.get("CI"):
            pytest.fail(f"CI needs {', '.join(missing)}")
        pytest.skip(f"a real window needs {', '.join(missing)}")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as number:
        name = f":{number.readline().strip()}"
    manager = subprocess.Popen(["openbox"], env=os.environ | {"DISPLAY": name}, stderr=subprocess.DEVNULL)
    yield name
    for process in (manager, server):
        process.terminate()
        process.wait()


class RealWindow:
    """The child, and hands for it."""

    def __init__(self, display: str, folder: Path, paths: list[Path]) -> None:
        self._environment = os.environ | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(CHILD), str(folder), *map(str, paths)]
        self._child = subprocess.Popen(
            command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        self._answer()

    def state(self) -> dict[str, Any]:
        assert self._child.stdin is not None
        self._child.stdin.write("state\n")
        self._child.stdin.flush()
        return self._answer()

    def wait_for(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The state, once something holds of it."""
        until = time.monotonic() + SECONDS
        while not holds(state := self.state()):
            assert time.monotonic() < until, state
            time.sleep(0.05)
        return state

    def hands(self, *words: str) -> None:
        """What xdotool does."""
        subprocess.run(["xdotool", *words], env=self._environment, check=True, timeout=SECONDS)

    def keys(self, *keys: str) -> None:
        self.hands("key", "--clearmodifiers", *keys)

    def close(self) -> int:
        self._child.communicate("quit\n", SECONDS)
        return self._child.returncode

    def _answer(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        return json.loads(self._child.stdout.readline())


@pytest.fixture
def window(display: str, tmp_path: Path) -> Iterator[RealWindow]:
    recordings = [tmp_path / "dropped one.wav", tmp_path / "dropped two.wav"]
    for path in recordings:
        path.write_bytes(b"x")
    real = RealWindow(display, tmp_path, recordings)
    real.wait_for(lambda state: state["focus"] is not None)
    yield real
    assert real.close() == 0


def test_a_text_is_found_read_and_copied_with_the_keyboard_alone(window: RealWindow) -> None:
    window.keys("ctrl+f")
    window.wait_for(lambda state: state["focus"] == "Search names and text")
    window.hands("type", "--delay", "20", "engine a long way")
    window.keys("Return")
    found = window.wait_for(lambda state: state["focus"] == "Recordings and transcripts")
    assert found["shown"] == "Interview with a beekeeper.m4a"
    assert found["row"] > 0
    window.keys("F6")
    window.wait_for(lambda state: state["focus"] == "Transcript")
    window.keys("Home", "shift+End", "ctrl+c")
    copied = window.wait_for(lambda state: state["copied"])["copied"]
    assert copied.startswith("You hear that? It is a low sound")
    window.keys("F4")
    assert window.wait_for(lambda state: state["details"])


def test_files_are_dragged_onto_the_window_with_a_real_mouse(window: RealWindow) -> None:
    window.hands("mousemove", "60", "90", "mousedown", "1")
    for x, y in ((75, 100), (120, 130), (300, 300), (500, 400), (520, 410)):
        window.hands("mousemove", str(x), str(y))
        time.sleep(0.05)
    window.wait_for(lambda state: state["covered"] == "Drop 2 files to transcribe them")
    window.hands("mouseup", "1")
    state = window.wait_for(lambda state: "dropped two.wav" in state["entries"])
    assert state["entries"][:2] == ["dropped two.wav", "dropped one.wav"]
    assert state["shown"] == "dropped one.wav"
    assert state["covered"] == ""


def test_a_segment_is_removed_from_sight_and_brought_back(window: RealWindow) -> None:
    before = window.state()["entries"]
    window.keys("Delete")
    window.wait_for(lambda state: len(state["entries"]) == len(before) - 1)
    window.keys("ctrl+z")
    assert window.wait_for(lambda state: state["entries"] == before)
