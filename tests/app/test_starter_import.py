"""The model that came with the installation is prepared in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.starter_import import StarterImport, is_needed
from engine.folders import models_folder
from engine.models.starter import starter_available

PREPARES = "for done in (0, 30, 60): print(done, 60, flush=True)\nprint('base is here: 148 MB, imported')"
FAILS = "import sys; print('noise', file=sys.stderr); sys.exit('sottovoce models: The disk is full.')"


@pytest.fixture
def parent(qtbot: QtBot) -> QObject:
    return QObject()


def scripted(data: Path, parent: QObject, code: str) -> tuple[StarterImport, list[int]]:
    starter = StarterImport(data, parent, sys.executable, ("-c", code))
    shares: list[int] = []
    starter.progress.connect(shares.append)
    return starter, shares


def test_progress_is_told_and_the_end(qtbot: QtBot, tmp_path: Path, parent: QObject) -> None:
    starter, shares = scripted(tmp_path, parent, PREPARES)
    with qtbot.waitSignal(starter.ended, timeout=20_000) as ended:
        starter.start()
    assert ended.args == [""]
    assert shares == [0, 50, 100]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (FAILS, "sottovoce models: The disk is full."),
        ("import os; os._exit(3)", "It ended with code 3."),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "It was stopped by signal SIGSEGV."),
    ],
)
def test_a_failure_says_why(qtbot: QtBot, tmp_path: Path, parent: QObject, code: str, why: str) -> None:
    starter, _ = scripted(tmp_path, parent, code)
    with qtbot.waitSignal(starter.ended, timeout=20_000) as ended:
        starter.start()
    assert ended.args == [why]


def test_a_program_that_is_not_there_says_so(qtbot: QtBot, tmp_path: Path, parent: QObject) -> None:
    starter = StarterImport(tmp_path, parent, "/no/such/program", ())
    with qtbot.waitSignal(starter.ended, timeout=20_000) as ended:
        starter.start()
    assert ended.args != [""]


def test_at_the_end_of_the_window_it_is_gone(qtbot: QtBot, tmp_path: Path, parent: QObject) -> None:
    starter, shares = scripted(tmp_path, parent, "print(1, 2, flush=True); import time; time.sleep(60)")
    starter.start()
    qtbot.waitUntil(lambda: shares == [50], timeout=20_000)
    with qtbot.assertNotEmitted(starter.ended):
        starter.stop()


def test_it_is_needed_only_while_there_is_no_model(tmp_path: Path) -> None:
    assert is_needed(tmp_path) == starter_available()
    (models_folder(tmp_path) / "ggml-tiny.bin").write_bytes(b"x")
    assert not is_needed(tmp_path)
