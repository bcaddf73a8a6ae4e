"""One file through our engine, or through another program as its documentation has it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from engine.child import EngineProcess
from engine.collect import Collected
from engine.protocol import Failed, Transcribe
from engine.types import Options, Segment

_PEER = Path(__file__).parent / "peer.py"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a file."""

    text: str
    segments: tuple[Segment, ...]
    seconds: float
    error: str = ""
    outcome: str = ""
    first_segment_after: float | None = None  # seconds of wall time
    peak_memory: int = 0

    @property
    def first_word(self) -> int | None:
        """Where the first word starts, in ms."""
        return self.segments[0].start if self.segments else None


def ours(engine: EngineProcess, path: Path, options: Options) -> Result:
    """Run a file through the engine's worker, as the window and the command line do."""
    collected, began, first, error = Collected(str(path)), time.monotonic(), None, ""
    for event in engine.events(Transcribe(1, os.fsencode(path), options)):
        collected.take(event)
        if collected.segments and first is None:
            first = time.monotonic() - began
        if isinstance(event, Failed):
            error = event.code
    timings = collected.timings
    return Result(
        text=" ".join(segment.text for segment in collected.segments),
        segments=tuple(collected.segments),
        seconds=time.monotonic() - began,
        error=error,
        outcome=collected.done.outcome if collected.done else "",
        first_segment_after=first,
        peak_memory=(timings.peak_memory or 0) if timings else 0,
    )


class Peer:
    """Another program (see peer.py) in a process of its own, with the model warm."""

    def __init__(self, kind: str, model: Path, threads: int, *options: str) -> None:
        command = [sys.executable, "-P", str(_PEER), kind, str(model), str(threads), *options]
        self._command = shlex.join(command)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def transcribe(self, path: Path, language: str) -> Result:
        """The text of a file; the time does not count reading it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"path": str(path), "language": language}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"It died over {path.name}: {self._command}")
        told = json.loads(answer)
        return Result(told["text"], (), told["seconds"], peak_memory=told["peak"])

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
