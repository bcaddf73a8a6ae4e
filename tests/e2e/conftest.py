"""A real screen of the tests' own: Xvfb with a window manager."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.screen import Screen, end


@pytest.fixture
def screen() -> Iterator[Screen]:
    """A screen of 1280 × 800."""
    reader, writer = os.pipe()
    with ExitStack() as stack:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
            pass_fds=[writer],
            stderr=subprocess.DEVNULL,
        )
        os.close(writer)
        stack.callback(end, server)
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        shown = Screen(f":{number}")
        stack.callback(lambda: [end(process) for process in reversed(shown.processes)])
        shown.start("openbox")
        yield shown


@pytest.fixture
def drag_source(screen: Screen) -> Callable[..., None]:
    """Puts a window with files to drag at the top left."""

    def show(*files: Path) -> None:
        screen.start(sys.executable, Path(__file__).with_name("drag_source.py"), *files)
        window = screen.window("drag source")
        screen.do("windowmove", "--sync", window, "0", "0")

    return show


@pytest.fixture
def data(data_with_models: Path, tmp_path: Path) -> Path:
    """A data folder of the test's own, with the models by hard link."""
    folder = tmp_path / "data"
    shutil.copytree(data_with_models / "models", folder / "models", copy_function=lambda a, b: Path(b).hardlink_to(a))
    for record in (folder / "models").glob("*.json"):
        text = record.read_bytes()
        record.unlink()
        record.write_bytes(text)
    return folder
