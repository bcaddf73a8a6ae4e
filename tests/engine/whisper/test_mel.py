"""Log-mel is Whisper's: compared with the definition, computed frame by frame in float64 over the whole window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.models.mel_filters import mel_filters
from engine.whisper.mel import log_mel

FILTERS = {80: mel_filters(80), 128: mel_filters(128)}
RATE = 16_000
CLOSE = 1e-4


def defined(samples: NDArray[np.float32], n_mels: int, frames: int) -> NDArray[np.float64]:
    """openai/whisper's log_mel_spectrogram(samples, n_mels, padding=30 s), of which the first `frames` are used:
    short-time Fourier transform with a periodic Hann window of 400 every 160, centred, reflected at both ends.
    """
    whole = np.concatenate([samples.astype(np.float64), np.zeros(30 * RATE)])
    padded = np.pad(whole, 200, mode="reflect")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    spectra = np.stack([np.fft.fft(padded[160 * at : 160 * at + 400] * window)[:201] for at in range(frames)])
    log = np.log10(np.maximum(FILTERS[n_mels].astype(np.float64) @ (np.abs(spectra) ** 2).T, 1e-10))
    return (np.maximum(log, log.max() - 8) + 4) / 4


def noise(count: int, loudness: float = 0.1) -> NDArray[np.float32]:
    return (np.random.default_rng(count).standard_normal(count) * loudness).astype(np.float32)


@pytest.mark.parametrize(
    "count", [0, 1, 2, 39, 40, 41, 120, 160, 199, 200, 201, 202, 399, 400, 401, 1000, *range(4920, 4965, 4), 48_000]
)
def test_sounds_of_any_length_are_whispers_log_mel(count: int) -> None:
    samples = noise(count)
    found = log_mel(samples, FILTERS[80], 400)
    assert found.shape == (80, 400)
    assert found.dtype == np.float32
    assert np.abs(found - defined(samples, 80, 400)).max() < CLOSE


@pytest.mark.parametrize("n_mels", [80, 128])
def test_thirty_seconds_are_whispers_log_mel(n_mels: int) -> None:
    samples = noise(30 * RATE)
    assert np.abs(log_mel(samples, FILTERS[n_mels], 3000) - defined(samples, n_mels, 3000)).max() < CLOSE


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(RATE, np.float32),
        np.ones(RATE, np.float32),
        np.sign(np.sin(np.arange(RATE) * 0.7)).astype(np.float32),
        np.concatenate([noise(8000, 1.0), noise(8000, 1e-6)]),
        np.eye(1, RATE, 5000, dtype=np.float32)[0],
        noise(RATE, 1e-5),
    ],
    ids=["silence", "constant", "square wave", "loud then faint", "click", "faint"],
)
def test_extreme_sounds_are_whispers_log_mel(samples: NDArray[np.float32]) -> None:
    assert np.abs(log_mel(samples, FILTERS[80], 200) - defined(samples, 80, 200)).max() < CLOSE


@pytest.mark.real
def test_speech_is_whispers_log_mel(shared_audio: Path) -> None:
    with open_media(min(shared_audio.rglob("*.flac"))) as media:
        samples = next(iter(media.blocks())).samples
    assert np.abs(samples).max() > 0.05
    assert np.abs(log_mel(samples, FILTERS[80], 3000) - defined(samples, 80, 3000)).max() < CLOSE


@pytest.mark.parametrize("count", [RATE, RATE - 1, 15_950])
def test_a_short_window_is_the_beginning_of_the_whole_one(count: int) -> None:
    """What is trimmed is silence: as long as all sound is inside, fewer frames are a prefix of more."""
    samples = noise(count)
    whole = log_mel(samples, FILTERS[80], 3000)
    np.testing.assert_array_equal(log_mel(samples, FILTERS[80], 102), whole[:, :102])
    assert len(np.unique(whole[:, 102:])) == 1


def test_sound_behind_the_last_frame_is_not_heard() -> None:
    samples = noise(RATE)
    samples[-4000:] = 1.0
    assert np.abs(log_mel(samples, FILTERS[80], 60) - defined(samples, 80, 60)).max() < CLOSE
