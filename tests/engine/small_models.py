"""The smallest models that are whole, of every number type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.ggml import write_ggml
from engine.models.ggml_types import DTYPES, GgmlType, values_per_item
from engine.models.mel_filters import mel_filters
from engine.models.whisper_layout import TEXT_TOKENS, Hyperparameters, expected_tensors

Noise = Callable[[np.random.Generator, GgmlType, tuple[int, ...]], NDArray[Any]]


def noise(numbers: np.random.Generator, kind: GgmlType, shape: tuple[int, ...]) -> NDArray[Any]:
    """Values around zero in a type's own storage; of a quantised type every bit of every block is drawn."""
    dtype, per_item = DTYPES[kind], values_per_item(kind)
    if per_item == 1:
        return (numbers.standard_normal(shape) * 0.05).astype(dtype)
    items = (*shape[:-1], shape[-1] // per_item)
    blocks = np.frombuffer(numbers.bytes(int(np.prod(items)) * dtype.itemsize), dtype).reshape(items).copy()
    for part in {"d", "m"} & set(dtype.names or ()):
        blocks[part] = (numbers.standard_normal(items) * 0.01).astype("<f2")
    return blocks


@dataclass(frozen=True, slots=True)
class Small:
    """A model of these sizes with random weights: every tensor is there."""

    hyper: Hyperparameters
    noise: Noise = noise

    @property
    def words(self) -> list[bytes]:
        return [b" ", *(b"%d" % number for number in range(1, TEXT_TOKENS))]

    def tensors(self, ftype: int = 2, seed: int = 0) -> dict[str, NDArray[Any]]:
        hyper = replace(self.hyper, ftype=ftype)
        numbers = np.random.default_rng(seed)
        return {name: self.noise(numbers, one.kind, one.shape) for name, one in expected_tensors(hyper).items()}

    def write(
        self, path: Path, ftype: int = 2, seed: int = 0, tensors: Mapping[str, NDArray[Any]] | None = None
    ) -> Path:
        """Write the model, with random tensors unless they are given."""
        tensors = tensors or self.tensors(ftype, seed)
        with path.open("wb") as file:
            hyper = replace(self.hyper, ftype=ftype)
            write_ggml(file, hyper, mel_filters(hyper.n_mels), self.words, tensors.items())
        return path
