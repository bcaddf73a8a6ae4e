"""One window a data folder, with real second processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from app.single_instance import Outcome, SingleInstance, server_name

# A whole second start: says what became of it, and when it is the first, stays until it is killed.
START = """
import os, sys, time
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.single_instance import Outcome, SingleInstance
application = QCoreApplication([])
instance = SingleInstance(Path(sys.argv[1]))
outcome = instance.begin(tuple(map(os.fsencode, sys.argv[2:])))
print(outcome.name, flush=True)
if outcome is Outcome.FIRST:
    instance.files.connect(lambda files: print(files, flush=True))
    application.exec()
"""


def started(data: Path, *files: bytes) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", START, data, *files]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def first(tmp_path: Path) -> Iterator[SingleInstance]:
    instance = SingleInstance(tmp_path)
    assert instance.begin(()) is Outcome.FIRST
    yield instance
    instance.end()


@pytest.mark.parametrize("files", [(), (b"/a b.wav", b"/\xff\xfe\n.wav", "/日本.mp3".encode()), (b"/x" * 100,) * 1000])
def test_a_second_start_hands_its_files_to_the_first_and_ends(
    tmp_path: Path, first: SingleInstance, qtbot: QtBot, files: tuple[bytes, ...]
) -> None:
    with qtbot.waitSignal(first.files, timeout=20_000) as got:
        second = started(tmp_path, *files)
    assert got.args == [files]
    assert second.communicate(timeout=20) == ("HANDED_OVER\n", None)


def test_another_data_folder_is_another_window(tmp_path: Path, first: SingleInstance) -> None:
    (tmp_path / "other").mkdir()
    other = SingleInstance(tmp_path / "other")
    assert other.begin(()) is Outcome.FIRST
    other.end()


def test_a_killed_window_does_not_block_the_next(tmp_path: Path) -> None:
    killed = started(tmp_path)
    assert killed.stdout is not None
    assert killed.stdout.readline() == "FIRST\n"
    killed.kill()
    killed.communicate()
    instance = SingleInstance(tmp_path)
    assert instance.begin(()) is Outcome.FIRST
    instance.end()


def test_a_window_that_hangs_is_not_waited_for_long(tmp_path: Path, first: SingleInstance) -> None:
    before = time.monotonic()
    second = started(tmp_path, b"/a.wav")  # nobody runs the first one's event loop meanwhile
    assert second.communicate(timeout=30)[0] == "NO_ANSWER\n"
    assert time.monotonic() - before < 2 * 10


def test_of_two_starts_at_once_one_is_the_window(tmp_path: Path) -> None:
    starts = [started(tmp_path, f"/{number}.wav".encode()) for number in range(4)]
    outcomes = sorted(start.stdout.readline() for start in starts if start.stdout)
    for start in starts:
        start.kill()
        start.communicate()
    assert outcomes == ["FIRST\n"] + ["HANDED_OVER\n"] * 3


@pytest.mark.parametrize("rubbish", [b"hello\n", b'{"files": [1]}\n', b"\xff\xfe\n", b"\n"])
def test_rubbish_on_the_socket_is_ignored(tmp_path: Path, first: SingleInstance, qtbot: QtBot, rubbish: bytes) -> None:
    socket = QLocalSocket()
    with qtbot.waitSignal(socket.disconnected):
        socket.connectToServer(server_name(tmp_path))
        socket.write(rubbish)
    with qtbot.waitSignal(first.files, timeout=20_000):
        second = started(tmp_path)
    assert second.communicate(timeout=20)[0] == "HANDED_OVER\n"
