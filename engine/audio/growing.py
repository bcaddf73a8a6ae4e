"""A recording as samples while it still grows: the disk is the bus between the recorder and whoever listens.

How much there is, the sizes of the files tell, never their headers; they are looked at every 50 ms.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from io import FileIO
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from av.audio.frame import AudioFrame

from engine.audio.channels import to_mono
from engine.audio.resample import Resampler
from engine.audio.wav import WAV_HEADER_BYTES
from engine.errors import Code, EngineError
from engine.files import shown
from engine.recording import FACTS_FILE, Part, is_living, read_facts
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS, AudioBlock

if TYPE_CHECKING:
    from engine.types import Samples

_POLL_S = 0.05
_ASK_EVERY_S = 1.0  # whether there still is a recorder
_SAMPLE_BYTES = 2
_Stamp: TypeAlias = tuple[int, int, int]
_LAYOUTS = {1: "mono", 2: "stereo"}


class Growing:
    """The recording in `folder` from `start` (ms) on, on the one timeline of all its parts.

    EngineError as of `read_facts`, and NOT_READABLE when a part cannot be read.
    """

    def __init__(self, folder: Path, start: int = 0) -> None:
        self._folder = folder
        self._start = start
        self._stamp: _Stamp = _stamp(folder / FACTS_FILE)
        self._facts = read_facts(folder)
        self._ask_at = 0.0  # monotonic
        self._is_deserted = False
        self._resampler = Resampler()
        self._made = start * SAMPLES_PER_MS  # samples of the timeline that were given out
        self._rest: Samples = np.zeros(0, np.float32)  # less than a millisecond

    @property
    def recorded(self) -> int:
        """How long the recording is by now, in ms."""
        self._look()
        ends = [part.start + self._frames(part) * 1000 // part.rate for part in self._facts.parts[-1:]]
        return max(self._made // SAMPLES_PER_MS, *ends, self._start)

    def blocks(self) -> Iterator[AudioBlock | None]:
        """Consecutive blocks of whole ms, 1 s at most; None whenever nothing more is there yet.

        It ends when the recording is no longer going on and all of it was read.
        """
        for number in count():
            while len(self._facts.parts) <= number:
                if self._is_over:
                    return
                yield from self._wait()
            yield from self._part(number)

    def _part(self, number: int) -> Iterator[AudioBlock | None]:
        part = self._facts.parts[number]
        yield from self._silence_until(part.start)
        path = self._folder / part.file
        while not path.exists():
            if self._is_whole(number):
                return
            yield from self._wait()
        try:
            with path.open("rb", buffering=0) as file:
                file.seek(WAV_HEADER_BYTES + max(0, self._start - part.start) * part.rate // 1000 * _frame_bytes(part))
                yield from self._sound(file, number)
        except OSError as error:
            raise EngineError(Code.NOT_READABLE, f"{shown(path)}: {error.strerror or error}") from error

    def _sound(self, file: FileIO, number: int) -> Iterator[AudioBlock | None]:
        """What is in one part, until it does not grow any more."""
        part = self._facts.parts[number]
        while True:
            whole = self._is_whole(number)  # asked first: what is read after that is all
            data = _read(file, part)
            if data:
                for sound in self._resampler.feed(_frame(data, part)):
                    yield from self._give(to_mono(sound)[0])
            elif whole:
                break
            else:
                yield from self._wait()
        for sound in self._resampler.drain():
            yield from self._give(to_mono(sound)[0])

    def _silence_until(self, time_ms: int) -> Iterator[AudioBlock]:
        missing = time_ms * SAMPLES_PER_MS - self._made - len(self._rest)
        for at in range(0, missing, SAMPLE_RATE):
            yield from self._give(np.zeros(min(SAMPLE_RATE, missing - at), np.float32))

    def _give(self, samples: Samples) -> Iterator[AudioBlock]:
        samples = np.concatenate([self._rest, samples])
        whole = len(samples) - len(samples) % SAMPLES_PER_MS
        self._rest = samples[whole:].copy()
        if whole:
            start, self._made = self._made // SAMPLES_PER_MS, self._made + whole
            yield AudioBlock(start, samples[:whole])

    def _wait(self) -> Iterator[None]:
        """Say that there is nothing, and wait for what is left of the time until the next look."""
        began = time.monotonic()
        yield None
        time.sleep(max(0.0, began + _POLL_S - time.monotonic()))
        if began >= self._ask_at:
            self._ask_at = began + _ASK_EVERY_S
            self._is_deserted = not is_living(self._folder)
        self._look()

    @property
    def _is_over(self) -> bool:
        """Closed; or its recorder is gone, which may have been killed, or found no room to say that it has closed."""
        return self._facts.state != "recording" or self._is_deserted

    def _is_whole(self, number: int) -> bool:
        self._look()
        return self._is_over or len(self._facts.parts) > number + 1

    def _look(self) -> None:
        """Read recording.json again if it was replaced."""
        stamp = _stamp(self._folder / FACTS_FILE)
        if stamp != self._stamp:
            self._stamp, self._facts = stamp, read_facts(self._folder)

    def _frames(self, part: Part) -> int:
        try:
            size = (self._folder / part.file).stat().st_size
        except FileNotFoundError:
            return 0
        return max(0, size - WAV_HEADER_BYTES) // _frame_bytes(part)


def _stamp(path: Path) -> _Stamp:
    """What changes when another file takes the same name."""
    try:
        status = path.stat()
    except FileNotFoundError:  # `read_facts` says it
        return (0, 0, 0)
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _frame_bytes(part: Part) -> int:
    return part.channels * _SAMPLE_BYTES


def _read(file: FileIO, part: Part) -> bytes:
    """The next whole frames, 1 s at most; the last frame may be half written."""
    left = os.fstat(file.fileno()).st_size - file.tell()
    frames = min(left // _frame_bytes(part), part.rate)
    return file.read(frames * _frame_bytes(part)) if frames > 0 else b""


def _frame(data: bytes, part: Part) -> AudioFrame:
    layout = _LAYOUTS.get(part.channels, f"{part.channels} channels")
    samples = np.frombuffer(data, "<i2").reshape(1, -1)
    frame = AudioFrame.from_ndarray(samples, format="s16", layout=layout)
    frame.sample_rate = part.rate
    return frame
