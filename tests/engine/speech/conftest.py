"""Voices for these tests: one made on the spot, the real recordings, and a detector that says what it is told."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.speech.vad import FRAME_MS, SpeechDetector
from engine.speech.windows import Window, windows
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS, AudioBlock

if TYPE_CHECKING:
    from engine.types import Samples

FRAME = FRAME_MS * SAMPLES_PER_MS


class Scripted(SpeechDetector):
    """Gives probabilities from a list, whatever it hears: a source of data for the windows."""

    def __init__(self, script: Sequence[float]) -> None:
        self._script = np.asarray(script, np.float32)
        self._at = 0

    def probabilities(self, samples: Samples) -> NDArray[np.float32]:
        assert len(samples) % FRAME == 0
        first, self._at = self._at, self._at + len(samples) // FRAME
        return self._script[first : self._at]


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def cut() -> Callable[..., Iterator[AudioBlock]]:
    """cut(samples, ms) -> consecutive blocks of so many milliseconds."""

    def blocks(samples: Samples, ms: int = 5_000) -> Iterator[AudioBlock]:
        for start in range(0, len(samples), ms * SAMPLES_PER_MS):
            yield AudioBlock(start // SAMPLES_PER_MS, samples[start : start + ms * SAMPLES_PER_MS])

    return blocks


@pytest.fixture(scope="session")
def collect(cut: Callable[..., Iterator[AudioBlock]]) -> Callable[..., list[Window]]:
    """collect(samples, detector, ms) -> all windows of a recording."""

    def run(samples: Samples, detector: SpeechDetector | None, ms: int = 5_000) -> list[Window]:
        return [window for window in windows(cut(samples, ms), detector) if window]

    return run


@pytest.fixture(scope="session")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """A sentence of espeak-ng between half seconds of near-silence, 16 kHz."""
    path = tmp_path_factory.mktemp("voice") / "spoken.wav"
    text = "The first printed books were made to look like books written by hand."
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", path, text], check=True)
    with open_media(path) as media:
        voice = np.concatenate([block.samples for block in media.blocks()])
    quiet = np.random.default_rng(1).normal(0, 1e-4, SAMPLE_RATE // 2).astype(np.float32)
    return np.concatenate([quiet, voice, quiet])


@pytest.fixture(scope="session")
def real(shared_audio: Path) -> Callable[[str], Samples]:
    """real("speech/en_LJ001-0001.wav") -> its samples as the engine hears them."""

    def load(name: str) -> Samples:
        with open_media(shared_audio / name) as media:
            return np.concatenate([np.zeros(0, np.float32), *(block.samples for block in media.blocks())])

    return load
