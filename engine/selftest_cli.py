"""`sottovoce selftest`: what this machine has, in plain words, and whether it can transcribe."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import wave
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from engine.errors import Code, EngineError
from engine.folders import models_folder, state_folder
from engine.verbs import Verbs
from engine.versions import runtimes

_DEFAULT_MODEL = "base"


def add_parser(verbs: Verbs) -> None:
    """Describe the verb and its options."""
    parser = verbs.add_parser("selftest", help="say what this machine has and whether it can transcribe")
    parser.add_argument("--model", default=_DEFAULT_MODEL, metavar="NAME|PATH")
    parser.add_argument("--forget-gpu", action="store_true", help="try the GPU again, although it failed before")
    parser.add_argument("--again", action="store_true", help="check again which backend is the fastest")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, data: Path) -> int:
    """Print a line a part; 1 when some part that is needed does not work."""
    if arguments.forget_gpu:
        from engine.backends.gpu import forget  # noqa: PLC0415

        forget(state_folder(data))
    if arguments.again:
        from engine.backends.selfcheck import forget as forget_checks  # noqa: PLC0415

        forget_checks(state_folder(data))
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("machine", _machine),
        ("processor", _processor),
        ("media", _media),
        ("speech", _speech),
        ("runtimes", runtimes),
        ("models", lambda: _models(data)),
        ("transcribe", lambda: _transcribe(_absolute(arguments.model), data)),
        ("backends", lambda: _backends(_absolute(arguments.model), data)),
    )
    passed = [_passes(name, check) for name, check in checks]  # all of them, also after a failure
    return 0 if all(passed) else 1


def _passes(name: str, check: Callable[[], str]) -> bool:
    try:
        print(f"{name:<12}{check()}", flush=True)
    except (EngineError, ImportError, OSError) as error:  # a library that is missing, or one that it needs
        print(f"{name:<12}NO: {error}", flush=True)
        return False
    return True


def _machine() -> str:
    from engine.memory import installed_memory  # noqa: PLC0415

    memory = installed_memory()
    size = f", {memory / 1e9:.0f} GB of memory" if memory else ""
    return f"{platform.system()} {platform.release()} on {platform.machine()}{size}, Python {platform.python_version()}"


def _processor() -> str:
    from engine.backends.cpu import missing_instructions, physical_cores  # noqa: PLC0415

    if missing := missing_instructions():
        return f"{physical_cores()} cores, without {', '.join(missing)}, which whisper.cpp needs: onnx does its work"
    return f"{physical_cores()} cores, with the instructions that whisper.cpp needs"


def _media() -> str:
    import av  # noqa: PLC0415

    return f"PyAV {av.__version__} reads {len(av.formats_available)} file formats"


def _speech() -> str:
    import numpy as np  # noqa: PLC0415

    from engine.speech.vad import SpeechDetector  # noqa: PLC0415

    SpeechDetector().probabilities(np.zeros(16_000, np.float32))
    return f"voice detection runs (Silero on ONNX Runtime {version('onnxruntime')})"


def _models(data: Path) -> str:
    from engine.models.store import ModelStore  # noqa: PLC0415

    names = [model.name for model in ModelStore(models_folder(data)).list()]
    return ", ".join(names) or "none yet: `sottovoce models download base`"


def _transcribe(model: str, data: Path) -> str:
    """Transcribe a second of silence as a job would, in a process of its own: a crash there is an answer as well."""
    from engine.child import EngineProcess  # noqa: PLC0415
    from engine.protocol import Failed, Loaded, Transcribe  # noqa: PLC0415
    from engine.types import Options  # noqa: PLC0415

    engine, said = EngineProcess(data), ""
    with tempfile.TemporaryDirectory() as folder, closing(engine):
        command = Transcribe(1, os.fsencode(_silence(Path(folder))), Options(model=model, language="en", vad=False))
        for event in engine.events(command):
            if isinstance(event, Loaded):
                how = f"by {event.backend} on {event.device} ({event.reason})"
                said = f"{model} {how}, loaded in {event.load_ms / 1000:.1f} s"
            if isinstance(event, Failed):
                raise EngineError(Code(event.code), event.detail)
    return said


def _backends(model: str, data: Path) -> str:
    """What the self-check found, a line a candidate; the job before this one has made it, unless it was known."""
    from engine.backends.reference import reference_words  # noqa: PLC0415
    from engine.backends.select import candidates_for, neural_status, spelt_encoder, whispercpp_lacks  # noqa: PLC0415
    from engine.backends.selfcheck import Finding, spelt, verdict_on  # noqa: PLC0415
    from engine.models.store import ModelStore  # noqa: PLC0415
    from engine.types import Options  # noqa: PLC0415

    def line(finding: Finding) -> str:
        took = f"{finding.ms / 1000:.2f} s, {spelt(finding.speed)} × real time, " if finding.ms is not None else ""
        right = f"{words - finding.wrong} of {words} words right" if not finding.trouble else finding.trouble
        return f"{finding.candidate!s:<22}{took}{right}"

    file, options, words = ModelStore(models_folder(data)).resolve(model), Options(model=model), len(reference_words())
    if lacks := whispercpp_lacks():
        return f"onnx; whisper.cpp is not available: {lacks}"
    encoder = spelt_encoder(neural_status(file, data))
    verdict = verdict_on(candidates_for(options, file, data), options, file, data, lambda _done, _of: None, encoder)
    return f"\n{'':<12}".join(line(finding) for finding in verdict.findings)


def _silence(folder: Path) -> Path:
    file = folder / "silence.wav"
    with wave.open(str(file), "wb") as out:
        out.setparams((1, 2, 16_000, 16_000, "NONE", ""))
        out.writeframes(bytes(32_000))
    return file


def _absolute(model: str) -> str:
    """A path as an absolute one: the engine runs in another folder."""
    return str(Path(model).absolute()) if "/" in model or os.sep in model or model.endswith(".bin") else model
