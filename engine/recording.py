"""A recording on the disk: a folder of its own with the sound and, beside it, what recording.json tells of it.

    <data>/recordings/2026-11-30 22-28-10/
        audio.wav, audio-2.wav, …    the parts, in the order of time; see engine/audio/wav.py
        recording.json               RecordingFacts, replaced whole whenever something changes
        recorder.lock                held by the recorder while it lives

One timeline runs through all parts: a frame's time is its part's start and its place in the part. What was lost
while the microphone was away is silence: inside a part the silence is in the file, between two parts it is the
stretch up to the next one's start. `gaps` only says where and why; nobody has to add anything for them.
The last part grows until `state` is no longer "recording"; a part that has a next one does not grow any more.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from engine.audio.wav import repair, wav_facts
from engine.errors import Code, EngineError
from engine.files import atomic_write, shown
from engine.models.disk import locked, writing

FACTS_FILE = "recording.json"
_LOCK_FILE = "recorder.lock"

State: TypeAlias = Literal["recording", "stopped", "recovered"]
Why: TypeAlias = Literal["lost", "switched", "overflow", "paused"]


@dataclass(frozen=True, slots=True)
class Part:
    """One file: its name in the folder, its form, and when it starts in the recording's time (ms)."""

    file: str
    rate: int
    channels: int
    start: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Sound that is missing. An overflow or a pause takes no time of the recording: there `end` is `start`."""

    start: int
    end: int
    why: Why


@dataclass(frozen=True, slots=True)
class RecordingFacts:
    """What recording.json holds."""

    id: str  # the folder's name
    started: int  # ms since the epoch
    device: str  # the microphone's name
    state: State = "recording"
    parts: tuple[Part, ...] = ()
    gaps: tuple[Gap, ...] = ()


def recordings_folder(data: Path) -> Path:
    """Where all recordings are. EngineError NOT_WRITABLE when it cannot be made."""
    folder = data / "recordings"
    with writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def new_folder(data: Path) -> Path:
    """Make the folder of a new recording, named after the time of day; EngineError NOT_WRITABLE or DISK_FULL."""
    parent = recordings_folder(data)
    name = datetime.now().astimezone().strftime("%Y-%m-%d %H-%M-%S")
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name} ({number})")
        with writing(folder), suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            return folder
    raise AssertionError


def is_recording(source: bytes) -> bool:
    """Whether this path (os.fsencode) is the folder of a recording."""
    return os.path.isfile(os.path.join(source, os.fsencode(FACTS_FILE)))  # noqa: PTH113, PTH118 (bytes)


def length(folder: Path, facts: RecordingFacts) -> int:
    """Milliseconds of the whole timeline, by the size of the last part. EngineError as of `wav_facts`."""
    if not facts.parts:
        return 0
    last = facts.parts[-1]
    return last.start + wav_facts(folder / last.file).frames * 1000 // last.rate


def part_name(number: int) -> str:
    """The file of the part `number`, counted from 1."""
    return "audio.wav" if number == 1 else f"audio-{number}.wav"


def read_facts(folder: Path) -> RecordingFacts:
    """EngineError NOT_FOUND when there is no recording.json, DAMAGED when it is none."""
    path = folder / FACTS_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecordingFacts)
    except OSError as error:
        raise EngineError(Code.NOT_FOUND, f"{shown(path)}: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise EngineError(Code.DAMAGED, f"{shown(path)}: {error}") from error


def write_facts(folder: Path, facts: RecordingFacts) -> None:
    """Replace recording.json whole. EngineError DISK_FULL or NOT_WRITABLE; then the old one stays."""
    atomic_write(folder / FACTS_FILE, msgspec.json.format(msgspec.json.encode(facts)), overwrite=True)


@contextmanager
def living(folder: Path) -> Generator[None]:
    """Show for the time of the block that the recording has a recorder; the system ends that when it dies."""
    with locked(folder / _LOCK_FILE, wait=True):
        yield


def is_living(folder: Path) -> bool:
    """Whether a recorder is at work on it now."""
    try:
        with locked(folder / _LOCK_FILE, wait=False):
            return False
    except EngineError as error:
        return error.code is Code.MODEL_BUSY


def unfinished(data: Path) -> list[Path]:
    """The folders of recordings that were cut off, repaired and marked "recovered", the oldest first.

    Those that are being recorded now are left alone. Nothing is ever deleted; what cannot be repaired now, e.g. on a
    full disk, is tried again the next time.
    """
    found: list[Path] = []
    for folder in sorted(path for path in recordings_folder(data).iterdir() if path.is_dir()):
        with suppress(EngineError):
            if recover(folder):
                found.append(folder)
    return found


def recover(folder: Path) -> bool:
    """Repair the recording if it was cut off; whether it was. EngineError as of `read_facts` and `repair`."""
    facts = read_facts(folder)
    if facts.state != "recording" or is_living(folder):
        return False
    parts = [part for part in facts.parts if (folder / part.file).exists()]
    for part in parts:
        repair(folder / part.file, part.rate, part.channels)
    write_facts(folder, replace(facts, state="recovered", parts=tuple(parts)))
    return True
