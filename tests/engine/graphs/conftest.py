"""Graphs of small models, and random windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.ggml import GgmlModel
from engine.types import Precision
from tests.engine.graphs.reference import Reference
from tests.engine.small_models import Small


@dataclass(frozen=True, slots=True)
class Pair:
    """A model's graphs, and the same model in numpy."""

    graphs: OnnxGraphs
    reference: Reference
    model: GgmlModel


@pytest.fixture(scope="session")
def pair_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Small, int, Precision], Pair]:
    """Builds the graphs of a model whose matrices have the ggml type `ftype`."""
    made: dict[tuple[Small, int, Precision], Pair] = {}

    def pair(small: Small, ftype: int, precision: Precision) -> Pair:
        key = (small, ftype, precision)
        if key not in made:
            made[key] = built(small, ftype, precision, tmp_path_factory.mktemp("pair"))
        return made[key]

    return pair


def built(small: Small, ftype: int, precision: Precision, place: Path) -> Pair:
    file = small.write(place / "model.bin", ftype)
    folder, model = graphs_for(file, "small", precision, place, lambda _done, _of: None)
    return Pair(OnnxGraphs(folder, 1), Reference(model), model)


@pytest.fixture
def mel_of() -> Callable[[GgmlModel, int], NDArray[np.float32]]:
    """A random log-mel of so many frames: values as speech has them, around 0, at most 1.5."""

    def mel(model: GgmlModel, frames: int, rows: int = 1) -> NDArray[np.float32]:
        numbers = np.random.default_rng(frames)
        return np.clip(numbers.normal(0, 0.5, (rows, model.hyper.n_mels, frames)), -1, 1.5).astype(np.float32)

    return mel
