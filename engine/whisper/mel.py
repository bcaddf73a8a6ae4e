"""Log-mel spectrogram as Whisper's (openai/whisper, audio.py): 25 ms Hann windows every 10 ms, to 1e-4.

Written for windows that are cut out of a longer file: what is computed is the window with silence behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.types import SAMPLE_RATE

if TYPE_CHECKING:
    from engine.types import Samples

N_FFT = 400
HOP = 160
FRAMES_PER_SECOND = SAMPLE_RATE // HOP
MAX_FRAMES = 30 * FRAMES_PER_SECOND
_FLOOR = 1e-10
_RANGE = 8.0  # decades below the loudest that are kept
_HANN = np.hanning(N_FFT + 1)[:-1].astype(np.float32)  # the periodic window, as torch.hann_window's


def log_mel(samples: Samples, filters: NDArray[np.float32], frames: int) -> NDArray[np.float32]:
    """(n_mels, frames) of `samples` followed by silence up to `frames` · 10 ms.

    `filters` is (n_mels, 201), as the model file has it. The padding behind is computed as silence: its frames are
    all at the floor, except the one or two that reach back into the sound.
    """
    sound = min(frames, (len(samples) + N_FFT // 2 - 1) // HOP + 1)  # frames that any sample reaches
    padded = np.zeros((sound - 1) * HOP + N_FFT + 1, np.float32)
    usable = samples[: len(padded) - N_FFT // 2]
    padded[N_FFT // 2 : N_FFT // 2 + len(usable)] = usable
    padded[: N_FFT // 2] = padded[N_FFT : N_FFT // 2 : -1]  # torch.stft reflects at the start
    windows = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP]
    spectrum = np.fft.rfft(windows * _HANN, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    log = np.full((len(filters), frames), np.log10(_FLOOR), np.float32)
    log[:, :sound] = np.log10(np.maximum(filters @ power.T, _FLOOR))
    return ((np.maximum(log, log.max() - _RANGE) + 4.0) / 4.0).astype(np.float32)
