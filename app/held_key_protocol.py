"""What the window and the process that holds the keyboard say to each other: one JSON object a line, both ways.

events    ready · pressed · released · typed · refused
commands  type; the end of its input ends it
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class _Message(msgspec.Struct, frozen=True, tag_field="is", tag=str.lower):
    """The message's name stands under "is"."""


class Ready(_Message, frozen=True):
    """The key is watched from now on."""


class Pressed(_Message, frozen=True):
    """It is held down; a key that repeats itself is pressed once."""


class Released(_Message, frozen=True):
    """It is held no longer."""


class Typed(_Message, frozen=True):
    """The text was typed."""


class Refused(_Message, frozen=True):
    """It cannot be done: a sentence for the user. The process ends when it is about the key."""

    why: str


class Type(_Message, frozen=True):
    """Type this into the program that has the focus."""

    text: str


Event: TypeAlias = Ready | Pressed | Released | Typed | Refused

_EVENT = msgspec.json.Decoder(Event)
_COMMAND = msgspec.json.Decoder(Type)


def encode(message: Event | Type) -> bytes:
    """One line with its newline."""
    return msgspec.json.encode(message) + b"\n"


def decode_event(line: bytes) -> Event:
    """The event in a line; msgspec.MsgspecError when it is none."""
    return _EVENT.decode(line)


def decode_command(line: bytes) -> Type:
    """The command in a line; msgspec.MsgspecError when it is none."""
    return _COMMAND.decode(line)
