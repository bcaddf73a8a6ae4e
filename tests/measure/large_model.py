"""A model of large-v3's size with random weights is written, built, loaded and run: `make bench-large`.

Each step runs in a process of its own, so that its peak of memory is its own. Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `python -P` leaves it out

import numpy as np

from engine.backends.cpu import physical_cores
from engine.errors import EngineError
from engine.graphs.built import graphs_folder, size_of
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.memory import peak_memory
from engine.models.catalog import human_size
from engine.models.disk import check_space
from engine.models.ggml import write_ggml, written_bytes
from engine.models.mel_filters import mel_filters
from engine.models.whisper_layout import TEXT_TOKENS, Hyperparameters, expected_tensors
from engine.types import Precision
from tests.engine.small_models import noise

FTYPES = {"f16": 1, "f32": 0}
FRAMES = 200  # 2 s
TOKENS = [50258, 50259, 50360]
WORDS = [b" ", *(b"%d" % number for number in range(1, TEXT_TOKENS))]
MOST_TO_BUILD = 0.2  # of the file's size: what building may take in memory besides the mapped file


@dataclass(frozen=True, slots=True)
class Task:
    """What is measured, and where."""

    folder: Path
    precision: Precision
    weights: str

    @property
    def hyper(self) -> Hyperparameters:
        """The sizes of large-v3."""
        return Hyperparameters(51866, 1500, 1280, 20, 32, 448, 1280, 20, 32, 128, FTYPES[self.weights])

    @property
    def file(self) -> Path:
        return self.folder / "large.bin"

    @property
    def file_size(self) -> int:
        return written_bytes(self.hyper, WORDS)


def write(task: Task) -> None:
    """A tensor at a time."""
    numbers = np.random.default_rng(0)
    tensors = expected_tensors(task.hyper).items()
    with timed("write the ggml file"), task.file.open("wb") as file:
        drawn = ((name, noise(numbers, one.kind, one.shape)) for name, one in tensors)
        write_ggml(file, task.hyper, mel_filters(task.hyper.n_mels), WORDS, drawn)


def build(task: Task) -> None:
    """The graphs, and how often it was told how far that is."""
    told: list[int] = []
    with timed(f"build the {task.precision} graphs"):
        folder, _ = graphs_for(task.file, "large", task.precision, task.folder, lambda done, _of: told.append(done))
    for file in sorted(folder.glob("*.weights")):
        print(f"    {file.name:<36}{human_size(file.stat().st_size):>10}")
    print(f"    {'signs of progress':<36}{len(told):>10}", flush=True)


def run(task: Task) -> None:
    """Load, encode, cross and three tokens; what comes out must be numbers."""
    folder, _ = graphs_for(task.file, "large", task.precision, task.folder, lambda _done, _of: None)
    with timed("load them in ONNX Runtime"):
        graphs = OnnxGraphs(folder, physical_cores())
    mel = np.random.default_rng(0).normal(0, 0.5, (1, task.hyper.n_mels, FRAMES)).clip(-1, 1.5).astype(np.float32)
    with timed("encode 2 s"):
        encoded = graphs.encode(mel)
    with timed("cross"):
        cache = graphs.cross([encoded])
    for token in TOKENS:
        with timed("decode a token"):
            logits = graphs.step(np.array([[token]], np.int64), cache).logits
        if logits.shape != (1, task.hyper.n_vocab) or not np.isfinite(logits).all():
            sys.exit(f"what was decoded is no answer: {logits.shape}")


STEPS: dict[str, Callable[[Task], None]] = {"write": write, "build": build, "run": run}


@contextmanager
def timed(what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    print(f"  {what:<38}{time.perf_counter() - began:>8.1f} s", flush=True)


def own_memory(process: subprocess.Popen[bytes]) -> int:
    """The most memory a process has while it runs, in bytes, without the files that it has mapped."""
    most, status = 0, Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        rows = dict(row.split(":", 1) for row in status.read_text().splitlines() if ":" in row)
        most = max(most, int(rows.get("RssAnon", "0 kB").split()[0]) * 1024)
        time.sleep(0.02)
    return most


def measured(step: str, task: Task) -> int:
    """Run a step; the most memory it had."""
    command = [sys.executable, "-P", __file__, "--folder", task.folder, "--precision", task.precision]
    with subprocess.Popen([*command, "--weights", task.weights, "--step", step]) as process:
        most = own_memory(process)
    if process.returncode:
        sys.exit(f"the step {step!r} failed ({process.returncode})")
    print(f"    {'memory, without mapped files':<36}{human_size(most):>10}")
    return most


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--precision", default="int8", choices=("int8", "fp32"))
    parser.add_argument("--weights", default="f16", choices=tuple(FTYPES), help="of the ggml file")
    parser.add_argument("--folder", type=Path, help="for some gigabytes, which are removed at the end")
    parser.add_argument("--step", choices=tuple(STEPS), help="for itself")
    asked = parser.parse_args()
    if asked.step:
        STEPS[asked.step](Task(asked.folder, asked.precision, asked.weights))
        print(f"    {'memory, mapped files included':<36}{human_size(peak_memory() or 0):>10}", flush=True)
        return 0
    with tempfile.TemporaryDirectory(prefix="sottovoce-large-", dir=asked.folder) as folder:
        return compare(Task(Path(folder), asked.precision, asked.weights))


def compare(task: Task) -> int:
    """All steps, and whether they kept within their limits."""
    size = task.file_size
    print(f"large-v3 with random {task.weights} weights: {human_size(size)}; {physical_cores()} cores")
    try:
        check_space(task.folder, round(2.2 * size))
    except EngineError as error:
        sys.exit(str(error))
    measured("write", task)
    to_build = measured("build", task)
    built = sum(size_of(folder) for folder in graphs_folder(task.folder).iterdir())
    print(f"    {'graphs together':<36}{human_size(built):>10}")
    measured("run", task)
    limits = {"memory to build": (to_build, MOST_TO_BUILD * size), "graphs together": (built, 1.02 * size)}
    missed = [name for name, (found, most) in limits.items() if found > most]
    for name in missed:
        print(f"MISSED: {name}: {human_size(limits[name][0])}, not {human_size(round(limits[name][1]))}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
