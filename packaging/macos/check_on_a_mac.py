"""Run once on a Mac with Apple silicon: everything about Core ML that could not be seen on Linux, as a table.

    .venv/bin/python packaging/macos/check_on_a_mac.py [MODEL …]

Builds, compiles, loads, predicts, compares and times each model's encoder, beside whisper.cpp's on Metal and on the CPU
and ONNX Runtime's. Paste what it prints into docs/coreml.md. The first load of a model may take many minutes.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from engine.audio.media import open_media
from engine.backends import coreml_runtime
from engine.backends.base import Backend
from engine.backends.coreml_runtime import CoremlSystem, Units
from engine.backends.reference import LENGTH_MS, reference_recording, words_wrong
from engine.backends.select import load_backend
from engine.coreml.comparison import check_mel, likeness
from engine.coreml.preparation import Preparation, Steps
from engine.coreml.records import compiled_of
from engine.coreml.step_process import StepProcess
from engine.coreml.steps import read_expected
from engine.errors import EngineError
from engine.folders import cache_folder, data_folder, models_folder
from engine.graphs.coreml_encoder import CoremlOptions
from engine.models.ggml import read_model
from engine.models.store import ModelStore, digest_of
from engine.types import Options

RUNS = 3
UNITS: tuple[Units, ...] = ("CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY")
WAYS = (
    ("Core ML, ONNX decoder", Options(backend="coreml", language="en")),
    ("whisper.cpp with Core ML", Options(backend="whispercpp", device="neural", language="en")),
    ("whisper.cpp on Metal", Options(backend="whispercpp", device="gpu", language="en")),
    ("whisper.cpp on the CPU", Options(backend="whispercpp", device="cpu", language="en")),
    ("ONNX Runtime int8", Options(backend="onnx", language="en")),
)
Row = tuple[str, str]


def main() -> int:
    """Print a table a model; 1 where there is no Neural Engine or something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["base"])
    arguments = parser.parse_args()
    system, data = coreml_runtime.SYSTEM, data_folder()
    if why := system.unsupported():
        print(why)
        return 1
    good = [printed(name, ModelStore(models_folder(data)).resolve(name), data, system) for name in arguments.models]
    return 0 if all(good) else 1


def printed(name: str, model: Path, data: Path, system: CoremlSystem) -> bool:
    """The table of one model, row by row as it is measured."""
    print(f"\n| {name} | {machine(system)} |\n|---|---|", flush=True)
    failed = False
    for what, figure in rows(model, data, system, StepProcess()):
        failed |= figure.startswith("NO")
        print(f"| {what} | {figure} |", flush=True)
    return not failed


def machine(system: CoremlSystem) -> str:
    """What it was measured on."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("coremltools", "pywhispercpp", "onnxruntime"))
    return f"macOS {platform.mac_ver()[0]} ({system.build()}), {platform.processor()}, {versions}"


def rows(model: Path, data: Path, system: CoremlSystem, steps: Steps) -> Iterator[Row]:
    """Everything about one model: the steps, the encoder by compute units, and whole transcriptions."""
    work = Preparation(model, digest_of(model), CoremlOptions(), cache_folder(data), system, steps, tell)
    try:
        folder, record = work.run()
    except EngineError as error:
        yield "prepare", f"NO: {one_line(error)}"
        return
    yield from ((what, f"{figure:.6g}") for what, figure in record.figures.items())
    mel, expected = check_mel(read_model(model).filters), read_expected(folder)
    for units in UNITS:
        yield f"encoder, {units}", tried(lambda units=units: encoder(system, compiled_of(folder), units, mel, expected))
    for what, options in WAYS:
        yield what, tried(lambda options=options: transcription(options, model, data))


def encoder(system: CoremlSystem, compiled: Path, units: Units, mel: np.ndarray, expected: np.ndarray) -> str:
    """The median time of three windows, and how near the result is."""
    began = time.monotonic()
    loaded = system.load(compiled, units)
    took = time.monotonic() - began
    near = likeness(loaded.predict(mel), expected)
    return f"{median(lambda: loaded.predict(mel)):.0f} ms a window, loaded in {took:.1f} s; {near}"


def transcription(options: Options, model: Path, data: Path) -> str:
    """Times real time of the spoken reference, and the words that are wrong in it."""
    backend = load_backend(options, model, data, lambda _done, _of: None).backend
    try:
        with open_media(reference_recording()) as media:
            samples = np.concatenate([block.samples for block in media.blocks()])
        wrong = words_wrong(heard(backend, samples, options))
        ms = median(lambda: heard(backend, samples, options))
    finally:
        backend.close()
    return f"{LENGTH_MS / ms:.1f} × real time, {wrong} words wrong; {backend.device}"


def heard(backend: Backend, samples: np.ndarray, options: Options) -> str:
    """The text of one window."""
    return " ".join(segment.text for segment in backend.decode([samples], options)[0])


def median(run: Callable[[], object]) -> float:
    """Milliseconds, of three runs."""
    times: list[float] = []
    for _ in range(RUNS):
        began = time.perf_counter()
        run()
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)[RUNS // 2]


def tried(measure: Callable[[], str]) -> str:
    """The figure, or why there is none."""
    try:
        return measure()
    except EngineError as error:
        return f"NO: {one_line(error)}"


def one_line(error: EngineError) -> str:
    """It as a cell of a table."""
    return str(error).replace("\n", " ").replace("|", "/")


def tell(state: str, _detail: str) -> None:
    """What is going on, on standard error: the table alone is on standard output."""
    print(f"  … {state}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
