"""Fixtures for all tests: where the real recordings are, and Qt without a screen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
