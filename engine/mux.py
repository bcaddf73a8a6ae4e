"""Puts subtitles into a copy of a film as a track that a player can turn on; sound and pictures are copied untouched.

    MP4, MOV: mov_text      MKV: SubRip, as text

This needs PyAV, so it runs in the engine's process and never in the window's (engine/exports is loaded there).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import av
from av.error import FFmpegError

from engine.errors import Code, EngineError
from engine.exports.cues import Cue, cues
from engine.exports.rules import CueRules
from engine.exports.spoken import marked
from engine.files import atomic_file, shown
from engine.languages import iso_639_2
from engine.types import Transcript

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer
    from av.stream import Stream

    Packet: TypeAlias = av.Packet[Stream]

CONTAINERS = {".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".mkv": "matroska"}
_MS = Fraction(1, 1000)
# What FFmpeg's encoder of mov_text makes the description of the track from: 16 is the size it takes for none.
_STYLE = b"""[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, \
StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,0

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def mux(source: Path, transcript: Transcript, target: Path, rules: CueRules, overwrite: bool = False) -> int:
    """Write `target`, whole or not at all; returns how many streams of the source it could not take.

    These are what is neither sound, picture nor subtitle, such as time codes. EngineError IS_SOURCE, NOT_FOUND,
    NOT_READABLE, CANNOT_MUX (the container does not take such a stream), or of `atomic_file`.
    """
    container = CONTAINERS.get(target.suffix.lower())
    if container is None:
        raise EngineError(Code.CANNOT_MUX, f"{shown(target)}: only {', '.join(CONTAINERS)} can be written.")
    made = cues(transcript.segments, transcript.duration, rules)
    try:
        with source.open("rb") as film:
            if target.exists() and os.path.samestat(os.fstat(film.fileno()), target.stat()):
                raise EngineError(Code.IS_SOURCE, shown(target))
            with atomic_file(target, overwrite) as file:
                return _mux(film, file, container, made, transcript.language)
    except FileNotFoundError as error:
        raise EngineError(Code.NOT_FOUND, shown(source)) from error
    except (FFmpegError, ValueError) as error:  # PyAV's own is of streams that the container does not take
        raise EngineError(Code.CANNOT_MUX, f"{shown(source)}: {error}") from error
    except OSError as error:
        raise EngineError(Code.NOT_READABLE, f"{shown(source)}: {error.strerror or error}") from error


def _mux(film: BinaryIO, file: BinaryIO, container: str, made: list[Cue], language: str | None) -> int:
    # No protocol is allowed, as when a recording is read: a playlist cannot reach for other files.
    with (
        av.open(film, "r", options={"protocol_whitelist": "none"}, metadata_errors="replace") as read,
        av.open(file, "w", format=container) as written,
    ):
        copies = _copies(read, written)
        kind = "subrip" if container == "matroska" else "mov_text"
        subtitles = written.add_stream(kind)  # pyright: ignore[reportUnknownMemberType] (PyAV)
        subtitles.codec_context.subtitle_header = _STYLE
        subtitles.metadata["language"] = iso_639_2(language)
        written.metadata.update(read.metadata)
        written.set_chapters(read.chapters())
        written.start_encoding()
        told = _packets(made, subtitles, prefixed=container != "matroska")
        for packet in _in_order(told, _copied(read, copies)):
            written.mux(packet)  # pyright: ignore[reportUnknownMemberType] (PyAV)
        return len(read.streams) - len(copies)


def _copies(read: InputContainer, written: OutputContainer) -> dict[int, Stream]:
    """A stream of the new file for each one that it takes, by the number of the old one."""
    copies: dict[int, Stream] = {}
    for stream in read.streams:
        if stream.type in ("video", "audio", "subtitle"):
            copy = written.add_stream_from_template(stream)  # pyright: ignore[reportUnknownMemberType] (PyAV)
            copy.metadata.update(stream.metadata)
            copy.disposition = stream.disposition
            copies[stream.index] = copy
    return copies


def _packets(made: Iterable[Cue], stream: Stream, prefixed: bool) -> Iterator[Packet]:
    """Each cue as text; mov_text has its length before it (ISO 14496-17)."""
    for cue in made:
        text = marked(cue.text).encode()
        packet = av.Packet(struct.pack(">H", len(text)) + text if prefixed else text)
        packet.time_base = _MS
        packet.pts = packet.dts = cue.start
        packet.duration = cue.end - cue.start
        packet.stream = stream
        yield packet


def _copied(read: InputContainer, copies: dict[int, Stream]) -> Iterator[Packet]:
    for packet in read.demux([stream for stream in read.streams if stream.index in copies]):
        if packet.size:  # the last one of each stream is empty
            packet.stream = copies[packet.stream.index]
            yield packet


def _in_order(told: Iterator[Packet], copied: Iterator[Packet]) -> Iterator[Packet]:
    """Both by their times, so that the writer need not hold back a whole film."""
    waiting = next(told, None)
    for packet in copied:
        while waiting is not None and _time(waiting) <= _time(packet):
            yield waiting
            waiting = next(told, None)
        yield packet
    if waiting is not None:
        yield waiting
    yield from told


def _time(packet: Packet) -> Fraction:
    stamp = packet.dts if packet.dts is not None else packet.pts
    return Fraction(0) if stamp is None else stamp * packet.time_base
