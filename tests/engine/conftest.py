"""The smallest model there can be, the graphs of tiny.en, and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.folders import models_folder
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.ggml import GgmlModel, read_model
from engine.models.store import ModelStore
from engine.models.whisper_layout import Hyperparameters
from engine.types import Precision
from tests.engine.command_line import Sottovoce
from tests.engine.recorder_process import RecorderProcess, Start
from tests.engine.small_models import Small
from tests.virtual_mic import VirtualMicrophone


@pytest.fixture(scope="session")
def small() -> Small:
    """One head, one layer, English only."""
    return Small(Hyperparameters(51864, 1500, 64, 1, 1, 448, 64, 1, 1, 80, 2))


@pytest.fixture(scope="session")
def tiny_file(data_with_models: Path) -> Path:
    return ModelStore(models_folder(data_with_models)).path("tiny.en")


@pytest.fixture(scope="session")
def tiny(tiny_file: Path) -> GgmlModel:
    return read_model(tiny_file)


@pytest.fixture(scope="session")
def tiny_graphs(tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Precision], OnnxGraphs]:
    """The graphs of tiny.en on one thread, built and loaded when they are first asked for."""
    loaded: dict[Precision, OnnxGraphs] = {}
    cache = tmp_path_factory.mktemp("graphs of tiny.en")

    def graphs(precision: Precision) -> OnnxGraphs:
        if precision not in loaded:
            folder, _ = graphs_for(tiny_file, "tiny", precision, cache, lambda _done, _of: None)
            loaded[precision] = OnnxGraphs(folder, 1)
        return loaded[precision]

    return graphs


@pytest.fixture
def sottovoce(data_with_models: Path, tmp_path: Path) -> Sottovoce:
    """Runs `sottovoce transcribe …` in an empty folder; the backend is the scripted one unless told otherwise."""

    def run(
        *arguments: str | bytes | Path, script: dict[str, object] | None = None, data: Path = data_with_models
    ) -> subprocess.CompletedProcess[bytes]:
        environment = {
            **os.environ,
            "SOTTOVOCE_DATA": str(data),
            "SOTTOVOCE_FAKE": json.dumps(script or {}),
        }
        command = [sys.executable, "-P", "-m", "engine", "transcribe", *arguments]
        return subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, timeout=300, check=False)

    return run


@pytest.fixture
def start(microphone: VirtualMicrophone, tmp_path: Path) -> Iterator[Start]:
    """Starts recorders, and ends them when the test is over."""
    started: list[RecorderProcess] = []

    def run(*arguments: str, data: Path = tmp_path, env: dict[str, str] | None = None) -> RecorderProcess:
        started.append(RecorderProcess({**microphone.env, **(env or {})}, data, arguments))
        return started[-1]

    yield run
    for recorder in started:
        recorder.close()


@pytest.fixture(scope="session")
def talk(speak: Callable[..., Path]) -> Path:
    return speak("Good morning everyone, and welcome to the first meeting of the year.")
