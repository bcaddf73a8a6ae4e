"""What is done in each step to a ready encoder: every one runs in a process of its own, which may hang or die.

build     ggml file → package                      everywhere
prove     evaluate it in numpy against a plain encoder; keep what it is to give      everywhere
compile   package → compiled program               the rest on a Mac
prepare   load it once: macOS prepares the Neural Engine, for minutes the first time
check     compare what it gives with what it is to give, and take its time
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

import numpy as np

from engine.backends.coreml_runtime import CoremlSystem
from engine.coreml.comparison import check_mel, demand
from engine.coreml.records import compiled_of, expected_of, package_of
from engine.errors import Code, EngineError
from engine.files import atomic_file
from engine.graphs.coreml_encoder import INPUT, OUTPUT, CoremlOptions
from engine.models.disk import check_space, writing
from engine.models.ggml import GgmlModel, read_model

Figures = dict[str, float]
TIMED_RUNS = 3
_SPARE = 300_000_000  # bytes for Python, coremltools and what lies around
_PROOF_FLOATS = 8  # float32 results as large as a layer's attention or network that live at once while proving


class Step(StrEnum):
    """The steps in their order."""

    BUILD = "build"
    PROVE = "prove"
    COMPILE = "compile"
    PREPARE = "prepare"
    CHECK = "check"


def build(model: Path, folder: Path, options: CoremlOptions, system: CoremlSystem) -> Figures:
    """Write the package. EngineError OUT_OF_MEMORY, DISK_FULL, NOT_WRITABLE, MODEL_DAMAGED."""
    from engine.graphs.coreml_package import write_package  # noqa: PLC0415

    read, began = read_model(model), time.monotonic()
    size = package_bytes(read, options)
    check_free_memory(system, 2 * size + _SPARE)
    check_space(folder, (3 if options.parts > 1 else 2) * size)
    package = package_of(folder)
    with writing(package):
        if package.exists():
            shutil.rmtree(package)
    write_package(read, options, package)
    return {"build s": round(time.monotonic() - began, 1), "package MB": round(size / 1e6, 1)}


def prove(model: Path, folder: Path, system: CoremlSystem) -> Figures:
    """Evaluate the package with the fixed spectrum. EngineError BACKEND_FAILED when it is not what the model is."""
    from engine.graphs.mil_eval import Package, ProgramError  # noqa: PLC0415
    from engine.graphs.plain_encoder import plainly_encoded  # noqa: PLC0415

    read, began = read_model(model), time.monotonic()
    hyper = read.hyper
    positions = hyper.n_audio_ctx
    check_free_memory(system, 4 * _PROOF_FLOATS * positions * max(positions, 4 * hyper.n_audio_state) + _SPARE)
    mel = check_mel(read.filters)
    expected = plainly_encoded(read, mel[0])
    try:
        found = Package(package_of(folder)).run({INPUT: mel})[OUTPUT][0]
    except ProgramError as error:
        raise EngineError(Code.BACKEND_FAILED, f"The program is not what it should be: {error}.") from error
    near = demand(found, expected)
    with atomic_file(expected_of(folder), overwrite=True) as file:
        np.save(file, expected.astype(np.float16))
    return {f"proof {name}": value for name, value in asdict(near).items()} | {
        "proof s": round(time.monotonic() - began, 1)
    }


def compile_package(folder: Path, system: CoremlSystem) -> Figures:
    """Compile the package to where it stays, and remove it. What a killed step left there is removed first."""
    began, package, compiled = time.monotonic(), package_of(folder), compiled_of(folder)
    if not package.is_dir():
        raise EngineError(Code.BACKEND_FAILED, "The package is gone; it has to be built again.")
    with writing(compiled):
        if compiled.exists():
            shutil.rmtree(compiled)
    check_space(folder, sum(file.stat().st_size for file in package.rglob("*") if file.is_file()))
    system.compile(package, compiled)
    if not compiled.is_dir():
        raise EngineError(Code.BACKEND_FAILED, "Core ML compiled the encoder to nothing.")
    return {"compile s": round(time.monotonic() - began, 1)}


def prepare(model: Path, folder: Path, system: CoremlSystem) -> Figures:
    """Load it and run it once, whatever comes out."""
    began = time.monotonic()
    system.load(compiled_of(folder)).predict(check_mel(read_model(model).filters))
    return {"prepare s": round(time.monotonic() - began, 1)}


def check(model: Path, folder: Path, system: CoremlSystem) -> Figures:
    """Compare and take the time. EngineError BACKEND_FAILED for other numbers than it should give."""
    began = time.monotonic()
    encoder = system.load(compiled_of(folder))
    loaded = time.monotonic() - began
    mel, expected = check_mel(read_model(model).filters), read_expected(folder)
    near = demand(encoder.predict(mel), expected)
    took = min(_ms(lambda: encoder.predict(mel)) for _ in range(TIMED_RUNS))
    share = system.neural_share(compiled_of(folder))
    figures = {f"check {name}": value for name, value in asdict(near).items()}
    figures |= {"load s": round(loaded, 2), "encode ms": round(took, 1)}
    return figures | ({} if share is None else {"neural share": round(share, 3)})


def read_expected(folder: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """What the encoder is to give, (1, 1500, width). EngineError BACKEND_FAILED where the file is gone or damaged."""
    try:
        return np.load(expected_of(folder)).astype(np.float32)[None]
    except (OSError, ValueError, EOFError) as error:
        raise EngineError(Code.BACKEND_FAILED, f"What it is compared with is gone: {error}") from error


def package_bytes(model: GgmlModel, options: CoremlOptions) -> int:
    """How large the weights of the package are, to a hundredth."""
    names = (name for name in model.tensors if name.startswith("encoder."))
    numbers = sum(int(np.prod(model.tensors[name].shape)) for name in names)
    return numbers * (1 if options.int8 else 2)


def check_free_memory(system: CoremlSystem, needed: int) -> None:
    """EngineError OUT_OF_MEMORY when less than that is free now."""
    free = system.free_memory()
    if free is not None and free < needed:
        detail = f"It needs about {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free now."
        raise EngineError(Code.OUT_OF_MEMORY, detail)


def _ms(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return (time.perf_counter() - began) * 1000
