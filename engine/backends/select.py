"""Which backend and device run a model, and why; the answer is shown to the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

from engine.backends.base import Backend
from engine.backends.cpu import check_cpu
from engine.backends.fake import Fake, script
from engine.backends.gpu import Verdict, gpu_verdict, run_probe
from engine.backends.names import BACKENDS
from engine.errors import Code, EngineError
from engine.folders import cache_folder, state_folder
from engine.models.store import digest_of
from engine.types import Options

_INSTALL_TRACT = "pip install 'tract>=0.23,<0.24'"


@dataclass(frozen=True, slots=True)
class Choice:
    """A loaded backend, the reason it was taken, and whether a GPU was passed over because it had failed."""

    backend: Backend
    reason: str
    gpu_failed: str = ""


def load_backend(options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]) -> Choice:
    """Load `model` as `options` ask; "auto" takes whisper.cpp, on the GPU where that works.

    `on_part(done, of)` is told when something has to be built first.
    EngineError BACKEND_MISSING, BACKEND_FAILED, CPU_TOO_OLD or OUT_OF_MEMORY.
    """
    if options.backend == "fake":
        return _fake(options, model, state_folder(data))
    if options.backend not in BACKENDS:
        raise EngineError(Code.BACKEND_MISSING, f"There is no backend {options.backend!r}.")
    if options.backend == "onnx":
        return _onnx(options, model, data, on_part)
    if options.backend == "tract":
        return _tract(options, model, data, on_part)
    return _whispercpp(options, model, state_folder(data))


def _fake(options: Options, model: Path, state: Path) -> Choice:
    """With a script that has a GPU, which always passes its trial, as with a real one."""
    if options.device == "cpu" or not script().gpu:
        return Choice(Fake(use_gpu=False), "asked for")
    return _by_verdict(Fake, gpu_verdict(state, model, lambda _model: CompletedProcess((), 0)))


def _onnx(options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]) -> Choice:
    from engine.backends.onnx import load_onnx  # noqa: PLC0415

    return Choice(load_onnx(options, model, digest_of(model), cache_folder(data), on_part), "asked for")


def _tract(options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]) -> Choice:
    try:
        from engine.backends.tract import load_tract  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise EngineError(Code.BACKEND_MISSING, f"To install it, type: {_INSTALL_TRACT}") from error

    reason = "asked for" if options.precision == "fp32" else "asked for; tract has no int8 of ours, so fp32"
    return Choice(load_tract(options, model, digest_of(model), cache_folder(data), on_part), reason)


def _whispercpp(options: Options, model: Path, state: Path) -> Choice:
    check_cpu()  # before the import: the library's first instruction may be the wrong one
    from engine.backends.whispercpp import WhisperCpp, gpu_in_build  # noqa: PLC0415

    def load(use_gpu: bool) -> WhisperCpp:
        return WhisperCpp(model, use_gpu, options.threads)

    if options.device == "cpu":
        return Choice(load(use_gpu=False), "CPU asked for")
    if not gpu_in_build():
        return Choice(load(use_gpu=True), "the only one here")
    return _by_verdict(load, gpu_verdict(state, model, run_probe))


def _by_verdict(load: Callable[[bool], Backend], verdict: Verdict) -> Choice:
    if verdict.works:
        return Choice(load(True), "the GPU passed its trial")
    return Choice(load(False), "the GPU failed before", verdict.detail)
