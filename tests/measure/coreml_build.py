"""Build and prove Core ML encoders, whole processes with their memory: `make bench-coreml`.

Random weights of large-v3's size, and base as it is; then the real models against a plain encoder, on three recordings.
Exits with 1 when a limit is missed. ARGS=--large-proof also proves the large one, which takes minutes.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `python -P` leaves it out

import numpy as np
import psutil

from engine.folders import models_folder
from engine.graphs.coreml_encoder import CoremlOptions
from engine.graphs.mil_eval import Arithmetic
from engine.models.ggml import read_model, write_ggml
from engine.models.mel_filters import mel_filters
from engine.models.starter import BASE, TINY_EN, ensure_starter
from engine.models.store import ModelStore
from engine.models.whisper_layout import TEXT_TOKENS, Hyperparameters, expected_tensors
from engine.program import PROGRAM, run_module
from tests.engine.graphs.coreml_programs import Encoders, off, package
from tests.engine.small_models import noise

SPEECH = Path(__file__).resolve().parents[3] / "shared" / "audio" / "speech"
CLIPS = ("en_jfk_44k_stereo.flac", "en_LJ001-0001.wav", "en_fleurs_000.ogg")
LARGE = Hyperparameters(51866, 1500, 1280, 20, 32, 448, 1280, 20, 4, 128, 1)  # turbo's decoder: the encoder counts
WORDS = [b" ", *(b"%d" % number for number in range(1, TEXT_TOKENS))]
LIMITS = {"large-v3's size": (30.0, 4000.0), "base": (4.0, 300.0)}  # seconds, MB
BOUNDS = {
    (0, False): 5e-6,
    (4, False): 1e-4,
    (0, True): 4e-3,
    (4, True): 4e-3,
}  # (residual shift, rounded): relative L2


def main() -> int:
    """Print the figures; 1 when one is too large."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--large-proof", action="store_true")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-coreml-"))
    try:
        data = folder / "data"
        for model in (BASE, TINY_EN):
            ensure_starter(ModelStore(models_folder(data)), model=model)
        large = folder / "large.bin"
        write_large(large)
        good = [built("large-v3's size", str(large), data), built("base", "base", data)]
        if arguments.large_proof:
            run("check", str(large), data)
        good += [near for name in ("tiny.en", "base") for near in compared(name, data, folder)]
    finally:
        shutil.rmtree(folder)
    return 0 if all(good) else 1


def write_large(file: Path) -> None:
    numbers = np.random.default_rng(0)
    with file.open("wb") as out:
        drawn = ((name, noise(numbers, one.kind, one.shape)) for name, one in expected_tensors(LARGE).items())
        write_ggml(out, LARGE, mel_filters(LARGE.n_mels), WORDS, drawn)


def built(name: str, model: str, data: Path) -> bool:
    """`sottovoce coreml build`, with all its processes."""
    seconds, memory = run("build", model, data)
    most_seconds, most_memory = LIMITS[name]
    print(f"build {name:<18}{seconds:6.1f} s (< {most_seconds:g})  {memory:6.0f} MB (< {most_memory:g})", flush=True)
    return seconds < most_seconds and memory < most_memory


def run(verb: str, model: str, data: Path) -> tuple[float, float]:
    """Seconds, and the most MB that the command and its children held together."""
    began, most = time.monotonic(), 0
    process = subprocess.Popen([PROGRAM, *run_module("engine"), "--data-dir", str(data), "coreml", verb, model])
    while process.poll() is None:
        most = max(most, sum(resident(process.pid)))
        time.sleep(0.01)
    if process.returncode:
        sys.exit(f"it ended with {process.returncode}")
    return time.monotonic() - began, most / 1e6


def resident(pid: int) -> Iterator[int]:
    """Resident bytes of a process and its children, mapped files included."""
    try:
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            yield process.memory_info().rss
    except psutil.NoSuchProcess:
        return


def compared(name: str, data: Path, folder: Path) -> Iterator[bool]:
    """Relative L2 of the package's output from a plain encoder's, by recording and arithmetic."""
    model = read_model(ModelStore(models_folder(data)).path(name))
    place = folder / name
    encoders = Encoders(model, None, SPEECH, place)
    for shift in (0, 4):
        package(model, CoremlOptions(residual_shift=shift), place)
    for clip in CLIPS:
        figures = {
            (shift, rounded): off(
                encoders.program(clip, CoremlOptions(residual_shift=shift), Arithmetic(rounded=rounded)),
                encoders.plain(clip),
            )
            for shift, rounded in BOUNDS
        }
        said = "  ".join(
            f"{'scaled' if shift else 'plain'} {'fp16' if rounded else 'fp32'} {figure:.1e}"
            for (shift, rounded), figure in figures.items()
        )
        print(f"{name:<8} {clip:<24} {said}", flush=True)
        yield all(figure < BOUNDS[key] for key, figure in figures.items())


if __name__ == "__main__":
    sys.exit(main())
