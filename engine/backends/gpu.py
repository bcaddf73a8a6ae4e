"""Whether the GPU may be used: tried once in a child process, since a bad driver kills whoever asks it.

The verdict is kept in the state folder for this version of the engine and can be forgotten again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec

from engine.endings import ending
from engine.files import atomic_write

PROBE_SECONDS = 300  # a first Metal start compiles its shaders


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the trial said."""

    works: bool
    detail: str
    engine: str  # the version of pywhispercpp it is about


def gpu_verdict(state: Path, model: Path, probe: Callable[[Path], subprocess.CompletedProcess[bytes]]) -> Verdict:
    """The remembered verdict, or that of a trial with `model` now."""
    known = remembered(state)
    if known is not None:
        return known
    try:
        code = probe(model).returncode
        verdict = Verdict(code == 0, "" if code == 0 else ending(abs(code), code < 0).detail, _engine())
    except subprocess.TimeoutExpired:
        verdict = Verdict(False, f"It did not answer within {PROBE_SECONDS} s.", _engine())
    atomic_write(_file(state), msgspec.json.encode(verdict), overwrite=True)
    return verdict


def remembered(state: Path) -> Verdict | None:
    """The verdict on this version; None when there is none, or none that can be read."""
    try:
        verdict = msgspec.json.decode(_file(state).read_bytes(), type=Verdict)
    except (OSError, msgspec.MsgspecError):
        return None
    return verdict if verdict.engine == _engine() else None


def forget(state: Path) -> None:
    """Try the GPU again at the next start."""
    _file(state).unlink(missing_ok=True)


def run_probe(model: Path) -> subprocess.CompletedProcess[bytes]:
    """Load `model` on the GPU in a child and decode a second of silence there."""
    command = [sys.executable, "-P", "-m", "engine", "gpu-probe", str(model)]
    return subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=False, cwd=model.parent)


def _file(state: Path) -> Path:
    return state / "gpu.json"


def _engine() -> str:
    return f"pywhispercpp {version('pywhispercpp')}"
