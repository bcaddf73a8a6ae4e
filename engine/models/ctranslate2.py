"""CTranslate2's `model.bin`, as faster-whisper has it: the variables in it, and their values.

The layout follows OpenNMT/CTranslate2 (src/models/model.cc, `Model::load`; python/ctranslate2/specs/model_spec.py):

    version · name of the spec · its revision · variables (name, shape, type, bytes) · aliases
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np

from engine.errors import Code, EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Values: TypeAlias = NDArray[np.float32] | NDArray[np.float16]

_VERSIONS = range(4, 7)  # since 4 a variable names its type; 6 is what Whisper models have
_SPEC = "WhisperSpec"
_DTYPES = ("<f4", "i1", "<i2", "<i4", "<f2", "<u2")  # the last holds bfloat16: the upper half of a float32
_BFLOAT16 = 5
_MOST_VARIABLES = 100_000
_LONGEST_SHAPE = 4


@dataclass(frozen=True, slots=True)
class Variable:
    """Where a variable lies in the file; `kind` counts in CTranslate2's DataType."""

    shape: tuple[int, ...]
    kind: int
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Weights:
    """The variables of a model by name; their values are read when asked for, so keep the file open."""

    variables: Mapping[str, Variable]
    _file: BinaryIO

    @property
    def quantised(self) -> bool:
        """Whether matrices are integers with scales, so that something of the original was lost."""
        return any(name.endswith("_scale") for name in self.variables)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a variable; IMPORT_FAILED when it is not there."""
        return self._variable(name).shape

    def values(self, name: str) -> Values:
        """Read a variable, scales applied; IMPORT_FAILED when it is not there or holds what is no number."""
        values = self._floats(name)
        scale = f"{name}_scale"
        if scale in self.variables:
            # Integers are value × scale, with a scale for each row (int8) or one for all (int16).
            scales = self._floats(scale)
            values = values / scales.reshape(-1, *(1 for _ in values.shape[1:]))
        if not np.isfinite(values).all():
            raise failed(f"{name} holds values that are no numbers")
        return values

    def _floats(self, name: str) -> Values:
        variable = self._variable(name)
        self._file.seek(variable.offset)
        raw = self._file.read(variable.nbytes)
        if len(raw) != variable.nbytes:
            raise failed(f"model.bin ends in {name}")
        stored: NDArray[Any] = np.frombuffer(raw, _DTYPES[variable.kind]).reshape(variable.shape)
        if variable.kind == _BFLOAT16:
            return (stored.astype("<u4") << 16).view("<f4")
        return stored if stored.dtype.kind == "f" else stored.astype(np.float32)

    def _variable(self, name: str) -> Variable:
        if name not in self.variables:
            raise failed(f"model.bin has no {name}")
        return self.variables[name]


def read_weights(file: BinaryIO) -> Weights:
    """Read the headers of a `model.bin`; IMPORT_FAILED with what is wrong when it is no Whisper of CTranslate2."""
    return _Reader(file).weights()


def failed(what: str) -> EngineError:
    """Say why a model cannot be imported."""
    return EngineError(Code.IMPORT_FAILED, f"{what}.")


class _Reader:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)
        file.seek(0)

    def weights(self) -> Weights:
        (version,) = self._numbers("I")
        if version not in _VERSIONS:
            raise failed(f"model.bin is not CTranslate2's, or of a version that is not known ({version})")
        spec = self._text()
        if spec != _SPEC:
            raise failed(f"model.bin is a {spec[:40]!r}, not a {_SPEC}")
        _revision, count = self._numbers("II")
        if count > _MOST_VARIABLES:
            raise failed(f"model.bin claims {count} variables")
        return Weights(dict(self._variable() for _ in range(count)), self._file)

    def _variable(self) -> tuple[str, Variable]:
        name = self._text()
        (rank,) = self._numbers("B")
        if rank > _LONGEST_SHAPE:
            raise failed(f"{name} has {rank} dimensions")
        shape = self._numbers(f"{rank}I")
        kind, nbytes = self._numbers("BI")
        if kind >= len(_DTYPES) or math.prod(shape) * np.dtype(_DTYPES[kind]).itemsize != nbytes:
            raise failed(f"{name} is of a type that is not known, or not as large as its shape says")
        offset = self._file.tell()
        if nbytes > self._size - offset:
            raise failed(f"model.bin ends in {name}: {nbytes - (self._size - offset)} bytes are missing")
        self._file.seek(nbytes, 1)
        return name, Variable(shape, kind, offset, nbytes)

    def _text(self) -> str:
        (length,) = self._numbers("H")
        return self._take(length).rstrip(b"\0").decode("utf-8", "replace")

    def _numbers(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(f"<{layout}", self._take(struct.calcsize(f"<{layout}")))

    def _take(self, count: int) -> bytes:
        data = self._file.read(count)
        if len(data) != count:
            raise failed("model.bin ends early")
        return data
