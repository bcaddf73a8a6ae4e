"""How ggml stores numbers: the types of a Whisper file's tensors, their blocks, and the values as float32."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Stored: TypeAlias = NDArray[Any]  # float32, float16, or blocks


class GgmlType(IntEnum):
    """Ids as in ggml.h (enum ggml_type); K-quants are left out, no Whisper file in use has them."""

    F32 = 0
    F16 = 1
    Q4_0 = 2
    Q4_1 = 3
    Q5_0 = 6
    Q5_1 = 7
    Q8_0 = 8


# Blocks as in ggml-common.h: 32 values share a scale `d` (and a minimum `m`); `qs` holds the low four bits of
# values 0 … 15 in its low halves and of 16 … 31 in its high halves, `qh` the fifth bits, or `qs` a byte each.
DTYPES: dict[GgmlType, np.dtype[Any]] = {
    GgmlType.F32: np.dtype("<f4"),
    GgmlType.F16: np.dtype("<f2"),
    GgmlType.Q4_0: np.dtype([("d", "<f2"), ("qs", "u1", 16)]),
    GgmlType.Q4_1: np.dtype([("d", "<f2"), ("m", "<f2"), ("qs", "u1", 16)]),
    GgmlType.Q5_0: np.dtype([("d", "<f2"), ("qh", "u1", 4), ("qs", "u1", 16)]),
    GgmlType.Q5_1: np.dtype([("d", "<f2"), ("m", "<f2"), ("qh", "u1", 4), ("qs", "u1", 16)]),
    GgmlType.Q8_0: np.dtype([("d", "<f2"), ("qs", "i1", 32)]),
}
_OFFSETS = {GgmlType.Q4_0: 8, GgmlType.Q5_0: 16}  # what is taken off so that values lie around zero
BLOCK = 32


def values_per_item(kind: GgmlType) -> int:
    """How many values one item of `DTYPES[kind]` holds: 1, or a block's 32."""
    return BLOCK if DTYPES[kind].names else 1


def stored_bytes(kind: GgmlType, shape: Sequence[int]) -> int:
    """Bytes of a tensor; the last dimension must be a multiple of the block."""
    return math.prod(shape) // values_per_item(kind) * DTYPES[kind].itemsize


def type_of(stored: Stored) -> GgmlType:
    """Find the type whose items the array holds; KeyError when it is none of ggml's."""
    return _BY_DTYPE[stored.dtype]


def shape_of(stored: Stored) -> tuple[int, ...]:
    """Give the shape in values: that of the array, with blocks counted as the 32 values they hold."""
    return (*stored.shape[:-1], stored.shape[-1] * values_per_item(type_of(stored)))


def as_floats(stored: Stored) -> Floats:
    """Return the values as float32 in the tensor's shape, exactly as ggml computes them."""
    if not stored.dtype.names:
        return stored.astype(np.float32)
    return _dequantised(stored.reshape(-1)).reshape(shape_of(stored))


def _dequantised(blocks: Stored) -> Floats:
    """Return blocks (n,) as values (n, 32): (q - offset) · d, or q · d + m."""
    kind = type_of(blocks)
    quants = blocks["qs"]
    values = np.empty((blocks.size, BLOCK), np.float32)
    if kind is GgmlType.Q8_0:
        values[:] = quants
    else:
        values[:, : BLOCK // 2] = quants & 15
        values[:, BLOCK // 2 :] = quants >> 4
    if kind in {GgmlType.Q5_0, GgmlType.Q5_1}:
        values += np.unpackbits(blocks["qh"], axis=1, bitorder="little") * np.uint8(16)
    if kind in _OFFSETS:
        values -= _OFFSETS[kind]
    with np.errstate(invalid="ignore", over="ignore"):  # a scale may be infinite in a spoilt file
        values *= blocks["d"].astype(np.float32)[:, None]
        if kind in {GgmlType.Q4_1, GgmlType.Q5_1}:
            values += blocks["m"].astype(np.float32)[:, None]
    return values


_BY_DTYPE = {dtype: kind for kind, dtype in DTYPES.items()}
