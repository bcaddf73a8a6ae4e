"""A recorder without a microphone: it writes what it is given as the real one does, as fast as it is told."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from engine.audio.wav import WavWriter
from engine.recording import Part, RecordingFacts, State, living, part_name, write_facts

_STEP_MS = 100  # as often as the real one writes


class ScriptedRecorder:
    """Makes `folder` and writes float samples into it, shape (frames,) or (frames, channels)."""

    def __init__(self, folder: Path, rate: int, channels: int = 1) -> None:
        folder.mkdir()
        self.folder = folder
        self._held = ExitStack()
        self._held.enter_context(living(folder))
        self._parts: tuple[Part, ...] = ()
        self.wav = self._opened(rate, channels, 0)

    def open(self, rate: int, channels: int = 1, start: int = 0) -> None:
        """End the part and begin another."""
        self.wav.close()
        self.wav = self._opened(rate, channels, start)

    def _opened(self, rate: int, channels: int, start: int) -> WavWriter:
        name = part_name(len(self._parts) + 1)
        wav = WavWriter(self.folder / name, rate, channels)
        self._parts += (Part(name, rate, channels, start),)
        self.say("recording")
        return wav

    def write(self, sound: np.ndarray) -> None:
        pcm = np.round(np.clip(sound, -1, 1) * 32767).astype(np.int16)
        self.wav.append(pcm.reshape(len(pcm), -1))

    def play(self, sound: np.ndarray, speed: float) -> None:
        """Write step by step, `speed` times as fast as it was spoken."""
        step = self.wav.rate * _STEP_MS // 1000
        began = time.monotonic()
        for at in range(0, len(sound), step):
            time.sleep(max(0.0, began + (at + step) / self.wav.rate / speed - time.monotonic()))
            self.write(sound[at : at + step])

    def stop(self) -> None:
        self.wav.close()
        self.say("stopped")
        self._held.close()

    def die(self) -> None:
        """End without a word: recording.json goes on telling that it is being made."""
        self.wav.close()
        self._held.close()

    def in_background(self, sound: np.ndarray, speed: float) -> threading.Thread:
        """Play and stop in a thread, which has begun."""

        def run() -> None:
            self.play(sound, speed)
            self.stop()

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def say(self, state: State) -> None:
        write_facts(self.folder, RecordingFacts("id", 0, "a microphone", state, self._parts))
