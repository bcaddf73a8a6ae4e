"""What flows through the engine: audio, speech, windows, segments, transcripts.

Every time is an integer of milliseconds counted from the start of the file (or picture).
Audio is float32, mono, 16 kHz, nominally within -1 … 1. This module imports neither numpy nor Qt,
so that the window can use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples: TypeAlias = NDArray[np.float32]
    Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
else:
    Json = Any

SAMPLE_RATE = 16_000
SAMPLES_PER_MS = SAMPLE_RATE // 1000
WINDOW_MS = 30_000  # what Whisper's encoder sees at once
WORDLESS_MS = 1_500  # speech that is shorter may well have no words: breaths and laughter

Task: TypeAlias = Literal["transcribe", "translate"]
Device: TypeAlias = Literal["auto", "cpu", "gpu", "neural"]  # neural: Apple's Neural Engine, through Core ML
Precision: TypeAlias = Literal["int8", "fp32"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its own leading space kept in `text` (" word"), as the tokens had it."""

    start: int
    end: int
    text: str
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence or phrase. `flags` says what the reader should know of it, e.g. "repeats"."""

    start: int
    end: int
    text: str
    words: tuple[Word, ...] = ()
    speaker: str | None = None
    language: str | None = None
    avg_logprob: float | None = None
    no_speech_prob: float | None = None
    flags: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])  # unknown keys of an imported file


@dataclass(frozen=True, slots=True)
class Phase:
    """Time one stage of the pipeline has taken: milliseconds in all, and in how many runs."""

    name: str
    ms: int
    runs: int = 1


@dataclass(frozen=True, slots=True)
class OperatorTime:
    """Time one kind of operator of a runtime has taken in one graph: milliseconds in all, and in how many runs."""

    graph: str
    operator: str
    ms: float
    runs: int


@dataclass(frozen=True, slots=True)
class Timings:
    """The timing table of a run, complete or so far."""

    total: int = 0  # wall time since the file was opened
    audio: int = 0  # how much of the file is behind us
    phases: tuple[Phase, ...] = ()
    buffers: Mapping[str, int] = field(default_factory=dict[str, int])  # bytes by name: weights, self KV, …
    peak_memory: int | None = None  # bytes, the whole process

    @property
    def speed(self) -> float:
        """Times real time: 2.0 means a minute of audio in 30 seconds."""
        return self.audio / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Transcript:
    """A finished or imported transcript; what every export format is written from."""

    source: str
    duration: int | None
    language: str | None
    model: str | None
    backend: str | None
    segments: tuple[Segment, ...]
    timings: Timings | None = None
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is transcribed. Every field reaches the backend explicitly, also 0, False and ""."""

    model: str = "base"  # a name of the catalogue or library, or the absolute path of a ggml file
    backend: str = "auto"
    device: Device = "auto"
    low_power: bool = False  # "auto" takes the Neural Engine where it can be used, even if something else is faster
    precision: Precision = "int8"  # of the onnx and tract backends
    language: str = "auto"  # or a Whisper code: "en", "de", …
    may_switch: bool = False  # a window clearly in another language is written in that one; the pipeline asks for it
    task: Task = "transcribe"
    prompt: str = ""
    words: bool = False  # times and probabilities of single words
    vad: bool = True  # decode only where speech was found
    threads: int = 0  # 0: one a physical core
    beam: int = 1  # 1: greedy
    temperature: float = 0.0
    profile: bool = False  # measure the runtime's operators, for people who work on the engine
    track: int | None = None  # audio track, counted from 1; None: the file's default


@dataclass(frozen=True, slots=True)
class AudioBlock:
    """Consecutive samples, the first of them at `start`."""

    start: int
    samples: Samples


@dataclass(frozen=True, slots=True)
class SpeechSpan:
    """Where someone speaks: [start, end)."""

    start: int
    end: int
