"""Any audio or video file as a stream of 16 kHz mono blocks, in constant memory.

    with open_media("talk.mp4") as media:
        for block in media.blocks(): ...

A file is what its content says, never its name, and nothing but the file itself is ever opened. The way of the sound:
Source (bytes) → packets → frames → Timeline (16 kHz, silence where sound is missing) → to_mono → AudioBlock.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from itertools import chain, groupby, islice
from types import TracebackType
from typing import TYPE_CHECKING, Self

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.stream import Discard

from engine.audio.channels import to_mono
from engine.audio.decoder import Decoder, is_picture
from engine.audio.notices import MediaNotice, Notices
from engine.audio.source import PathLike, Source, open_source
from engine.audio.tracks import Track, choose, tracks_of
from engine.errors import Code, EngineError
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS, AudioBlock

if TYPE_CHECKING:
    from engine.audio.channels import Sound
    from engine.types import Samples

_BLOCK = 10 * SAMPLE_RATE

# What FFmpeg reads as one frame of video or more, and people call a picture or a text.
_PICTURES = frozenset({"gif", "ico", "apng", "image2", "jpegxl_anim", "fits", "tty", "bin", "xbin", "adf", "idf"})
# Video streams without a container, which FFmpeg sees by chance in programs and tables. They never hold sound.
_CHANCE_VIDEO = frozenset({"m4v", "h261", "h263", "vvc"})


class Media:
    """An open file with one chosen audio track, made by `open_media`.

    `duration` is what the file says in ms, None if it says nothing.
    """

    def __init__(self, source: Source, container: InputContainer, track: Track, tracks: tuple[Track, ...]) -> None:
        self.track = track
        self.tracks = tracks
        self.duration = max(0, round((container.duration or 0) / 1000)) or None
        self._source = source
        self._container = container
        self._notices = Notices()
        stream = container.streams.audio[track.index - 1]
        self._decoder = Decoder(source, container, stream, self._notices, self.duration)
        self._is_read = False
        self._reading = self._read()
        self._blocks: Iterator[AudioBlock] = self._reading

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def notices(self) -> list[MediaNotice]:
        """What was noticed so far; grows while blocks are read, and is complete after the last one."""
        return self._notices.entries if self._is_read else self._notices.settled(self._decoder.position)

    def blocks(self) -> Iterator[AudioBlock]:
        """Blocks of 10 s, the last one shorter, consecutive from 0; to be read once.

        EngineError NOT_READABLE when reading stops before the end, e.g. because the drive was taken away.
        """
        return self._blocks

    def begin(self) -> None:
        """Read the first block, so that a file without sound fails at once: NO_AUDIO, DAMAGED, NOT_MEDIA."""
        first = list(islice(self._reading, 1))
        self._decoder.check(has_sound=bool(first))
        self._blocks = chain(first, self._reading)

    def close(self) -> None:
        """Let go of the file."""
        self._reading.close()
        self._container.close()
        self._source.close()

    def _read(self) -> Generator[AudioBlock]:
        """The decoder's pieces, collected into blocks."""
        pieces: list[Sound] = []
        held = start = 0
        for piece in self._decoder.pieces():
            pieces.append(piece)
            held += len(piece)
            while held >= _BLOCK:
                full, pieces = _split(pieces, _BLOCK)
                yield self._block(full, start)
                start += _BLOCK
                held -= _BLOCK
        last = [self._block(pieces, start)] if held else []
        self._is_read = True
        yield from last

    def _block(self, pieces: list[Sound], start: int) -> AudioBlock:
        """One channel from pieces whose number of channels may change on the way; `start` in samples."""
        parts: list[Samples] = []
        for _, alike in groupby(pieces, key=lambda piece: piece.shape[1]):
            part, cancels = to_mono(np.concatenate(list(alike)))
            parts.append(part)
            if cancels and not any(notice.code == "channels_cancel" for notice in self._notices.entries):
                begin = start // SAMPLES_PER_MS
                self._notices.add("channels_cancel", begin, begin + len(part) // SAMPLES_PER_MS)
        return AudioBlock(start // SAMPLES_PER_MS, parts[0] if len(parts) == 1 else np.concatenate(parts))


def open_media(path: PathLike, track: int | None = None) -> Media:
    """The file at `path`, ready to be read; `track` counts audio tracks from 1, None is the file's own choice.

    EngineError NOT_FOUND, IS_FOLDER, NOT_READABLE, EMPTY_FILE, NOT_MEDIA, NO_AUDIO, NO_SUCH_TRACK, NO_DECODER, DAMAGED.
    """
    with ExitStack() as stack:
        source = stack.enter_context(open_source(path))
        container = stack.enter_context(_container(source))
        if not container.streams.audio:
            raise _without_sound(container)
        tracks = tracks_of(container.streams.audio)
        chosen = choose(tracks, track)
        stream = container.streams.audio[chosen.index - 1]
        _read_only(container, stream)
        if not chosen.codec:
            raise _without_decoder(container, stream)
        media = stack.enter_context(Media(source, container, chosen, tracks))
        media.begin()
        stack.pop_all()
    return media


def _container(source: Source) -> InputContainer:
    try:
        # No protocol is allowed: playlists and session descriptions cannot reach for other files or the network.
        return av.open(source, "r", options={"protocol_whitelist": "none"}, metadata_errors="replace")
    except FFmpegError as error:
        source.check()
        raise EngineError(Code.DAMAGED if source.begins_like_media else Code.NOT_MEDIA) from error


def _read_only(container: InputContainer, wanted: AudioStream) -> None:
    """Let the reader pass over all other streams: of a film it then reads the sound alone."""
    for stream in container.streams:
        if stream.index != wanted.index:
            stream.discard = Discard.all


def _without_sound(container: InputContainer) -> EngineError:
    name = container.format.name
    pictures = all(is_picture(stream) for stream in container.streams.video) or name in _PICTURES
    if pictures or name.endswith("_pipe") or name in _CHANCE_VIDEO:
        return EngineError(Code.NOT_MEDIA)
    return EngineError(Code.NO_AUDIO)


def _without_decoder(container: InputContainer, stream: AudioStream) -> EngineError:
    has_sound = any(packet.size for packet in container.demux(stream))
    return EngineError(Code.NO_DECODER if has_sound else Code.DAMAGED)


def _split(pieces: list[Sound], length: int) -> tuple[list[Sound], list[Sound]]:
    """`pieces` cut after `length` samples, which they have at least."""
    full: list[Sound] = []
    for place, piece in enumerate(pieces):
        if len(piece) >= length:
            return [*full, piece[:length]], [piece[length:], *pieces[place + 1 :]]
        full.append(piece)
        length -= len(piece)
    return full, []
