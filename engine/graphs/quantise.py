"""Weights as 8-bit blocks: 32 values along a row share a float32 scale, value = (q − 128) · scale.

That is the layout of ONNX Runtime's MatMulNBits, and nearly that of ggml's own quantised types: q8_0, q5_0 and
q4_0 are carried over as they are, without loss; everything else is rounded, block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.ggml import GgmlModel
from engine.models.ggml_types import BLOCK, GgmlType, as_floats

ZERO = 128  # MatMulNBits's default zero point at 8 bits
_ROWS = 4096  # at a time: a few megabytes of float32, whatever the matrix


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix (rows, columns) as `values` (rows, columns / 32, 32) and `scales` (rows, columns / 32)."""

    values: NDArray[np.uint8]
    scales: NDArray[np.float32]

    def scaled(self, factor: float) -> Blocks:
        """The matrix times `factor`, exactly."""
        return Blocks(self.values, self.scales * np.float32(factor))


def blocks_of(model: GgmlModel, name: str) -> Blocks:
    """A matrix of the model as 8-bit blocks."""
    stored = model.stored(name)
    if model.tensors[name].type in _EXACT:
        return _carried_over(stored, model.tensors[name].type)
    parts = [_rounded(as_floats(stored[at : at + _ROWS])) for at in range(0, len(stored), _ROWS)]
    return Blocks(np.concatenate([p.values for p in parts]), np.concatenate([p.scales for p in parts]))


def _rounded(rows: NDArray[np.float32]) -> Blocks:
    blocks = rows.reshape(rows.shape[0], -1, BLOCK)
    scales = np.abs(blocks).max(axis=2) / np.float32(127)
    safe = np.where(scales == 0, np.float32(1), scales)
    values = np.rint(blocks / safe[..., None]).astype(np.int16) + ZERO
    return Blocks(values.astype(np.uint8), scales.astype(np.float32))


def _carried_over(stored: NDArray[Any], kind: GgmlType) -> Blocks:
    """The integers of ggml, moved so that they lie around 128."""
    quants = stored["qs"]
    if kind is GgmlType.Q8_0:
        values = (quants.astype(np.int16) + ZERO).astype(np.uint8)
    else:
        low = np.concatenate([quants & 15, quants >> 4], axis=-1)
        if kind is GgmlType.Q5_0:
            low |= np.unpackbits(stored["qh"], axis=-1, bitorder="little") << 4
        values = (low + np.uint8(ZERO - _EXACT[kind])).astype(np.uint8)
    return Blocks(values, stored["d"].astype(np.float32))


_EXACT = {GgmlType.Q8_0: 0, GgmlType.Q5_0: 16, GgmlType.Q4_0: 8}  # what ggml takes off
