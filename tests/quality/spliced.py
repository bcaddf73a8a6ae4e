"""Sentences spliced from single spoken words, so that it is known to the millisecond where each of them lies."""

from __future__ import annotations

import os
import subprocess
import tempfile
import wave
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from timed import Timed

from engine.audio.media import open_media
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS

if TYPE_CHECKING:
    from engine.types import Samples

_AUDIBLE = 0.02  # of the word's peak: where it begins and ends
_PEAK = 0.3
_FLOOR = 0.001  # noise, as in any room
_EDGE_MS = 500  # silence before the first and behind the last word
# Gaps in ms, in turn: words run on closely, with a breath at a comma and a pause at the end of a sentence.
_CLOSE, _COMMA, _STOP = (30, 60, 20, 80), 350, 900

SENTENCES = (
    "Yesterday the seven students carried heavy boxes, and nobody opened a window. Please remember to water my plants.",
    "Modern computers understand spoken language. Every morning, people listen to music before they go to work.",
    "The old captain sailed around the island, because the water was calm. Then he went back home.",
)
VOICES = ("en-us", "en-gb", "en-us+f3")


def spliced(sentence: str, voice: str) -> tuple[Samples, list[Timed]]:
    """The sentence as single words one behind the other, and where each lies."""
    parts, placed = [np.zeros(_EDGE_MS * SAMPLES_PER_MS, np.float32)], list[Timed]()
    at = _EDGE_MS
    for number, written in enumerate(sentence.split()):
        text = written.rstrip(",.")
        sound = _word(text, voice)
        length = len(sound) // SAMPLES_PER_MS
        placed.append(Timed(text.lower(), at, at + length))
        gap = _STOP if written.endswith(".") else _COMMA if written.endswith(",") else _CLOSE[number % len(_CLOSE)]
        parts += [sound[: length * SAMPLES_PER_MS], np.zeros(gap * SAMPLES_PER_MS, np.float32)]
        at += length + gap
    samples = np.concatenate([*parts, parts[0]])
    noise = np.random.default_rng(0).normal(0, _FLOOR, len(samples))
    return (samples / np.abs(samples).max() * _PEAK + noise).astype(np.float32), placed


def write_wav(path: Path, samples: Samples) -> None:
    """16 bits, mono."""
    with wave.open(os.fspath(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((samples * 32767).astype("<i2").tobytes())


@cache
def _word(text: str, voice: str) -> Samples:
    """What is audible of one word, spoken by espeak-ng."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "word.wav")
        subprocess.run(["espeak-ng", "-v", voice, "-s", "150", "-w", file, text], check=True)
        with open_media(file) as media:
            samples = np.concatenate([block.samples for block in media.blocks()])
    loud = np.flatnonzero(np.abs(samples) > _AUDIBLE * np.abs(samples).max())
    return samples[loud[0] : loud[-1] + 1]
