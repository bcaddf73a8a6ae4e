"""A sound server, a talk that goes on, and an ear of its own that hears it, for recordings that are cut off."""

from __future__ import annotations

import os
import wave
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from tests.ear import RATE, Ear
from tests.virtual_mic import VirtualMicrophone

ORDINARY_KILLS = 6
KILLS = int(os.environ.get("SOTTOVOCE_KILLS", str(ORDINARY_KILLS)))
VICTIMS = ("window", "recorder", "worker", "microphone")
_TALK_S = 60


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How much was missing after the kills of each process, and how much memory each took."""
    missing: dict[str, list[float]] = defaultdict(list)
    for report in (one for ended in ("passed", "failed") for one in terminalreporter.getreports(ended)):
        for name, value in report.user_properties:
            if report.when == "call" and name in VICTIMS:
                missing[name].append(float(str(value)))
            elif report.when == "call" and name == "memory":
                terminalreporter.write_line(str(value))
    for name, seconds in missing.items():
        terminalreporter.write_line(
            f"{name:<12}{len(seconds):>3} kills, sound missing: {median(seconds):.2f} s, at most {max(seconds):.2f} s"
        )


@pytest.fixture(scope="session")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A minute of quiet noise, in which every moment is unlike every other."""
    path = tmp_path_factory.mktemp("talk") / "talk.wav"
    noise = np.random.default_rng(5).normal(0, 0.1, RATE * _TALK_S)
    sound = np.convolve(noise, np.hanning(32) / 4, "same").clip(-1, 1)  # dull: the same half a sample later
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes((sound * 32767).astype("<i2").tobytes())
    return path


@pytest.fixture
def ear(microphone: VirtualMicrophone, talk: Path, tmp_path: Path) -> Iterator[Ear]:
    """While it hears, somebody talks."""
    ear = Ear(microphone, tmp_path / "ear.raw")
    player = microphone.play(talk)
    yield ear
    player.kill()
    player.wait()
    ear.close()
