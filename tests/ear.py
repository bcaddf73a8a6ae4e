"""What there was to be heard: another program at the same virtual microphone, for tests that ask what is missing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np

from tests.virtual_mic import VirtualMicrophone

RATE = 44_100  # what PortAudio takes for the rate of an ALSA device without hardware


class Ear:
    """Hears the same microphone as the recorder, by another program: what there was to be heard."""

    def __init__(self, microphone: VirtualMicrophone, file: Path) -> None:
        self._file = file
        command = ["parec", "--device=mic.monitor", "--latency-msec=20", f"--rate={RATE}", "--channels=1"]
        with file.open("wb") as out:
            self._process = subprocess.Popen(
                [*command, "--format=s16le", "--raw"], stdout=out, env=os.environ | microphone.env
            )

    def heard(self) -> np.ndarray:
        """Everything so far."""
        data = self._file.read_bytes()
        return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float64)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
