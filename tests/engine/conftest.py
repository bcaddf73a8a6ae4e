"""The smallest model there can be, and the graphs of tiny.en."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.folders import models_folder
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.ggml import GgmlModel, read_model
from engine.models.store import ModelStore
from engine.models.whisper_layout import Hyperparameters
from engine.types import Precision
from tests.engine.small_models import Small


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
