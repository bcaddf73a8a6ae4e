"""A display counts when it answers, not when it is only named."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.display import has_display


@pytest.fixture(autouse=True)
def shell_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def x_display() -> Iterator[str]:
    """A display that answers."""
    reading, writing = os.pipe()
    with subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing)], pass_fds=[writing], stderr=subprocess.DEVNULL
    ) as server:
        os.close(writing)
        with open(reading, encoding="ascii") as number:
            yield f":{number.readline().strip()}"
        server.terminate()


def test_a_display_counts_when_it_answers(x_display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_display()
    monkeypatch.setenv("DISPLAY", ":987")
    assert not has_display()
    monkeypatch.setenv("DISPLAY", x_display)
    assert has_display()


def test_a_wayland_display_counts_when_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")
    assert not has_display()
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-7"))
        compositor.listen()
        assert has_display()
