"""Frames laid one after another at 16 kHz, with silence where the file's own clock says that sound is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from av.audio.frame import AudioFrame

from engine.audio.notices import Notices
from engine.audio.resample import Resampler
from engine.types import SAMPLE_RATE

if TYPE_CHECKING:
    from engine.audio.channels import Sound

_JITTER = 0.05  # s: rounding of time stamps, encoder priming
_SET_BACK = 10.0  # s: by then it is another clock (recordings joined end to end), not an overlap
_MOST_SILENCE = 2 * 3600.0  # s in all; a time stamp that asks for more is wrong
_WORTH_SAYING = 0.5  # s of late sound
_PRIMING = 0.2  # s: a gap before is where an encoder's lead-in was cut away, and nothing is missing
_CUT_IN = 0.2  # s: what an MP3 cut out of a longer one may lack at its start without being damaged
_PIECE = 10 * SAMPLE_RATE


class Timeline:
    """All times here are seconds, those of `position` from the start of the picture or else of the sound.

    `starts` is when the picture and other tracks start, None if there are none. `timed` says whether the times of the
    format are measured, and not just counted up by the reader. `end` is how long the file says it is, if it does.
    """

    def __init__(self, notices: Notices, *, starts: float | None, timed: bool, end: float | None) -> None:
        self._notices = notices
        self._starts = starts
        self._timed = timed
        self._end = end
        self._resampler = Resampler()
        self._made = 0  # samples given out
        self._clock = 0.0  # the end of the last frame
        self._origin: float | None = None  # of the file's own times, set by the first frame
        self._silence_left = _MOST_SILENCE
        self._held: AudioFrame | None = None
        self._lost_first = 0.0  # what could not be decoded before the first frame
        self._lossy = False  # whether a packet was lost since the last frame

    @property
    def position(self) -> float:
        """Where the next frame goes."""
        held = self._held
        return self._clock + (held.samples / held.sample_rate if held else 0.0)

    @property
    def file_time(self) -> float:
        """The same on the clock of the file."""
        return self.position + (self._origin or 0.0)

    def lay(self, frame: AudioFrame) -> Iterator[Sound]:
        """Sound of the frame before this one: a jump in time is believed only if the next frame goes on from there."""
        held, self._held = self._held, frame
        if held is not None:
            yield from self._place(held, frame.time)

    def lose(self, seconds: float, time: float | None) -> Iterator[Sound]:
        """A packet that could not be decoded: silence for it, unless a time stamp will tell how much is missing."""
        yield from self._release()
        if self._origin is None:
            self._lose_first(seconds, time)
            return
        self.note_damage(seconds)
        self._lossy = True
        if not self._timed:
            yield from self._silence(min(seconds, 1.0, self._room()))

    def note_damage(self, seconds: float = 0.0) -> None:
        """Tell of damage at the present position."""
        start = round(self.position * 1000)
        self._notices.add("damaged_at", start, start + round(seconds * 1000))

    def finish(self) -> Iterator[Sound]:
        """The last of the sound."""
        yield from self._release()
        yield from self._give(self._resampler.drain())

    def _release(self) -> Iterator[Sound]:
        held, self._held = self._held, None
        if held is not None:
            yield from self._place(held, None)

    def _lose_first(self, seconds: float, time: float | None) -> None:
        if self._lost_first == 0 and time is not None and self._timed:
            self._starts = time if self._starts is None else min(time, self._starts)
        self._lost_first += seconds
        if self._lost_first > _CUT_IN:
            self._notices.add("damaged_at", 0, round(self._lost_first * 1000))

    def _place(self, frame: AudioFrame, following: float | None) -> Iterator[Sound]:
        time, length = frame.time, frame.samples / frame.sample_rate
        if self._origin is None:
            yield from self._begin(time or 0.0)
        elif self._timed and time is not None and following is not None:
            yield from self._follow(time - self._origin - self._clock, following - time)
        self._lossy = False
        self._clock += length
        yield from self._give(self._resampler.feed(frame))

    def _begin(self, first: float) -> Iterator[Sound]:
        """Silence from the start of the picture to the first sound."""
        late = first - self._starts if self._starts is not None else 0.0
        if not _JITTER < late <= self._room():
            self._origin = first
            return
        self._origin = first - late
        if late >= _WORTH_SAYING and not self._lost_first:
            self._notices.add("late_sound", 0, round(late * 1000))
        yield from self._silence(late)

    def _follow(self, jump: float, step: float) -> Iterator[Sound]:
        """Silence for a gap; another origin after a jump that cannot be one. `step` leads on to the next time stamp."""
        is_one_wrong_stamp = step < 0 if jump > 0 else step > _SET_BACK
        if -_SET_BACK < jump <= _JITTER or is_one_wrong_stamp or self._origin is None:
            return
        if not 0 < jump <= self._room():
            self._origin += jump
            return
        if self._clock > _PRIMING:
            start, end = round(self._clock * 1000), round((self._clock + jump) * 1000)
            self._notices.add("damaged_at" if self._lossy else "gap", start, end)
        yield from self._silence(jump)

    def _room(self) -> float:
        """How much silence may still be put in here."""
        left_in_file = self._end + 1.0 - self._clock if self._end is not None else self._silence_left
        return min(left_in_file, self._silence_left)

    def _silence(self, seconds: float) -> Iterator[Sound]:
        yield from self._give(self._resampler.drain())
        self._silence_left -= seconds
        self._clock += seconds
        missing = round(self._clock * SAMPLE_RATE) - self._made
        for start in range(0, missing, _PIECE):
            yield from self._give([np.zeros((min(_PIECE, missing - start), 1), np.float32)])

    def _give(self, pieces: list[Sound]) -> Iterator[Sound]:
        for piece in pieces:
            self._made += len(piece)
            yield piece
