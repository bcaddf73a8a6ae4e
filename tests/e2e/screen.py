"""A real screen of the tests' own: Xvfb with a window manager, the mouse and the keyboard through xdotool."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def wait_for(what: Callable[[], T | None], seconds: float = 60, every: float = 0.1) -> T:
    """What `what` gives as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(every)
    return found


@dataclass
class Screen:
    """A display; programs started on it end with it."""

    display: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
        return {**kept, "DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb"}

    def start(self, *command: str | Path, **more: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [str(part) for part in command],
            env={**self.environment, **more},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.processes.append(process)
        return process

    def do(self, *command: str) -> str:
        """One xdotool command."""
        done = subprocess.run(["xdotool", *command], env=self.environment, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def window(self, name: str) -> str:
        """The id of the first visible window with this in its title, once it is there."""
        return wait_for(lambda: self.do("search", "--onlyvisible", "--name", name)).split()[0]

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press at `start`, move to `end` as a hand does, let go."""
        self.do("mousemove", *map(str, start), "mousedown", "1")
        for step in range(1, 21):
            x, y = (a + (b - a) * step // 20 for a, b in zip(start, end, strict=True))
            self.do("mousemove", str(x), str(y))
            time.sleep(0.03)
        time.sleep(0.3)
        self.do("mouseup", "1")

    def shut(self, window: str, process: subprocess.Popen[bytes]) -> None:
        """Close a window as its user does, until its program has ended: a busy X server loses a key now and then."""

        def pressed() -> bool:
            self.do("windowactivate", "--sync", window)
            self.do("key", "alt+F4")
            with suppress(subprocess.TimeoutExpired):
                process.wait(4)
            return process.returncode is not None

        wait_for(pressed, 20)

    def picture(self, path: Path) -> None:
        """What stands on the screen, as a PNG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["import", "-window", "root", str(path)], env=self.environment, check=False)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a program to end; if it does not, end it."""
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
