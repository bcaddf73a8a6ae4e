"""`sottovoce selftest`: what this machine has, in plain words, and whether it can transcribe."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from engine.errors import EngineError
from engine.folders import models_folder, state_folder
from engine.verbs import Verbs

_DEFAULT_MODEL = "base"


def add_parser(verbs: Verbs) -> None:
    """Describe the verb and its options."""
    parser = verbs.add_parser("selftest", help="say what this machine has and whether it can transcribe")
    parser.add_argument("--model", default=_DEFAULT_MODEL, metavar="NAME|PATH")
    parser.add_argument("--forget-gpu", action="store_true", help="try the GPU again, although it failed before")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, data: Path) -> int:
    """Print a line a part; 1 when some part that is needed does not work."""
    if arguments.forget_gpu:
        from engine.backends.gpu import forget  # noqa: PLC0415

        forget(state_folder(data))
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("machine", _machine),
        ("processor", _processor),
        ("media", _media),
        ("speech", _speech),
        ("models", lambda: _models(data)),
        ("transcribe", lambda: _transcribe(arguments.model, data)),
    )
    passed = [_passes(name, check) for name, check in checks]  # all of them, also after a failure
    return 0 if all(passed) else 1


def _passes(name: str, check: Callable[[], str]) -> bool:
    try:
        print(f"{name:<12}{check()}", flush=True)
    except EngineError as error:
        print(f"{name:<12}NO: {error}", flush=True)
        return False
    return True


def _machine() -> str:
    from engine.memory import installed_memory  # noqa: PLC0415

    memory = installed_memory()
    size = f", {memory / 1e9:.0f} GB of memory" if memory else ""
    return f"{platform.system()} {platform.release()} on {platform.machine()}{size}, Python {platform.python_version()}"


def _processor() -> str:
    from engine.backends.cpu import check_cpu, physical_cores  # noqa: PLC0415

    check_cpu()
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
    """Load the model as a job would and decode a second of silence."""
    import numpy as np  # noqa: PLC0415

    from engine.protocol import Loaded  # noqa: PLC0415
    from engine.types import Options  # noqa: PLC0415
    from engine.warm_model import WarmModel  # noqa: PLC0415

    warm, options = WarmModel(data), Options(model=model, language="en")
    loaded = next(event for event in warm.load(0, options) if isinstance(event, Loaded))
    warm.backend.decode([np.zeros(16_000, np.float32)], options)
    warm.close()
    return f"{model} by {loaded.backend} on {loaded.device} ({loaded.reason}), loaded in {loaded.load_ms / 1000:.1f} s"
