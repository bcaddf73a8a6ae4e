"""The mel filters that a ggml file carries: triangles on Slaney's scale, as librosa and openai/whisper have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.models.whisper_layout import SPECTRUM
from engine.types import SAMPLE_RATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Slaney's scale (Auditory Toolbox, 1998): linear below 1000 Hz, 200/3 Hz a mel; above it, 27 mels to a factor of 6.4.
_HZ_PER_MEL = 200 / 3
_BEND_HZ = 1000.0
_BEND_MEL = _BEND_HZ / _HZ_PER_MEL
_LOG_STEP = np.log(6.4) / 27


def mel_filters(n_mels: int) -> NDArray[np.float32]:
    """Return the weights (n_mels, 201) of a spectrum's bins, 0 … 8000 Hz; each triangle has the area of one."""
    nyquist = SAMPLE_RATE / 2
    bins = np.linspace(0, nyquist, SPECTRUM)
    top = _BEND_MEL + np.log(nyquist / _BEND_HZ) / _LOG_STEP
    corners = _hz(np.linspace(0, top, n_mels + 2, dtype=np.float64))
    left, middle, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    triangles = np.minimum((bins - left) / (middle - left), (right - bins) / (right - middle))
    return (np.maximum(triangles, 0) * 2 / (right - left)).astype(np.float32)


def _hz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mels < _BEND_MEL, mels * _HZ_PER_MEL, _BEND_HZ * np.exp((mels - _BEND_MEL) * _LOG_STEP))
