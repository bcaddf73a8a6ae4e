"""Several channels into one, without losing the voice.

Averaging is right for most recordings and wrong for two kinds: channels of opposite polarity, which cancel, and
channels without sound, which only make the others quieter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from engine.types import SAMPLE_RATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.types import Samples

    Sound: TypeAlias = NDArray[np.float32]  # shape (samples, channels)

_LOUDEST = 32.0  # 30 dB above full scale: recorders in float go there, beyond it is damage
_SILENT = 1e-9  # mean square: -90 dBFS, below the noise of any microphone, above the dither of 16 bits
_EMPTY = 1e-5  # of the loudest channel's power: 50 dB below it a channel adds nothing
_CANCELLED = 0.05  # of the channels' power left in their average: 13 dB lost
_OFTEN = 0.25  # of the seconds with sound


def to_mono(sound: Sound) -> tuple[Samples, bool]:
    """One channel of the same length from sound of shape (samples, channels), and whether its two channels cancel.

    The choice holds for the whole of `sound`, so that it cannot flip back and forth within it.
    """
    channels = np.array(sound.T, order="C")
    np.nan_to_num(channels, copy=False, nan=0.0)
    np.clip(channels, -_LOUDEST, _LOUDEST, out=channels)
    if len(channels) == 1:
        return channels[0], False
    powers = [_power(channel) for channel in channels]
    carrying = [place for place, power in enumerate(powers) if power >= max(powers) * _EMPTY]
    mono = channels[carrying].sum(axis=0) / np.float32(len(carrying))
    if len(channels) == len(carrying) == 2 and _cancels(channels, mono):
        # Left unless right is clearly louder: a choice by a hair would change sides from block to block.
        return channels[1 if powers[1] > 4 * powers[0] else 0], True
    return mono, False


def _cancels(channels: NDArray[np.float32], average: Samples) -> bool:
    """Whether averaging the two takes away most of what is heard, in a good part of the seconds with sound.

    Looked at by the second, since music in phase can be far louder than the voice before or after it. That so little
    power is left already means that the channels correlate below -0.9: with L and R of powers l and r and a mean
    product c, the average has (l + r + 2c) / 4, which is below 5 % of (l + r) / 2 only if -2c > 0.9 (l + r).
    """
    heard = cancelled = 0
    for start in range(0, len(average), SAMPLE_RATE):
        second = slice(start, start + SAMPLE_RATE)
        power = (_power(channels[0, second]) + _power(channels[1, second])) / 2
        if power < _SILENT:
            continue
        heard += 1
        cancelled += _power(average[second]) < _CANCELLED * power
    return cancelled > 0 and cancelled >= _OFTEN * heard


def _power(samples: Samples) -> float:
    """The mean square. By einsum: faster than squaring first, and unlike a dot product in this thread alone."""
    return float(np.einsum("i,i->", samples, samples)) / max(1, len(samples))
