"""What a backend is: a loaded Whisper model that turns one window of audio into segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engine.types import OperatorTime, Options, Phase, Samples, Segment


class Backend(Protocol):
    """A model in memory, ready to decode. One thread uses it at a time."""

    name: str  # "whispercpp", "fake", …
    device: str  # for people: "Metal", "CPU: no GPU in this build"
    gpu: bool
    multilingual: bool
    can_switch: bool  # it follows `Options.may_switch`
    batch: int  # how many windows it likes at once

    def decode(self, batch: Sequence[Samples], options: Options, speech: Sequence[int] = ()) -> list[list[Segment]]:
        """The segments of each window, times counted from the start of its samples (at most 30 s each).

        `speech`, if known, tells until when (ms) someone speaks in each: a backend that can does not stop long before.

        With words when `options.words`. `options.language` is a code here, never "auto"; `options.prompt` is all the
        context there is. With `options.may_switch` a window that is clearly in another language is written in that one,
        if `can_switch`; its segments say so. EngineError BACKEND_FAILED when the runtime reports a failure.
        """
        ...

    def draft(self, samples: Samples, options: Options) -> list[Segment]:
        """As `decode` of one window, but the first that comes to mind: for text that is soon replaced."""
        ...

    def detect_language(self, samples: Samples) -> tuple[str, float]:
        """The most likely language code of at most 30 s of speech, and its probability."""
        ...

    def phases(self) -> tuple[Phase, ...]:
        """Time by stage since `reset_phases`."""
        ...

    def reset_phases(self) -> None:
        """Begin a new timing table."""
        ...

    def operators(self) -> tuple[OperatorTime, ...]:
        """Time by operator since it was loaded, asked once; empty where that is not measured (`Options.profile`)."""
        ...

    def buffers(self) -> Mapping[str, int]:
        """Bytes by name: weights, KV caches, compute buffers."""
        ...

    def close(self) -> None:
        """Give the memory back."""
        ...
