"""A scripted backend for tests, demos and screenshots: known words, chosen delays, chosen deaths.

The script is JSON in the environment variable SOTTOVOCE_FAKE; without one every window gets one sentence.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from engine.errors import Code, EngineError
from engine.pipe import PROTOCOL_FD
from engine.types import SAMPLE_RATE, OperatorTime, Options, Phase, Segment, Word

if TYPE_CHECKING:
    from engine.types import Samples

VARIABLE = "SOTTOVOCE_FAKE"
LOAD = -1  # as `Script.die_at`: while the model is loaded


@dataclass(frozen=True, slots=True)
class Script:
    """What the backend does."""

    text: str = "These are the words of window {window}."
    segments: int = 1  # a window
    load_ms: int = 0
    window_ms: int = 0  # how long a window takes
    die: Literal["", "SIGSEGV", "SIGABRT", "SIGKILL", "SIGILL", "exit", "garbage", "hang", "error"] = ""
    die_at: int = 0  # window of the file, counted from 0; LOAD
    gpu: bool = False  # it runs on a "GPU", and only dies there
    once: str = ""  # a file that is made at the first death; while it is there, none follows


class Fake:
    """A backend that follows its script; see `engine.backends.base.Backend`."""

    name = "fake"
    device = "nothing real"
    multilingual = True
    can_switch = False
    batch = 1

    def __init__(self, use_gpu: bool) -> None:
        self.gpu = use_gpu
        self._script = script()
        self._window = 0
        time.sleep(self._script.load_ms / 1000)
        self._perhaps_die(LOAD)

    def decode(
        self,
        batch: Sequence[Samples],
        options: Options,
        speech: Sequence[int] = (),  # noqa: ARG002
    ) -> list[list[Segment]]:
        """As many equal segments as the script says, over the length of each window."""
        return [self._decode(samples, options) for samples in batch]

    def draft(self, samples: Samples, options: Options) -> list[Segment]:
        """The same."""
        return self._decode(samples, options)

    def _decode(self, samples: Samples, options: Options) -> list[Segment]:
        window, script = self._window, self._script
        self._window += 1
        self._perhaps_die(window)
        time.sleep(script.window_ms / 1000)
        step = len(samples) * 1000 // SAMPLE_RATE // script.segments
        text = script.text.format(window=window)
        return [_spoken(text, number * step, step, options.language) for number in range(script.segments)]

    def detect_language(self, samples: Samples) -> tuple[str, float]:  # noqa: ARG002
        """English, surely."""
        return "en", 1.0

    def phases(self) -> tuple[Phase, ...]:
        """One line for the windows so far."""
        return (Phase("decode", self._window * self._script.window_ms, self._window),)

    def reset_phases(self) -> None:
        """Count windows of the next file from 0."""
        self._window = 0

    def operators(self) -> tuple[OperatorTime, ...]:
        """It has none."""
        return ()

    def buffers(self) -> Mapping[str, int]:
        """Nothing is held."""
        return {}

    def close(self) -> None:
        """Nothing to free."""

    def _perhaps_die(self, at: int) -> None:
        script = self._script
        if script.gpu and not self.gpu:
            return
        if not script.die or script.die_at != at or (script.once and Path(script.once).exists()):
            return
        if script.once:
            Path(script.once).touch()
        _die(script.die)


def _die(how: str) -> None:
    if how == "exit":
        os._exit(1)
    if how == "hang":
        time.sleep(3600)
    if how == "garbage":
        os.write(PROTOCOL_FD, b"\x00\xffggml: this is not an event\n")
        time.sleep(3600)
    if how == "error":
        raise EngineError(Code.BACKEND_FAILED, "as the script says")
    os.kill(os.getpid(), signal.Signals[how])


def script() -> Script:
    """What the environment asks for; EngineError BACKEND_FAILED when it is no script."""
    text = os.environ.get(VARIABLE, "{}")
    try:
        return msgspec.json.decode(text, type=Script)
    except msgspec.MsgspecError as error:
        raise EngineError(Code.BACKEND_FAILED, f"{VARIABLE} is no script: {error}") from error


def _spoken(text: str, start: int, length: int, language: str) -> Segment:
    """`text` with its words spread evenly."""
    parts = text.split()
    step = length // max(1, len(parts))
    words = tuple(Word(start + i * step, start + (i + 1) * step, f" {part}", 0.9) for i, part in enumerate(parts))
    return Segment(start, start + length, text, words, language=language, avg_logprob=-0.1)
