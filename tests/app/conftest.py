"""Fixtures for the window's tests: a real child process that speaks the protocol and fails as its file's name says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient
from app.jobs import Jobs
from engine.folders import library_file
from engine.library import Library

SCRIPTED_ENGINE = Path(__file__).with_name("scripted_engine.py")
HANG_MS = 2_000  # longer than a loaded machine takes to start a child


@pytest.fixture
def start_engine(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., EngineClient]]:
    """Makes clients of the scripted engine (tests/app/scripted_engine.py says which names do what)."""
    clients: list[EngineClient] = []

    def start(**changes: Any) -> EngineClient:
        usual = {"program": sys.executable, "arguments": ("-P", str(SCRIPTED_ENGINE)), "hang_ms": HANG_MS}
        clients.append(EngineClient(tmp_path, **usual | changes))
        return clients[-1]

    yield start
    for client in clients:
        client.stop()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """An empty library in the test's own folder."""
    opened = Library.open(library_file(tmp_path), writable=True)
    yield opened
    opened.close()


@pytest.fixture
def jobs(library: Library, start_engine: Callable[..., EngineClient]) -> Iterator[Jobs]:
    """Jobs over an empty library and the scripted engine, started."""
    started = Jobs(library, start_engine())
    started.queue.start()
    yield started
    started.stop()
