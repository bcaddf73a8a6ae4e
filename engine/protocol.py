"""What the window and the engine say to each other: one JSON object a line, both ways.

    events    engine → window: ready · started · loaded · language · progress · partial · segment · timings
              · notice · done · failed
    commands  window → engine: transcribe · listen · hold · go_on · stop

Paths travel as bytes (os.fsencode; base64 in JSON), since a file name need not be text.
A line that is not one of these is a ProtocolError: the other side is broken, not merely late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from engine.types import Options, Segment, Timings

VERSION = 1
MAX_LINE = 4 * 1024 * 1024  # bytes; a segment of 30 s with all its words is below 100 kB

Stage: TypeAlias = Literal["opening", "building", "loading", "listening", "transcribing"]


class ProtocolError(Exception):
    """A line that is not of this protocol."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker runs and takes commands; no model is loaded yet."""

    version: int
    pid: int


@dataclass(frozen=True, slots=True)
class Started:
    """The file is open. `duration` is None when the file does not know it; `track` counts from 1."""

    job: int
    duration: int | None
    track: int
    track_name: str
    tracks: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model is in memory, or still was. `device` is for people: "CPU: no GPU in this build"."""

    job: int
    model: str
    backend: str
    device: str
    reason: str
    load_ms: int
    window_ms: int  # what one window of 30 s is expected to take, for the watch on hangs
    gpu: bool = False  # it runs on one, which is what a death may come from
    encoder: str = ""  # the Core ML encoder in use, by the name of its folder: the same holds for it


@dataclass(frozen=True, slots=True)
class Language:
    """The language of the file; `probability` is None when the user gave it."""

    job: int
    code: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """In the stage "transcribing" everything before `done` is settled: its segments were sent and will not change.

    Of a recording that goes on, `total` is how much there is by now, and in the stage "listening" `done` is how much
    of it was heard: `total - done` is how far the text is behind.
    """

    job: int
    stage: Stage
    done: int
    total: int | None
    left: int | None  # milliseconds of wall time, from the speed so far


@dataclass(frozen=True, slots=True)
class Partial:
    """Words for the eye only, from `start` on; never stored. The next one, or a segment, takes their place."""

    job: int
    start: int
    text: str  # may still change …
    firm: str = ""  # … and this right before it only grows, until the segment comes


@dataclass(frozen=True, slots=True)
class SegmentEvent:
    """One more segment; what is shown is what is stored."""

    job: int
    segment: Segment


@dataclass(frozen=True, slots=True)
class TimingsEvent:
    """The timing table so far."""

    job: int
    timings: Timings


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know that does not stop the work.

    Codes: channels_cancel, quiet, damaged_at, late_sound, gpu_failed, repeats, uncovered, cpu_only, profile, ….
    `start` and `end` name the stretch of the file it is about, when there is one.
    """

    job: int
    code: str
    detail: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The file is through. `outcome` is "no_speech" when nothing was said in it."""

    job: int
    outcome: Literal["text", "no_speech"]
    duration: int
    speech: int  # how much of it is speech
    peak_dbfs: float | None  # loudest sample; None for digital silence


@dataclass(frozen=True, slots=True)
class Failed:
    """The job ended without a result. Segments already sent stand."""

    job: int
    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Transcribe:
    """Do this file next. `resume_at` is the last `Progress.done` of an earlier run."""

    job: int
    path: bytes
    options: Options
    resume_at: int = 0


@dataclass(frozen=True, slots=True)
class Listen:
    """Write down the recording in `folder` while it grows, until it has been stopped and all of it is text.

    See engine/recording.py for the folder; `resume_at` is as in Transcribe, `language` what the earlier run found.
    """

    job: int
    folder: bytes
    options: Options
    resume_at: int = 0
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """Finish the window at hand, then wait: somebody is recording, and the processor is for that."""


@dataclass(frozen=True, slots=True)
class GoOn:
    """Hold no longer."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End after the current file. To end at once, kill the process: nothing is lost by it."""


Event: TypeAlias = (
    Ready | Started | Loaded | Language | Progress | Partial | SegmentEvent | TimingsEvent | Notice | Done | Failed
)
Job: TypeAlias = Transcribe | Listen
Command: TypeAlias = Job | Hold | GoOn | Stop

_EVENTS: dict[str, type[Event]] = {
    "ready": Ready,
    "started": Started,
    "loaded": Loaded,
    "language": Language,
    "progress": Progress,
    "partial": Partial,
    "segment": SegmentEvent,
    "timings": TimingsEvent,
    "notice": Notice,
    "done": Done,
    "failed": Failed,
}
_COMMANDS: dict[str, type[Command]] = {
    "transcribe": Transcribe,
    "listen": Listen,
    "hold": Hold,
    "go_on": GoOn,
    "stop": Stop,
}
_NAMES: dict[type, str] = {kind: name for name, kind in (*_EVENTS.items(), *_COMMANDS.items())}
_T = TypeVar("_T")


def encode(message: Event | Command) -> bytes:
    """One line with its newline; the message's name stands under "is"."""
    return msgspec.json.encode({"is": _NAMES[type(message)], **msgspec.to_builtins(message)}) + b"\n"


def decode_event(line: bytes) -> Event:
    """The event in a line; ProtocolError when it is none."""
    return _decode(line, _EVENTS)


def decode_command(line: bytes) -> Command:
    """The command in a line; ProtocolError when it is none."""
    return _decode(line, _COMMANDS)


def _decode(line: bytes, kinds: Mapping[str, type[_T]]) -> _T:
    try:
        body = msgspec.json.decode(line, type=dict[str, Any])
        return msgspec.convert(body, type=kinds[body.pop("is")])
    except (msgspec.MsgspecError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ProtocolError(f"not a message of this protocol: {line[:80]!r} ({error})") from error
