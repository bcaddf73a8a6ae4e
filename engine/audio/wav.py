"""Sound on the disk as it comes: a WAV file that opens whatever happens to the process that writes it.

    bytes 0 … 79    RIFF, WAVE, JUNK (room for the sizes of RF64), fmt, data
    from byte 80    frames of 16-bit PCM

The sizes in the header lag behind while the file grows: whoever reads it then goes by the size of the file.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from engine.errors import Code, EngineError
from engine.files import shown
from engine.models.disk import writing

if TYPE_CHECKING:  # the window imports this module, and numpy is none of its business
    import numpy as np
    from numpy.typing import NDArray

    Pcm: TypeAlias = NDArray[np.int16]  # (frames, channels)

# RIFF size WAVE | JUNK or ds64: size, three sizes of 64 bits, no table | fmt: PCM | data (EBU Tech 3306)
_HEADER = struct.Struct("<4sI4s 4sIQQQI 4sIHHIIHH 4sI")
WAV_HEADER_BYTES = _HEADER.size
_SAMPLE_BYTES = 2
_MOST_32_BITS = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class WavFacts:
    """What is in a file, `frames` by its size."""

    rate: int  # frames a second
    channels: int
    frames: int

    @property
    def duration(self) -> int:
        """Milliseconds, rounded down."""
        return self.frames * 1000 // self.rate


class WavWriter:
    """Makes a new file and appends to it, unbuffered: what was appended survives the death of this process.

    EngineError DISK_FULL, NOT_WRITABLE or ALREADY_THERE; what was written before stands.
    """

    def __init__(self, path: Path, rate: int, channels: int) -> None:
        self.path = path
        self.rate = rate
        self.channels = channels
        self._bytes = 0
        if path.exists():
            raise EngineError(Code.ALREADY_THERE, shown(path))
        with writing(path):
            self._file = path.open("xb", buffering=0)
            self._write(_header(rate, channels, 0))
        self.sync()

    @property
    def frames(self) -> int:
        """Whole frames in the file."""
        return self._bytes // self._frame

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return WAV_HEADER_BYTES + self._bytes

    def append(self, samples: Pcm) -> None:
        """Write frames of int16, shape (frames, channels)."""
        with writing(self.path):
            try:
                self._write(samples.astype("<i2", copy=False).tobytes())
            finally:
                self._bytes = self._file.tell() - WAV_HEADER_BYTES  # also what a full disk still took

    def append_silence(self, frames: int) -> None:
        """Make the file longer by so much silence, without writing it out."""
        with writing(self.path):
            self._bytes += frames * self._frame
            self._file.truncate(WAV_HEADER_BYTES + self._bytes)
            self._file.seek(0, os.SEEK_END)

    def refresh_header(self) -> None:
        """Let the header tell the size that the file has."""
        with writing(self.path):
            self._file.seek(0)
            self._write(_header(self.rate, self.channels, self.frames))
            self._file.seek(0, os.SEEK_END)

    def sync(self) -> None:
        """Have everything on the disk itself, where a power cut leaves it."""
        with writing(self.path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Bring header and disk up to date, as far as they can be, and let go of the file."""
        try:
            self.refresh_header()
            with writing(self.path):
                self._file.truncate(WAV_HEADER_BYTES + self.frames * self._frame)  # half a frame, of a full disk
            self.sync()
        finally:
            self._file.close()

    @property
    def _frame(self) -> int:
        return self.channels * _SAMPLE_BYTES

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]


def wav_facts(path: Path) -> WavFacts:
    """What one of our files holds now. EngineError NOT_FOUND, NOT_READABLE, or DAMAGED when it is none of ours."""
    try:
        with path.open("rb") as file:
            head = file.read(WAV_HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError as error:
        raise EngineError(Code.NOT_FOUND, shown(path)) from error
    except OSError as error:
        raise EngineError(Code.NOT_READABLE, f"{shown(path)}: {error.strerror or error}") from error
    if len(head) < WAV_HEADER_BYTES:
        raise EngineError(Code.DAMAGED, f"{shown(path)}: no header")
    riff, _, wave, _, _, _, _, _, _, _, _, kind, channels, rate, _, frame, bits, data, _ = _HEADER.unpack(head)
    known = (riff in (b"RIFF", b"RF64"), wave, kind, bits, data) == (True, b"WAVE", 1, 8 * _SAMPLE_BYTES, b"data")
    if not known or not rate or not channels or frame != channels * _SAMPLE_BYTES:
        raise EngineError(Code.DAMAGED, f"{shown(path)}: not a recording of Sottovoce")
    return WavFacts(rate, channels, (size - WAV_HEADER_BYTES) // frame)


def repair(path: Path, rate: int, channels: int) -> WavFacts:
    """Give a file that was cut off the header for its size; half a frame at its end is dropped.

    Also a file whose header never reached the disk is mended. EngineError NOT_FOUND or NOT_WRITABLE, DISK_FULL.
    """
    if not path.exists():
        raise EngineError(Code.NOT_FOUND, shown(path))
    with writing(path), path.open("r+b", buffering=0) as file:
        size = max(os.fstat(file.fileno()).st_size, WAV_HEADER_BYTES)
        frames = (size - WAV_HEADER_BYTES) // (channels * _SAMPLE_BYTES)
        file.write(_header(rate, channels, frames))
        file.truncate(WAV_HEADER_BYTES + frames * channels * _SAMPLE_BYTES)
        os.fsync(file.fileno())
    return WavFacts(rate, channels, frames)


def _header(rate: int, channels: int, frames: int) -> bytes:
    """For so many frames; beyond 4 GB the sizes stand where RF64 has them."""
    frame = channels * _SAMPLE_BYTES
    data = frames * frame
    riff = data + WAV_HEADER_BYTES - 8
    large = riff > _MOST_32_BITS
    return _HEADER.pack(
        b"RF64" if large else b"RIFF",
        min(riff, _MOST_32_BITS),
        b"WAVE",
        b"ds64" if large else b"JUNK",
        28,
        *((riff, data, frames) if large else (0, 0, 0)),
        0,
        b"fmt ",
        16,
        1,
        channels,
        rate,
        rate * frame,
        frame,
        8 * _SAMPLE_BYTES,
        b"data",
        min(data, _MOST_32_BITS),
    )
