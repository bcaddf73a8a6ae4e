"""How loud the microphone is, whether it gives anything at all, and whether someone speaks."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from engine.audio.wav import Pcm

FLOOR_DBFS = -100.0  # told for digital silence
_FULL = 32768.0
_EVERY = 1 / 30  # seconds
_SILENT_MS = 2000
_WAITING_S = 2.0  # of sound at most wait for the voice detector; beyond that it is too slow, and leaves some out
_SPEECH = 0.5  # probability; Silero's own threshold
_SPEECH_HOLDS = 0.3  # seconds, so that the light does not flicker between two words


@dataclass(frozen=True, slots=True)
class Loudness:
    """In dBFS, since the last one."""

    peak: float
    rms: float


class Meter:
    """Sums up what it is fed until it is time to show it."""

    def __init__(self) -> None:
        self._peak = 0
        self._squares = 0.0
        self._count = 0
        self._shown_at = 0.0
        self._zeros = 0  # ms
        self._told = False

    def feed(self, samples: Pcm, rate: int) -> Loudness | None:
        """Take int16 frames; the loudness when it is time, at most 30 times a second."""
        values = samples.astype(np.float32).ravel()
        if not len(values):
            return None
        peak = int(np.abs(values).max())
        self._zeros = 0 if peak else self._zeros + len(samples) * 1000 // rate
        self._peak = max(self._peak, peak)
        self._squares += float(values @ values)
        self._count += len(values)
        now = time.monotonic()
        if now - self._shown_at < _EVERY:
            return None
        loudness = Loudness(_dbfs(self._peak), _dbfs((self._squares / self._count) ** 0.5))
        self._peak, self._squares, self._count, self._shown_at = 0, 0.0, 0, now
        return loudness

    def became_silent(self) -> bool:
        """Whether there are now two seconds of nothing but zeros; told once, until something was heard again."""
        silent = self._zeros >= _SILENT_MS
        news = silent and not self._told
        self._told = silent
        return news


class SpeechLight:
    """Whether someone speaks, found in a thread of its own that delays nobody and may miss something."""

    def __init__(self) -> None:
        self._packets: queue.SimpleQueue[tuple[Pcm, int]] = queue.SimpleQueue()
        self._fed = self._heard = 0.0  # seconds; each is changed by one thread alone
        self._heard_at = float("-inf")
        threading.Thread(target=self._listen, name="speech light", daemon=True).start()

    @property
    def is_on(self) -> bool:
        """Someone spoke a moment ago."""
        return time.monotonic() - self._heard_at < _SPEECH_HOLDS

    def feed(self, samples: Pcm, rate: int) -> None:
        """Take int16 frames, shape (frames, channels)."""
        if self._fed - self._heard < _WAITING_S:
            self._fed += len(samples) / rate
            self._packets.put((samples, rate))

    def _listen(self) -> None:
        try:
            from av.audio.frame import AudioFrame  # noqa: PLC0415 (the recording does not wait for these)

            from engine.audio.channels import to_mono  # noqa: PLC0415
            from engine.audio.resample import Resampler  # noqa: PLC0415
            from engine.speech.vad import SpeechDetector  # noqa: PLC0415
        except ImportError:
            return  # no light, but a recording all the same
        resampler, detector = Resampler(), SpeechDetector()
        while True:
            samples, rate = self._packets.get()
            mono = samples.astype(np.float32).mean(axis=1) / _FULL
            frame = AudioFrame.from_ndarray(mono.reshape(1, -1), format="flt", layout="mono")
            frame.sample_rate = rate
            for sound in resampler.feed(frame):
                if (detector.probabilities(to_mono(sound)[0]) >= _SPEECH).any():
                    self._heard_at = time.monotonic()
            self._heard += len(samples) / rate


def _dbfs(value: float) -> float:
    return round(max(FLOOR_DBFS, 20 * float(np.log10(value / _FULL))), 1) if value else FLOOR_DBFS
