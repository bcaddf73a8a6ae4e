"""The script for somebody with a Mac: its table, with a Mac that is not one; and what is said where there is none."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from engine.backends import coreml_runtime
from engine.backends.coreml_runtime import ThisSystem, memory_in
from engine.coreml.records import coreml_folder
from engine.coreml.step_process import Job, done
from engine.coreml.steps import Figures
from engine.errors import EngineError
from engine.folders import cache_folder, models_folder
from engine.models.store import ModelStore
from tests.engine.coreml.conftest import ROOT
from tests.engine.coreml.fake_system import FakeSystem

SCRIPT = ROOT / "packaging" / "macos" / "check_on_a_mac.py"
VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10000.
Pages active:                            456789.
Pages inactive:                           5000.
Pages speculative:                         1000.
Pages purgeable:                            384.
"Translation faults":                 123456789.
"""


class InThisProcess:
    """Does the steps of a preparation at once."""

    def __init__(self, system: FakeSystem) -> None:
        self._system = system

    def run(self, job: Job) -> Figures:
        return done(job, self._system)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("check_on_a_mac", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_table_has_every_figure(
    script: ModuleType, data_with_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").symlink_to(models_folder(data_with_models), target_is_directory=True)
    model = ModelStore(models_folder(tmp_path)).path("tiny.en")
    system = FakeSystem(tmp_path / "script.json")
    monkeypatch.setattr(coreml_runtime, "SYSTEM", system)
    monkeypatch.setattr(script, "RUNS", 1)
    rows = dict(script.rows(model, tmp_path, system, InThisProcess(system)))
    assert {"build s", "proof psnr", "compile s", "prepare s", "load s", "encode ms", "check cosine"} <= rows.keys()
    assert rows["neural share"] == "0.97"
    assert "PSNR" in rows["encoder, CPU_AND_NE"]
    assert "0 words wrong; Neural Engine (Core ML)" in rows["Core ML, ONNX decoder"]
    assert "× real time" in rows["ONNX Runtime int8"]
    assert rows["whisper.cpp with Core ML"].startswith("NO:"), "the published wheel has no Core ML"
    shutil.rmtree(coreml_folder(cache_folder(tmp_path)))


def test_elsewhere_it_says_why_not() -> None:
    if sys.platform == "darwin":
        pytest.skip("this is a Mac: run the script")
    ran = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "Core ML is a part of macOS.\n", "")


def test_where_there_is_no_core_ml_everything_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """The calls themselves, with coremltools as it is here: whatever it raises is an error of ours."""
    if sys.platform == "darwin":
        pytest.skip("this is a Mac: run the script")
    system = ThisSystem()
    assert system.build() == ""
    with pytest.raises(EngineError, match="Core ML could not compile the encoder"):
        system.compile(tmp_path / "x.mlpackage", tmp_path / "x.mlmodelc")
    with pytest.raises(EngineError, match="Core ML could not load the encoder"):
        system.load(tmp_path / "x.mlmodelc")
    assert system.neural_share(tmp_path / "x.mlmodelc") is None


def test_free_memory_is_what_can_be_had() -> None:
    assert memory_in(VM_STAT) == 16384 * 16384
    assert memory_in("") is None
    assert (ThisSystem().free_memory() or 0) > 1_000_000
