"""Decoded frames of any rate, format and layout to float32 at 16 kHz, by libswresample."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.error import FFmpegError

from engine.errors import Code, EngineError
from engine.types import SAMPLE_RATE

if TYPE_CHECKING:
    from engine.audio.channels import Sound

# Real rates go from 4 kHz (toys) to 2.8 MHz (DSD); beyond that damaged headers would cost hours or gigabytes.
_RATES = range(1_000, 3_000_001)
_CHANNELS = range(1, 65)  # libswresample takes no more
_Setup: TypeAlias = tuple[str, str, int]


def is_playable(frame: AudioFrame) -> bool:
    """Whether there is sound in the frame that can be resampled."""
    return frame.samples > 0 and frame.sample_rate in _RATES and frame.layout.nb_channels in _CHANNELS


class Resampler:
    """Takes frame after frame, also when their format changes on the way.

    Gives arrays of shape (samples, channels): one channel for mono and for surround sound, which libswresample mixes
    as its layout says (the centre in full), two for stereo, and all of them for channels that the file gives no
    meaning, e.g. those of a field recorder, where no mix would be right.
    """

    def __init__(self) -> None:
        self._setup: _Setup | None = None
        self._swr = AudioResampler()

    def feed(self, frame: AudioFrame) -> list[Sound]:
        """What comes out for this frame: nothing, one array, or more after a change of format.

        EngineError DAMAGED when libswresample refuses the frame.
        """
        setup = (frame.format.name, frame.layout.name, frame.sample_rate)
        frame.pts = None  # times are our own business (see timeline.py)
        if setup == self._setup:
            return _arrays(self._swr.resample(frame))
        rest = self.drain()
        self._setup = setup
        failure: FFmpegError | None = None
        for layout in ("mono", None) if _is_surround(frame) else (None,):  # some cannot be mixed, e.g. ambisonics
            # Packed, not planar: PyAV reads beyond the planes of frames with eight channels or more, and crashes.
            self._swr = AudioResampler(format="flt", layout=layout, rate=SAMPLE_RATE)
            try:
                return rest + _arrays(self._swr.resample(frame))
            except FFmpegError as error:
                failure = error
        raise EngineError(Code.DAMAGED, "Its sound cannot be converted.") from failure

    def drain(self) -> list[Sound]:
        """What is still inside; the next frame starts anew."""
        rest = _arrays(self._swr.resample(None)) if self._setup else []
        self._setup = None
        return rest


def _is_surround(frame: AudioFrame) -> bool:
    channels = frame.layout.nb_channels
    return channels > 2 and frame.layout.name != f"{channels} channels"


def _arrays(frames: list[AudioFrame]) -> list[Sound]:
    # A resampler with nothing to do passes on what it is given, also the None that asks for the rest.
    given = [frame for frame in cast("list[AudioFrame | None]", frames) if frame is not None and frame.samples]
    return [np.asarray(frame.to_ndarray(), np.float32).reshape(-1, frame.layout.nb_channels) for frame in given]
