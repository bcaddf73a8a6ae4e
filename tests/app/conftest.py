"""Fixtures for the window's tests: a real child process that speaks the protocol and fails as its file's name says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient

SCRIPTED_ENGINE = Path(__file__).with_name("scripted_engine.py")


@pytest.fixture
def start_engine(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., EngineClient]]:
    """Makes clients of the scripted engine (tests/app/scripted_engine.py says which names do what)."""
    clients: list[EngineClient] = []

    def start(**changes: Any) -> EngineClient:
        usual = {"program": sys.executable, "arguments": ("-P", str(SCRIPTED_ENGINE))}
        clients.append(EngineClient(tmp_path, **usual | changes))
        return clients[-1]

    yield start
    for client in clients:
        client.stop()
