"""Which backend and device run a model, and why; the answer is shown to the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess

from engine.backends import coreml_runtime
from engine.backends.base import Backend
from engine.backends.cpu import check_cpu, missing_instructions
from engine.backends.fake import Fake, script
from engine.backends.gpu import Verdict, gpu_verdict, remembered, run_probe
from engine.backends.names import BACKENDS
from engine.backends.selfcheck import Candidate, verdict_on
from engine.coreml.link import linked
from engine.coreml.records import State, Status, coreml_folder, status_of
from engine.errors import Code, EngineError
from engine.folders import cache_folder, state_folder
from engine.models.store import digest_of
from engine.types import Options
from engine.versions import INSTALL_TRACT

_GPU, _ONNX, _WHISPERCPP = Candidate("whispercpp", "gpu"), Candidate("onnx"), Candidate("whispercpp")
_COREML, _WHISPERCPP_COREML = Candidate("coreml", "neural"), Candidate("whispercpp", "neural")


@dataclass(frozen=True, slots=True)
class Choice:
    """A loaded backend, the reason it was taken, and whether a GPU was passed over because it had failed.

    `encoder` names the Core ML encoder that is used. Should it fail at work, the backend goes on without it, and
    `failures` says why.
    """

    backend: Backend
    reason: str
    gpu_failed: str = ""
    encoder: str = ""
    failures: list[str] = field(default_factory=list[str])


def load_backend(options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]) -> Choice:
    """Load `model` as `options` ask; "auto" takes what the self-check found to be the fastest, see `selfcheck`.

    `on_part(done, of)` is told when something has to be built or checked first.
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
    if options.backend == "coreml":
        return _coreml(options, model, data, on_part)
    if options.backend == "whispercpp":
        return _whispercpp(options, model, data)
    return _auto(options, model, data, on_part)


def whispercpp_lacks() -> str:
    """What whisper.cpp lacks here; "" when it can run. It is loaded only on a processor that has its instructions."""
    if missing := missing_instructions():
        return f"this processor has no {', '.join(missing)}"
    try:
        import_module("engine.backends.whispercpp")
    except ImportError as error:
        return str(error)
    return ""


def candidates_for(options: Options, model: Path, data: Path) -> tuple[Candidate, ...]:
    """What "auto" chooses from: the first is likely to be the fastest, the last the most proven. A GPU is tried."""
    neural = neural_candidates(model, data) if options.device in {"auto", "neural"} else ()
    if options.device == "neural" and neural:
        return neural
    if whispercpp_lacks():
        return (*neural, _ONNX)
    gpu = None if options.device == "cpu" else _gpu(model, state_folder(data))
    if gpu is None or not gpu.works:
        return (*neural, _ONNX, _WHISPERCPP)
    return (_GPU,) if options.device == "gpu" else (*neural, _GPU, _ONNX, _WHISPERCPP)


def neural_candidates(model: Path, data: Path) -> tuple[Candidate, ...]:
    """The ways to run a model whose Core ML encoder is ready; none elsewhere, which costs nothing to find out."""
    if neural_status(model, data).state is not State.READY:
        return ()
    return (_COREML, _WHISPERCPP_COREML) if not whispercpp_lacks() and _coreml_in_build() else (_COREML,)


def neural_status(model: Path, data: Path) -> Status:
    """How it stands with a model's Core ML encoder. Without any, the file need not be hashed."""
    cache, system = cache_folder(data), coreml_runtime.SYSTEM
    digest = digest_of(model) if coreml_folder(cache).is_dir() else ""
    return status_of(cache, digest, system.unsupported(), system.build())


def _auto(options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]) -> Choice:
    neural = neural_status(model, data)
    candidates = candidates_for(options, model, data)
    if candidates == (_ONNX,):
        return replace(
            _onnx(options, model, data, on_part), reason=f"whisper.cpp is not available: {whispercpp_lacks()}"
        )
    if candidates == (_GPU,):
        return _whispercpp(options, model, data)
    verdict = verdict_on(candidates, options, model, data, on_part, spelt_encoder(neural))
    usual = next(usual for usual in (_GPU, _WHISPERCPP, _ONNX, _COREML) if usual in candidates)
    best = verdict.lowest_power if options.low_power and verdict.lowest_power else verdict.best
    chosen, reason = best.candidate if best else usual, _with_neural(str(verdict), neural, options)
    try:
        loaded = _load(chosen, options, model, data, on_part)
    except EngineError as error:
        if chosen == usual:
            raise
        loaded, reason = _load(usual, options, model, data, on_part), f"{chosen} could not be loaded: {error}"
    gpu = None if options.device == "cpu" else remembered(state_folder(data), model)
    return replace(loaded, reason=reason, gpu_failed=gpu.detail if gpu and not gpu.works else "")


def spelt_encoder(neural: Status) -> str:
    """The Core ML encoder of a model and the system it is ready in, as what a verdict depends on."""
    return f"{neural.folder.name} {neural.record.system}" if neural.folder and neural.record else ""


def _with_neural(reason: str, neural: Status, options: Options) -> str:
    """The reason, and what there is to say of the Neural Engine where one is known for this model."""
    if neural.record is None or neural.state is State.UNSUPPORTED or options.device in {"cpu", "gpu"}:
        return reason
    if neural.state is not State.READY:
        return f"{reason}; {neural}"
    return f"{reason}; low power is preferred" if options.low_power else reason


def _load(
    candidate: Candidate, options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]
) -> Choice:
    options = replace(options, backend=candidate.backend, device=candidate.device)
    return load_backend(options, model, data, on_part)


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
        raise EngineError(Code.BACKEND_MISSING, f"To install it, type: {INSTALL_TRACT}") from error

    reason = "asked for" if options.precision == "fp32" else "asked for; tract has no int8 of ours, so fp32"
    return Choice(load_tract(options, model, digest_of(model), cache_folder(data), on_part), reason)


def _coreml(options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]) -> Choice:
    from engine.backends.coreml import load_coreml  # noqa: PLC0415

    failures = list[str]()
    backend, encoder = load_coreml(options, model, digest_of(model), cache_folder(data), on_part, failures.append)
    return Choice(backend, "asked for", encoder=encoder, failures=failures)


def _whispercpp(options: Options, model: Path, data: Path) -> Choice:
    check_cpu()  # before the import: the library's first instruction may be the wrong one
    from engine.backends.whispercpp import WhisperCpp  # noqa: PLC0415

    def load(use_gpu: bool) -> WhisperCpp:
        return WhisperCpp(model, use_gpu, options.threads)

    if options.device == "cpu":
        return Choice(load(use_gpu=False), "CPU asked for")
    if options.device == "neural":
        return _whispercpp_coreml(options, model, data)
    gpu = _gpu(model, state_folder(data))
    return Choice(load(use_gpu=True), "asked for") if gpu is None else _by_verdict(load, gpu)


def _whispercpp_coreml(options: Options, model: Path, data: Path) -> Choice:
    """whisper.cpp with the encoder of Core ML and, where it may be used, the decoder on the GPU."""
    from engine.backends.whispercpp import WhisperCpp, coreml_in_build  # noqa: PLC0415

    status = neural_status(model, data)
    if status.folder is None or status.state is not State.READY:
        raise EngineError(Code.BACKEND_MISSING, str(status))
    if not coreml_in_build():
        raise EngineError(
            Code.BACKEND_MISSING, "This build of whisper.cpp has no Core ML; “--backend coreml” needs none."
        )
    gpu = _gpu(model, state_folder(data))
    backend = WhisperCpp(linked(model, status.folder), gpu is not None and gpu.works, options.threads, neural=True)
    return Choice(backend, "asked for", encoder=status.folder.name)


def _coreml_in_build() -> bool:
    from engine.backends.whispercpp import coreml_in_build  # noqa: PLC0415

    return coreml_in_build()


def _gpu(model: Path, state: Path) -> Verdict | None:
    """Whether whisper.cpp's GPU may be used; None when this build of it has none."""
    from engine.backends.whispercpp import gpu_in_build  # noqa: PLC0415

    return gpu_verdict(state, model, run_probe) if gpu_in_build() else None


def _by_verdict(load: Callable[[bool], Backend], verdict: Verdict) -> Choice:
    if verdict.works:
        return Choice(load(True), "the GPU passed its trial")
    return Choice(load(False), "the GPU failed before", verdict.detail)
