"""Weights as 8-bit integers, in the two layouts that ONNX Runtime multiplies fast.

Rows     one scale a row; for many positions at once (DynamicQuantizeMatMul)
Blocks   128 values along a row share a scale, value = (q − 128) · scale; for a few tokens (MatMulNBits)

Matrices are read and rounded a few rows at a time, so that no whole one is ever in memory as float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.models.ggml import GgmlModel
from engine.models.ggml_types import as_floats

ZERO = 128  # MatMulNBits's default zero point at 8 bits
_MOST_IN_BLOCK = 128  # ONNX Runtime is a fifth faster with it than with 32, and the rounding no coarser that tells
_CHUNK = 1024  # rows at a time: some megabytes of float32, whatever the matrix

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rows:
    """A matrix (rows, columns): `values` (columns, rows), as they are multiplied from the left, `scales` (rows)."""

    values: NDArray[np.int8]
    scales: Floats


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix (rows, columns) as `values` (rows, blocks, values in a block) and `scales` (rows, blocks)."""

    values: NDArray[np.uint8]
    scales: Floats

    def scaled(self, factor: float) -> Blocks:
        """The matrix times `factor`, exactly."""
        return Blocks(self.values, self.scales * np.float32(factor))


def rows_of(model: GgmlModel, name: str, outputs: Floats | float = 1.0, inputs: Floats | float = 1.0) -> Rows:
    """A matrix of the model, its rows times `outputs` and its columns times `inputs`, a scale a row."""
    count, columns = model.tensors[name].shape
    factors = np.broadcast_to(np.float32(outputs), (count,))
    values, scales = np.empty((columns, count), np.int8), np.empty(count, np.float32)
    for at, part in _parts(model, name):
        rows = slice(at, at + len(part))
        scaled = part * (inputs * factors[rows, None])
        scales[rows] = np.abs(scaled).max(axis=1) / np.float32(127)
        values[:, rows] = np.rint(scaled / _safe(scales[rows])[:, None]).astype(np.int8).T
    return Rows(values, scales)


def blocks_of(model: GgmlModel, name: str) -> Blocks:
    """A matrix of the model as blocks."""
    count, columns = model.tensors[name].shape
    size = math.gcd(columns, _MOST_IN_BLOCK)
    shape = (count, columns // size, size)
    values, scales = np.empty(shape, np.uint8), np.empty(shape[:2], np.float32)
    for at, part in _parts(model, name):
        rows, blocks = slice(at, at + len(part)), part.reshape(-1, *shape[1:])
        scales[rows] = np.abs(blocks).max(axis=2) / np.float32(127)
        values[rows] = np.rint(blocks / _safe(scales[rows])[..., None]).astype(np.int16) + ZERO
    return Blocks(values, scales)


def _parts(model: GgmlModel, name: str) -> Iterator[tuple[int, Floats]]:
    """Some rows after another as float32, each with the number of its first."""
    stored = model.stored(name)
    for at in range(0, len(stored), _CHUNK):
        yield at, as_floats(stored[at : at + _CHUNK])


def _safe(scales: Floats) -> Floats:
    """Without zeros, to divide by: what is all zero stays so."""
    return np.where(scales == 0, np.float32(1), scales)
