"""A Mac that is not one: compiling copies the package, and its Neural Engine is the evaluator.

What goes wrong with it is said in a file: {"compile": "hang", "predict": "zeros", …}. This is also the program that
does a step with it, in place of `sottovoce coreml-step`.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.backends.coreml_runtime import Units
from engine.coreml.step_process import serve_step
from engine.errors import Code, EngineError
from engine.graphs.coreml_encoder import INPUT, OUTPUT
from engine.graphs.mil_eval import Arithmetic, Package

Floats = NDArray[np.float32]


class FakeEncoder:
    """A "compiled" package."""

    def __init__(self, package: Package, system: FakeSystem) -> None:
        self._package, self._system = package, system

    def predict(self, mel: Floats) -> Floats:
        self._system.suffer("predict")
        kind = self._system.script.get("predict", "")
        if kind == "other words":  # a true encoder, of other sounds
            mel = np.ascontiguousarray(mel[:, :, ::-1])
        found = self._package.run({INPUT: mel}, Arithmetic(rounded=False))[OUTPUT]
        if kind == "nan":
            found[0, 700, 3] = np.nan
        return {"zeros": np.zeros_like(found), "shape": found[:, :750]}.get(kind, found)


class FakeSystem:
    """See `engine.backends.coreml_runtime.CoremlSystem`."""

    def __init__(self, script: Path) -> None:
        self._file = script

    @property
    def script(self) -> dict[str, str]:
        return json.loads(self._file.read_text()) if self._file.exists() else {}

    def unsupported(self) -> str:
        return self.script.get("unsupported", "")

    def build(self) -> str:
        return self.script.get("build", "24A1")

    def free_memory(self) -> int | None:
        return int(self.script.get("memory", 64_000_000_000))

    def compile(self, package: Path, compiled: Path) -> None:
        compiled.mkdir()
        self.suffer("compile")
        shutil.copytree(package, compiled, dirs_exist_ok=True)

    def load(self, compiled: Path, units: Units = "CPU_AND_NE") -> FakeEncoder:
        self.suffer("load")
        return FakeEncoder(Package(compiled), self)

    def neural_share(self, compiled: Path) -> float | None:
        return 0.97

    def suffer(self, where: str) -> None:
        """What the script has for this place."""
        kind = self.script.get(where, "")
        if kind == "hang":
            self._file.with_suffix(".hangs").write_text(str(os.getpid()))
            time.sleep(600)
        if kind == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if kind == "abort":
            os.abort()
        if kind == "refuse":
            raise EngineError(Code.BACKEND_FAILED, "Core ML could not do that: E5RT")
        if kind == "full":
            raise EngineError(Code.DISK_FULL, os.strerror(errno.ENOSPC))
        if kind == "bug":
            raise RuntimeError("nobody thought of this")


if __name__ == "__main__":
    with open(0, "rb", buffering=0, closefd=False) as stdin:
        sys.exit(serve_step(FakeSystem(Path(sys.argv[1])), stdin))
