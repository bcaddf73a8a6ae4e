"""One audio track of an open container, decoded into pieces of sound at 16 kHz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Disposition, Stream

from engine.audio.notices import Notices
from engine.audio.resample import is_playable
from engine.audio.source import Source
from engine.audio.timeline import Timeline
from engine.errors import Code, EngineError

if TYPE_CHECKING:
    from engine.audio.channels import Sound

_MOST_FAILURES = 100  # of the reader itself; packets that do not decode have no limit
_SHORTEST = 0.1  # s: less than this, in a file that does not begin like media, was read into it by chance

# What has measured times. Elsewhere (MP3, ADTS, WAV, …) the reader counts them up, and a jump means nothing.
_TIMED = frozenset({"matroska,webm", "mov,mp4,m4a,3gp,3g2,mj2", "mpegts", "mpeg", "ogg", "flac", "flv", "asf", "mxf"})
# What states its length at the start, so that one sees when the end is missing.
_STATES_LENGTH = frozenset({"matroska,webm", "mov,mp4,m4a,3gp,3g2,mj2", "flac", "aiff"})


class Decoder:
    """`duration` is what the file says, in ms. Damage and gaps go to `notices`."""

    def __init__(
        self, source: Source, container: InputContainer, stream: AudioStream, notices: Notices, duration: int | None
    ) -> None:
        self._source = source
        self._container = container
        self._stream = stream
        self._notices = notices
        self._duration = duration
        self._line = Timeline(
            notices,
            starts=_start_of_others(container, stream),
            timed=container.format.name in _TIMED,
            end=None if duration is None else duration / 1000,
        )
        self._packets_read = self._packets_lost = 0
        self._last_byte = 0  # where the last packet ended in the file

    @property
    def position(self) -> int:
        """How far the sound has been decoded, in ms."""
        return round(self._line.position * 1000)

    def pieces(self) -> Iterator[Sound]:
        """Arrays of shape (samples, channels), consecutive from 0. EngineError NOT_READABLE when the drive goes."""
        for packet in self._packets():
            try:
                frames = packet.decode()
            except FFmpegError:
                yield from self._lose(packet)
                continue
            for frame in frames:
                if is_playable(frame):
                    yield from self._line.lay(frame)
        yield from self._line.finish()
        self._source.check()
        self._note_early_end()

    def check(self, *, has_sound: bool) -> None:
        """Raise what is to be said of a file, now that its first block has been read or the end was reached without."""
        decoded = self._packets_read - self._packets_lost
        found_by_chance = self._packets_lost >= 2 * decoded or self._line.position < _SHORTEST
        if found_by_chance and not self._source.begins_like_media:  # in random bytes there is always an MPEG frame
            raise EngineError(Code.NOT_MEDIA)
        if has_sound:
            return
        if decoded > 0 or not (self._packets_read or self._stream.duration):
            raise EngineError(Code.NO_AUDIO, "Its sound track is empty.")
        raise EngineError(Code.DAMAGED, "None of its sound can be decoded.")

    def _packets(self) -> Iterator[Packet[AudioStream]]:
        """The packets of the track and the empty one that flushes its decoder; goes on after an error of the reader."""
        for _ in range(_MOST_FAILURES):
            try:
                for packet in self._container.demux(self._stream):
                    if packet.size:
                        self._packets_read += 1
                        self._last_byte = max(self._last_byte, (packet.pos or 0) + packet.size)
                    yield packet
            except IndexError:  # PyAV's, at the end, when damage made a stream turn up that the start did not name
                return
            except FFmpegError:
                self._line.note_damage()
            else:
                return

    def _lose(self, packet: Packet[AudioStream]) -> Iterator[Sound]:
        if packet.size:
            self._packets_lost += 1
            time = None if packet.pts is None else float(packet.pts * packet.time_base)
            yield from self._line.lose(float((packet.duration or 0) * packet.time_base), time)

    def _note_early_end(self) -> None:
        """Tell of a file that was cut off: its track states more than there is, and the bytes for it are missing."""
        stated = self._stated_length()
        done = self._line.file_time
        if stated is None or stated - done <= 1.0:
            return
        if 1 - self._last_byte / self._source.size < (1 - done / stated) / 2:
            start = self.position
            self._notices.add("damaged_at", start, start + round((stated - done) * 1000), "The file ends early.")

    def _stated_length(self) -> float | None:
        """When the track ends on the file's clock, in seconds, if the file states it and not the reader guesses it."""
        if self._duration is None or self._container.format.name not in _STATES_LENGTH:
            return None
        whole = self._duration / 1000
        if self._stream.duration and self._stream.time_base:
            return min(whole, float(self._stream.duration * self._stream.time_base))
        is_alone = len(self._container.streams) == 1  # else it may be the picture that is so long
        return whole if is_alone else None


def is_picture(stream: Stream) -> bool:
    """Whether this "video" is a cover or another still picture."""
    return bool(stream.disposition & (Disposition.attached_pic | Disposition.still_image))


def _start_of_others(container: InputContainer, own: AudioStream) -> float | None:
    """When the picture or another audio track starts, in seconds of the file's clock."""
    others = [s for s in (*container.streams.video, *container.streams.audio) if s.index != own.index]
    starts = [
        float(stream.start_time * stream.time_base)
        for stream in others
        if stream.start_time is not None and stream.time_base and not is_picture(stream)
    ]
    return min(starts, default=None)
