"""A small model, a cache, and a Mac that does what a file says."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.coreml.preparation import Preparation
from engine.coreml.records import CoremlRecord, State, Status, status_of
from engine.coreml.step_process import StepProcess
from engine.coreml.steps import Step
from engine.graphs.coreml_encoder import CoremlOptions
from tests.engine.coreml.fake_system import FakeSystem
from tests.engine.small_models import Small

ROOT = Path(__file__).resolve().parents[3]
PLAIN = CoremlOptions()
SHA = "0123456789abcdef" * 4


@dataclass
class Mac:
    """A computer with one model."""

    model: Path
    cache: Path
    script: Path
    told: list[State] = field(default_factory=list)

    @property
    def system(self) -> FakeSystem:
        return FakeSystem(self.script)

    def suffers(self, **script: str) -> None:
        self.script.write_text(json.dumps(script))

    @property
    def command(self) -> list[str]:
        """Does a step with this system."""
        run = (
            "import os, pathlib, runpy, sys; sys.path.insert(0, sys.argv.pop(1));"
            "pathlib.Path(sys.argv[2]).with_suffix('.pid').write_text(str(os.getpid()));"
            "runpy.run_module(sys.argv.pop(1), None, '__main__')"
        )
        return [sys.executable, "-c", run, str(ROOT), "tests.engine.coreml.fake_system", str(self.script)]

    @property
    def last_step(self) -> int:
        """The id of the process that did, or does, the last step."""
        return int(self.script.with_suffix(".pid").read_text())

    def preparation(self, limits: dict[Step, float] | None = None, options: CoremlOptions = PLAIN) -> Preparation:
        def tell(state: State, _detail: str) -> None:
            self.told.append(state)

        steps = StepProcess(self.command, limits)
        return Preparation(self.model, SHA, options, self.cache, self.system, steps, tell)

    def prepare(
        self, limits: dict[Step, float] | None = None, options: CoremlOptions = PLAIN
    ) -> tuple[Path, CoremlRecord]:
        return self.preparation(limits, options).run()

    def status(self) -> Status:
        return status_of(self.cache, SHA, self.system.unsupported(), self.system.build())


@pytest.fixture(scope="session")
def small_file(small: Small, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.write(tmp_path_factory.mktemp("model ☃") / "model.bin", 1)


@pytest.fixture
def mac(small_file: Path, tmp_path: Path) -> Mac:
    return Mac(small_file, tmp_path / "cäche 'x'", tmp_path / "script.json")


@pytest.fixture(scope="session")
def caches(small_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The cache of a computer that is no Mac, where the encoder is "built", and of one where it is "ready"."""
    folder = tmp_path_factory.mktemp("caches")
    mac = Mac(small_file, folder / "cache", folder / "script.json")
    mac.suffers(unsupported="Core ML is a part of macOS.")
    mac.prepare()
    shutil.copytree(mac.cache, folder / "built")
    mac.suffers()
    mac.prepare()
    return {"built": folder / "built", "ready": mac.cache}


@pytest.fixture
def ready(mac: Mac, caches: dict[str, Path]) -> Mac:
    shutil.copytree(caches["ready"], mac.cache)
    return mac


@pytest.fixture
def built(mac: Mac, caches: dict[str, Path]) -> Mac:
    shutil.copytree(caches["built"], mac.cache)
    return mac
