"""What the microphone's process sends: packets of a letter, a length, and so many bytes; or a list of devices."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TypeAlias

import msgspec

_HEAD = struct.Struct("<cI")


@dataclass(frozen=True, slots=True)
class Device:
    """A microphone, by the name that opens it."""

    name: str
    channels: int
    rate: int  # its own, frames a second
    is_default: bool


@dataclass(frozen=True, slots=True)
class OpenedPacket:
    """The microphone is open. Of `channels` only the one numbered `only` (from 1) is wanted, or all."""

    device: str
    rate: int
    channels: int
    only: int | None


@dataclass(frozen=True, slots=True)
class Heard:
    """Frames of int16, interleaved. With `overflow` something before them is missing."""

    sound: bytes
    overflow: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """It cannot be heard; an error code and its detail."""

    code: str
    detail: str


Packet: TypeAlias = OpenedPacket | Heard | Failure


def write_packet(out: IO[bytes], packet: Packet) -> None:
    """Send it at once."""
    match packet:
        case Heard():
            kind, body = (b"X" if packet.overflow else b"S"), packet.sound
        case OpenedPacket():
            kind, body = b"O", msgspec.json.encode(packet)
        case Failure():
            kind, body = b"F", msgspec.json.encode(packet)
    out.write(_HEAD.pack(kind, len(body)) + body)
    out.flush()


def read_packets(stream: IO[bytes]) -> Iterator[Packet]:
    """All packets until the end of the stream; one that is cut off is left out."""
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        kind, length = _HEAD.unpack(head)
        body = stream.read(length)
        if len(body) < length:
            return
        if kind == b"O":
            yield msgspec.json.decode(body, type=OpenedPacket)
        elif kind == b"F":
            yield msgspec.json.decode(body, type=Failure)
        else:
            yield Heard(body, kind == b"X")
