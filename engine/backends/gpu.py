"""Whether the GPU may be used: tried once in a child process, since a bad driver kills whoever asks it.

The verdict is kept in the state folder, by model, for this version of the engine, and can be forgotten again.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec

from engine.coreml.records import coreml_folder, count_death
from engine.endings import ending
from engine.errors import EngineError
from engine.files import atomic_write
from engine.folders import cache_folder, models_folder, state_folder
from engine.models.store import ModelStore, is_model_name
from engine.program import engine_command
from engine.protocol import Loaded
from engine.types import Options

PROBE_SECONDS = 300  # a first Metal start compiles its shaders


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the trial said."""

    works: bool
    detail: str
    engine: str  # the version of pywhispercpp it is about


def gpu_verdict(state: Path, model: Path, probe: Callable[[Path], subprocess.CompletedProcess[bytes]]) -> Verdict:
    """The remembered verdict on `model`, or that of a trial with it now."""
    known = remembered(state, model)
    if known is not None:
        return known
    try:
        code = probe(model).returncode
        verdict = Verdict(code == 0, "" if code == 0 else ending(abs(code), code < 0).detail, _engine())
    except subprocess.TimeoutExpired:
        verdict = Verdict(False, f"It did not answer within {PROBE_SECONDS} s.", _engine())
    _remember(state, model, verdict)
    return verdict


def remembered(state: Path, model: Path) -> Verdict | None:
    """The verdict on this model and this version; None when there is none, or none that can be read."""
    verdict = _verdicts(state).get(_key(model))
    return verdict if verdict and verdict.engine == _engine() else None


def condemn(data: Path, options: Options, why: str) -> None:
    """Keep the model of `options` off the GPU from now on: it passed its trial there, but then it failed at work."""
    _remember(state_folder(data), _model_file(data, options), Verdict(False, why, _engine()))


def blame(data: Path, options: Options, loaded: Loaded, why: str) -> None:
    """The engine died with this loaded: whatever else than the CPU it ran on may be the reason."""
    if loaded.encoder:
        with suppress(EngineError):
            count_death(coreml_folder(cache_folder(data)) / loaded.encoder, why)
    elif loaded.gpu:
        condemn(data, options, why)


def forget(state: Path) -> None:
    """Try the GPU again at the next start."""
    _file(state).unlink(missing_ok=True)


def run_probe(model: Path) -> subprocess.CompletedProcess[bytes]:
    """Load `model` on the GPU in a child and decode a second of silence there."""
    command = engine_command("gpu-probe", str(model))
    return subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=False, cwd=model.parent)


def _model_file(data: Path, options: Options) -> Path:
    """Where the model is, unchecked: it was loaded from there."""
    if options.backend == "fake":
        return Path()
    stored = ModelStore(models_folder(data)).get(options.model) if is_model_name(options.model) else None
    return stored.path if stored else Path(options.model)


def _key(model: Path) -> str:
    """A model by name and size; its hash is not known to everybody who asks."""
    return f"{model.name} {model.stat().st_size if model.is_file() else 0}"


def _verdicts(state: Path) -> dict[str, Verdict]:
    try:
        return msgspec.json.decode(_file(state).read_bytes(), type=dict[str, Verdict])
    except (OSError, msgspec.MsgspecError):
        return {}


def _remember(state: Path, model: Path, verdict: Verdict) -> None:
    """Where it cannot be written, the trial is made again each time."""
    with suppress(EngineError):
        atomic_write(_file(state), msgspec.json.encode(_verdicts(state) | {_key(model): verdict}), overwrite=True)


def _file(state: Path) -> Path:
    return state / "gpu.json"


def _engine() -> str:
    return f"pywhispercpp {version('pywhispercpp')}"
