"""What the recorder and whoever started it say to each other: one JSON object a line, both ways.

    events    recorder → window: opened · level · gap · overflow · silent · lost · stopped · failed
    commands  window → recorder: pause · resume · device · stop; the end of its input is a stop as well

Every `at` is milliseconds of the recording. Folders travel as bytes (os.fsencode; base64 in JSON).
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from engine.protocol import ProtocolError


class _Message(msgspec.Struct, frozen=True, tag_field="is", tag=str.lower):
    """The message's name stands under "is"."""


class Opened(_Message, frozen=True):
    """A microphone is open, the first one or another; the folder stays the same."""

    folder: bytes
    device: str
    rate: int
    channels: int
    at: int


class Level(_Message, frozen=True):
    """Loudness since the last one, in dBFS (silence: -100), at most 25 a second; also while it pauses."""

    at: int
    peak: float
    rms: float
    hears_speech: bool
    free_minutes: int  # how long the disk will hold


class Gap(_Message, frozen=True):
    """Nothing was heard from `start` to `end`: silence stands there."""

    start: int
    end: int
    why: str


class Overflow(_Message, frozen=True):
    """The system lost sound before `at`, for the `count`th time."""

    at: int
    count: int


class Silent(_Message, frozen=True):
    """Nothing but zeros for two seconds: no microphone does that by itself; the system may not allow it."""

    at: int


class Lost(_Message, frozen=True):
    """The microphone gives nothing any more. The default one is tried every second; Opened says when one is heard."""

    at: int
    detail: str


class Stopped(_Message, frozen=True):
    """The recording is closed, all that was heard is in it; the recorder's last word."""

    folder: bytes
    ms: int


class Failed(_Message, frozen=True):
    """It cannot go on; Stopped follows when there is a recording."""

    code: str
    detail: str = ""


class Pause(_Message, frozen=True):
    """Leave out what is said from now on."""


class Resume(_Message, frozen=True):
    """Go on."""


class Device(_Message, frozen=True):
    """Go on with another microphone; "" is the default one."""

    name: str = ""


class Stop(_Message, frozen=True):
    """Take what the microphone still has, close the recording, end."""


Event: TypeAlias = Opened | Level | Gap | Overflow | Silent | Lost | Stopped | Failed
Command: TypeAlias = Pause | Resume | Device | Stop

_EVENT = msgspec.json.Decoder(Event)
_COMMAND = msgspec.json.Decoder(Command)


def encode(message: Event | Command) -> bytes:
    """One line with its newline."""
    return msgspec.json.encode(message) + b"\n"


def decode_event(line: bytes) -> Event:
    """The event in a line; ProtocolError when it is none."""
    try:
        return _EVENT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ProtocolError(f"not an event of the recorder: {line[:80]!r} ({error})") from error


def decode_command(line: bytes) -> Command:
    """The command in a line; ProtocolError when it is none."""
    try:
        return _COMMAND.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ProtocolError(f"not a command for the recorder: {line[:80]!r} ({error})") from error
