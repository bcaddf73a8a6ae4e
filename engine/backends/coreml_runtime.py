"""Everything that only a Mac can do with a Core ML encoder; nothing else in the engine calls into macOS for it.

Not run on a Mac yet: packaging/macos/check_on_a_mac.py does, and docs/coreml.md says what was seen. coremltools raises
plain Exception, so this is one of the places where whatever it raises becomes an EngineError.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from engine.errors import Code, EngineError
from engine.memory import available_memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

OLDEST = 14  # of macOS; before it, programs like ours ran on the GPU rather than on the Neural Engine
Units = Literal["CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY"]  # as coremltools names them
_SECONDS = 5  # for a question to the system


class Encoder(Protocol):
    """A compiled encoder in memory."""

    def predict(self, mel: Floats) -> Floats:
        """(1, n_mels, 3000) → (1, 1500, width). EngineError BACKEND_FAILED."""
        ...


class CoremlSystem(Protocol):
    """What the steps to a ready encoder ask of macOS."""

    def unsupported(self) -> str:
        """Why there is no Neural Engine to use here; "" when there is one."""
        ...

    def build(self) -> str:
        """The build of the system, e.g. "24D70": what it prepared is good for this build only."""
        ...

    def free_memory(self) -> int | None:
        """Bytes that a new process can have; None where it cannot be told."""
        ...

    def compile(self, package: Path, compiled: Path) -> None:
        """Compile a package to `compiled` ("….mlmodelc"), which must not be there. EngineError BACKEND_FAILED."""
        ...

    def load(self, compiled: Path, units: Units = "CPU_AND_NE") -> Encoder:
        """Load a compiled program; the first time macOS prepares it, for minutes. EngineError BACKEND_FAILED."""
        ...

    def neural_share(self, compiled: Path) -> float | None:
        """The share of the estimated cost that runs on the Neural Engine, 0 … 1; None where macOS does not tell."""
        ...


class ThisSystem:
    """The system that this runs on; see `CoremlSystem`."""

    def unsupported(self) -> str:
        """See `CoremlSystem.unsupported`."""
        return _unsupported()

    def build(self) -> str:
        """See `CoremlSystem.build`; "" where there is no macOS."""
        return _build()

    def free_memory(self) -> int | None:
        """See `CoremlSystem.free_memory`."""
        return memory_in(_said("vm_stat")) if sys.platform == "darwin" else available_memory()

    def compile(self, package: Path, compiled: Path) -> None:
        """Through the operating system, so that no Xcode is needed."""
        with _speaking("compile the encoder"):
            from coremltools.models.utils import compile_model  # noqa: PLC0415

            compile_model(str(package), str(compiled))

    def load(self, compiled: Path, units: Units = "CPU_AND_NE") -> Encoder:
        """Always by the same path: `MLModel` would compile anew to another one each time, and macOS prepare it anew."""
        with _speaking("load the encoder"):
            from coremltools import ComputeUnit  # noqa: PLC0415
            from coremltools.models import CompiledMLModel  # noqa: PLC0415

            return _Loaded(CompiledMLModel(str(compiled), compute_units=ComputeUnit[units]))

    def neural_share(self, compiled: Path) -> float | None:
        """From `MLComputePlan`, which macOS has since 14.4."""
        try:
            with _speaking("tell where the encoder runs"):
                return _neural_share(compiled)
        except EngineError:
            return None


class _Loaded:
    """A compiled model of coremltools."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 (it has no types)
        self._model = model

    def predict(self, mel: Floats) -> Floats:
        """See `Encoder.predict`; what comes is contiguous float32."""
        with _speaking("run the encoder"):
            import numpy as np  # noqa: PLC0415 (the window imports this module)

            return np.ascontiguousarray(self._model.predict({"logmel_data": mel})["output"], np.float32)


SYSTEM: CoremlSystem = ThisSystem()


@cache
def _unsupported() -> str:
    if sys.platform != "darwin":
        return "Core ML is a part of macOS."
    if platform.machine() != "arm64":
        return "Macs with an Intel processor have no Neural Engine."
    version = platform.mac_ver()[0]
    if int(version.partition(".")[0] or 0) < OLDEST:
        return f"It needs macOS {OLDEST} or newer; this is {version}."
    return "" if find_spec("coremltools") else "coremltools is not installed: pip install 'coremltools>=9,<10'"


@cache
def _build() -> str:
    return _said("sw_vers", "-buildVersion") if sys.platform == "darwin" else ""


def memory_in(vm_stat: str) -> int | None:
    """The bytes that `vm_stat` counts as free or as soon free."""
    head, _, rest = vm_stat.partition("\n")
    size = next((int(word) for word in head.split() if word.isdigit()), 0)
    pages = dict(line.rstrip(".").split(":") for line in rest.splitlines() if line.count(":") == 1)
    kinds = ("Pages free", "Pages inactive", "Pages speculative", "Pages purgeable")
    counts = [int(pages.get(kind, "0").strip() or 0) for kind in kinds]
    return size * sum(counts) if size and any(counts) else None


def _neural_share(compiled: Path) -> float | None:
    from coremltools import ComputeUnit  # noqa: PLC0415
    from coremltools.models.compute_plan import MLComputePlan  # noqa: PLC0415

    plan = MLComputePlan.load_from_path(str(compiled), compute_units=ComputeUnit.CPU_AND_NE)
    structure = plan.model_structure
    parts = [part for _, part in structure.pipeline.sub_models] if structure.pipeline else [structure]
    neural = total = 0.0
    for program in (part.program for part in parts if part.program):
        for operation in program.functions["main"].block.operations:
            cost = plan.get_estimated_cost_for_mlprogram_operation(operation)
            usage = plan.get_compute_device_usage_for_mlprogram_operation(operation)
            weight = cost.weight if cost else 0.0
            total += weight
            if usage and "NeuralEngine" in type(usage.preferred_compute_device).__name__:
                neural += weight
    return neural / total if total else None


def _said(*command: str) -> str:
    """What a command of the system prints; "" when it cannot be asked."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


@contextmanager
def _speaking(what: str) -> Generator[None]:
    """Make one kind of error of whatever coremltools raises."""
    try:
        yield
    except EngineError:
        raise
    except Exception as error:
        raise EngineError(Code.BACKEND_FAILED, f"Core ML could not {what}: {error}") from error
