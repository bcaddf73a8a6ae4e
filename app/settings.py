"""What the window remembers: one JSON file, of which a bad value costs no other."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_type_hints

import msgspec
from PySide6.QtCore import QObject, Signal

from engine.errors import EngineError
from engine.exports.rules import DEFAULT
from engine.files import atomic_write
from engine.types import Device, Options, Task

Dictation: TypeAlias = Literal["off", "pause", "stop"]  # when what was said goes to the clipboard


@dataclass(frozen=True, slots=True)
class Values:
    """Every setting with what it is at first."""

    model: str = "base"
    language: str = "auto"
    task: Task = "transcribe"
    device: Device = "auto"
    low_power: bool = False  # the Neural Engine even where something else is faster
    backend: str = "auto"
    microphone: str = ""  # its name; "": the system's default one
    channel: int = 0  # of it, counted from 1; 0: all of them, mixed
    export_folder: str = ""  # "": beside the recording
    export_format: str = "srt"
    export_preset: str = DEFAULT  # rules of subtitles
    dictation: Dictation = "off"
    clean_dictation: bool = False
    held_key: str = ""  # that is held to dictate, as Qt spells it; "": none
    held_key_types: bool = True
    caption_size: int = 200  # percent of the window's type
    caption_geometry: bytes = b""
    details_open: bool = False
    geometry: bytes = b""  # of the window, as Qt saves it; base64 in the file


class Changes(TypedDict, total=False):
    """Some settings."""

    model: str
    language: str
    task: Task
    device: Device
    low_power: bool
    backend: str
    microphone: str
    channel: int
    export_folder: str
    export_format: str
    export_preset: str
    dictation: Dictation
    clean_dictation: bool
    held_key: str
    held_key_types: bool
    caption_size: int
    caption_geometry: bytes
    details_open: bool
    geometry: bytes


class Settings(QObject):
    """`values` and a way to change them; each change is written at once, whole or not at all."""

    said = Signal(str)  # why a change could not be written; it counts until the window closes

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._stored = _read(file)  # also keys of other versions, which are kept
        self.values = _salvaged(self._stored)

    def options(self) -> Options:
        """How a file that is dropped now is transcribed."""
        now = self.values
        return Options(
            model=now.model,
            backend=now.backend,
            device=now.device,
            low_power=now.low_power,
            language=now.language,
            task=now.task,
            words=True,
        )

    def change(self, **changes: Unpack[Changes]) -> None:
        """Set some values and write the file."""
        before = self.values
        self.values = replace(before, **changes)
        if self.values == before:
            return
        self._stored |= msgspec.to_builtins(self.values)
        try:
            atomic_write(self._file, msgspec.json.format(msgspec.json.encode(self._stored)), overwrite=True)
        except EngineError as error:
            self.said.emit(f"The settings could not be saved. {error}")


def _read(file: Path) -> dict[str, Any]:
    """The stored object; nothing when there is none, or what is there is no JSON object."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    return {}


def _salvaged(stored: dict[str, Any]) -> Values:
    """Every stored value that is of its type; in place of the others, what they are at first."""
    good: dict[str, Any] = {}
    for name, kind in get_type_hints(Values).items():
        if name in stored:
            with suppress(msgspec.ValidationError):
                good[name] = msgspec.convert(stored[name], kind)
    return Values(**good)
