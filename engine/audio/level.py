"""Loudness: how loud a stretch is, and quiet speech made as loud as the models know it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from engine.types import SAMPLES_PER_MS

if TYPE_CHECKING:
    from engine.types import Samples

_QUIET = -20.0  # dBFS: from here on up nothing is changed
_FLOOR = -90.0  # dBFS: below there is nothing but the rounding of 16 bits
_TARGET = -3.0  # dBFS
_MOST_GAIN = 46.0  # dB
_FRAME = 10 * SAMPLES_PER_MS
_CLICK_FRAMES = 5  # 50 ms: a click is shorter, a syllable longer


# dBFS: a recording that was never louder is raised to this for the voice detector. Not higher: where the gain falls,
# because something louder came, the detector is deaf for a moment.
_HEARD_FROM = -45.0
_MOST_RAISE = 40.0  # dB; with more, hiss would come up to the level of speech


class Lift:
    """One gain for a whole recording, from its loudest stretch so far.

    It only ever falls: were every stretch raised by itself, a pause would come up to the level of speech.
    """

    def __init__(self) -> None:
        self._loudest = _FLOOR

    def raised(self, samples: Samples) -> Samples:
        """The next stretch of the recording, louder if the recording is a quiet one."""
        peak = _dbfs(_peak_without_clicks(samples))
        self._loudest = max(self._loudest, _FLOOR if peak is None else peak)
        if self._loudest >= _HEARD_FROM:
            return samples
        return samples * np.float32(10 ** (min(_HEARD_FROM - self._loudest, _MOST_RAISE) / 20))


def peak_dbfs(samples: Samples) -> float | None:
    """The loudest sample in dB of full scale; None for digital silence."""
    return _dbfs(float(np.abs(samples).max(initial=0.0)))


def normalised(samples: Samples) -> Samples:
    """The same stretch with its speech at about -3 dBFS if it was below -20 dBFS; else the samples themselves.

    At most 46 dB are added, and nothing to what is below -90 dBFS. What exceeds full scale afterwards, a click, is cut.
    """
    peak = _dbfs(_peak_without_clicks(samples))
    if peak is None or not _FLOOR <= peak < _QUIET:
        return samples
    gain = 10 ** (min(_TARGET - peak, _MOST_GAIN) / 20)
    return np.clip(samples * np.float32(gain), -1.0, 1.0)


def _peak_without_clicks(samples: Samples) -> float:
    """The peak that is reached in more than 50 ms of the stretch, in frames of 10 ms.

    One click on a microphone must not keep a whisper from being lifted, so the absolute peak will not do. Nor will a
    percentile of the samples: how near it comes to the peak depends on how much of the stretch is silence, and one
    word in 30 s would be lifted far more than a full sentence.
    """
    whole = len(samples) - len(samples) % _FRAME
    if whole <= _CLICK_FRAMES * _FRAME:
        return float(np.abs(samples).max(initial=0.0))
    peaks = np.abs(samples[:whole]).reshape(-1, _FRAME).max(axis=1)
    return float(np.partition(peaks, -1 - _CLICK_FRAMES)[-1 - _CLICK_FRAMES])


def _dbfs(amplitude: float) -> float | None:
    return 20 * math.log10(amplitude) if amplitude > 0 else None
