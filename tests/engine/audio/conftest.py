"""Recordings made on the spot by ffmpeg and espeak-ng, and the ears of these tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import av
import numpy as np
import pytest
from av.packet import Packet

from engine.audio.media import Media, open_media
from engine.audio.notices import MediaNotice
from engine.types import SAMPLE_RATE, WINDOW_MS

if TYPE_CHECKING:
    from engine.types import Samples

TONE = "0.5*sin(2*PI*440*t)"


class Heard(NamedTuple):
    """A whole file as the engine gets it."""

    samples: Samples
    notices: list[MediaNotice]
    media: Media

    @property
    def ms(self) -> float:
        return len(self.samples) * 1000 / SAMPLE_RATE

    @property
    def codes(self) -> list[str]:
        return [notice.code for notice in self.notices]

    def between(self, start: int, end: int) -> Samples:
        return self.samples[start * SAMPLE_RATE // 1000 : end * SAMPLE_RATE // 1000]


Make: TypeAlias = Callable[..., Path]
Listen: TypeAlias = Callable[..., Heard]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """make("name.ext", *ffmpeg arguments) -> the file; else a tone of 440 Hz, amplitude 0.5, 3 s, stereo."""
    folder = tmp_path_factory.mktemp("media")

    def run(name: str, *arguments: str, tone: str = f"{TONE}|{TONE}", seconds: float = 3, rate: int = 44_100) -> Path:
        path = folder / name
        if not path.exists():
            source = ["-f", "lavfi", "-i", f"aevalsrc={tone}:d={seconds}:s={rate}"]
            given = list(arguments)
            inputs = given if "-i" in given else source + given
            subprocess.run(
                ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *inputs, "-bitexact", f"file:{path}"], check=True
            )
        return path

    return run


@pytest.fixture(scope="session")
def listen() -> Listen:
    """listen(path, track=None) -> Heard, with the promises of every block looked at."""

    def run(path: str | bytes | os.PathLike[str], track: int | None = None) -> Heard:
        with open_media(path, track) as media:
            parts: list[Samples] = []
            position = 0
            for block in media.blocks():
                assert block.start * SAMPLE_RATE == position * 1000, "blocks follow one another, whole ms apart"
                assert block.samples.dtype == np.float32
                assert block.samples.ndim == 1
                assert block.samples.flags.c_contiguous
                assert 0 < len(block.samples) <= WINDOW_MS * SAMPLE_RATE // 1000
                position += len(block.samples)
                parts.append(block.samples)
            return Heard(np.concatenate(parts), list(media.notices), media)

    return run


@pytest.fixture(scope="session")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spoken sentence, a few seconds, WAV."""
    path = tmp_path_factory.mktemp("speech") / "speech.wav"
    text = "The quick brown fox jumps over the lazy dog, and then it goes home to sleep."
    subprocess.run(["espeak-ng", "-w", str(path), text], check=True)
    return path


@pytest.fixture(scope="session")
def frequency() -> Callable[[Samples], float]:
    """The strongest frequency in Hz."""

    def measure(samples: Samples) -> float:
        spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
        return float(np.argmax(spectrum)) * SAMPLE_RATE / len(samples)

    return measure


@pytest.fixture(scope="session")
def amplitude() -> Callable[[Samples], float]:
    """The amplitude of a sine of the same power."""
    return lambda samples: float(np.sqrt(2 * np.mean(np.square(samples, dtype=np.float64))))


@pytest.fixture(scope="session")
def remux() -> Callable[[Path, Path, Callable[[int, Packet], bool]], Path]:
    """remux(source, target, keep): copies packets into another container; `keep(number, packet)` may change times."""

    def run(source: Path, target: Path, keep: Callable[[int, Packet], bool]) -> Path:
        with av.open(str(source), "r") as old, av.open(str(target), "w") as new:
            stream = new.add_stream_from_template(old.streams.audio[0])
            packets = [packet for packet in old.demux(old.streams.audio[0]) if packet.size]
            for number, packet in enumerate(packets):
                if keep(number, packet):
                    packet.stream = stream
                    new.mux(packet)
        return target

    return run
