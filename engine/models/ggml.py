"""The ggml Whisper file: read through before anything native sees it, and written.

    magic · 11 hyperparameters · mel filters · vocabulary · tensors, to the end of the file

whisper.cpp trusts its input: a text file given as a model crashes it. `read_model` looks at every header, so
that a file it accepts has every tensor that whisper.cpp will ask for, of the right type, shape and extent.
"""

from __future__ import annotations

import mmap
import stat
import struct
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from engine.errors import Code, EngineError
from engine.files import shown
from engine.models.ggml_types import (
    DTYPES,
    GgmlType,
    as_floats,
    shape_of,
    stored_bytes,
    type_of,
    values_per_item,
)
from engine.models.whisper_layout import (
    HYPERPARAMETER_COUNT,
    SPECTRUM,
    TEXT_TOKENS,
    Expected,
    Hyperparameters,
    Shape,
    expected_tensors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from engine.models.ggml_types import Floats, Stored

MAGIC = b"lmgg"  # 0x67676d6c, little-endian
_LONGEST_TOKEN = 1024  # bytes; Whisper's longest is a run of 128 spaces
_LONGEST_NAME = 128


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a tensor lies in the file; `shape` in numpy's order (ggml's is the reverse)."""

    name: str
    type: GgmlType
    shape: Shape
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True, eq=False)
class GgmlModel:
    """A model read through and mapped into memory; the file stays open as long as a view of it lives."""

    hyper: Hyperparameters
    filters: Floats  # (n_mels, 201)
    vocabulary: tuple[bytes, ...]
    tensors: Mapping[str, Tensor]
    _map: mmap.mmap
    on_read: Callable[[str], None] | None = None  # told each tensor's name before it is viewed

    def stored(self, name: str) -> Stored:
        """View a tensor as it is stored: float32, float16, or blocks in the last dimension.

        Read-only, and unaligned as often as not: copy it before computing much with it.
        """
        if self.on_read is not None:
            self.on_read(name)
        tensor = self.tensors[name]
        items = values_per_item(tensor.type)
        flat: Stored = np.frombuffer(
            self._map, DTYPES[tensor.type], tensor.nbytes // DTYPES[tensor.type].itemsize, tensor.offset
        )
        return flat.reshape(*tensor.shape[:-1], tensor.shape[-1] // items)

    def array(self, name: str) -> Stored:
        """View a float32 or float16 tensor in its shape; ValueError for a quantised one."""
        if values_per_item(self.tensors[name].type) > 1:
            raise ValueError(f"{name} is quantised: use floats()")
        return self.stored(name)

    def let_go(self, name: str) -> None:
        """Give a tensor's memory back, where the system takes it; whoever looks at it again, reads it again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            tensor = self.tensors[name]
            start = tensor.offset // mmap.PAGESIZE * mmap.PAGESIZE
            self._map.madvise(mmap.MADV_DONTNEED, start, tensor.offset + tensor.nbytes - start)

    def floats(self, name: str) -> Floats:
        """Return a tensor of any type as a new float32 array in its shape."""
        return as_floats(self.stored(name))


def read_model(path: Path) -> GgmlModel:
    """Read all headers of a file and check them; tensor data are mapped, not read.

    EngineError MODEL_MISSING, NOT_READABLE, or MODEL_DAMAGED with what is wrong.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would block, a device never end
            raise _damaged(path, "it is not a file")
        with path.open("rb", buffering=4096) as file:
            return _Reader(file, path).model()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise EngineError(Code.MODEL_MISSING, f"There is no file {shown(path)}") from error
    except OSError as error:
        raise EngineError(Code.NOT_READABLE, f"{shown(path)}: {error.strerror or error}") from error


def write_ggml(
    file: BinaryIO,
    hyper: Hyperparameters,
    filters: Floats,
    vocabulary: Sequence[bytes],
    tensors: Iterable[tuple[str, Stored]],
) -> None:
    """Write a model as a stream: one tensor in memory at a time, its type told by its dtype (`DTYPES`)."""
    file.write(MAGIC + struct.pack(f"<{HYPERPARAMETER_COUNT}i", *astuple(hyper)))
    file.write(struct.pack("<2i", *filters.shape) + filters.astype("<f4").tobytes())
    file.write(struct.pack("<i", len(vocabulary)))
    file.write(b"".join(struct.pack("<i", len(token)) + token for token in vocabulary))
    for name, stored in tensors:
        shape, encoded = shape_of(stored), name.encode("ascii")
        file.write(struct.pack("<3i", len(shape), len(encoded), type_of(stored)))
        file.write(struct.pack(f"<{len(shape)}i", *reversed(shape)) + encoded)
        file.write(np.ascontiguousarray(stored).view(np.uint8).data)


def written_bytes(hyper: Hyperparameters, vocabulary: Sequence[bytes]) -> int:
    """How large `write_ggml` makes the file of a whole model."""
    head = len(MAGIC) + 4 * HYPERPARAMETER_COUNT + 8 + 4 * hyper.n_mels * SPECTRUM
    words = 4 + sum(4 + len(token) for token in vocabulary)
    tensors = sum(
        12 + 4 * len(tensor.shape) + len(name) + stored_bytes(tensor.kind, tensor.shape)
        for name, tensor in expected_tensors(hyper).items()
    )
    return head + words + tensors


class _Reader:
    """Goes through a file once; every length is checked against the file before it is believed."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._size = file.seek(0, 2)
        file.seek(0)

    def model(self) -> GgmlModel:
        if self._take(len(MAGIC), "its first bytes") != MAGIC:
            raise self._damaged("it does not begin as a ggml file")
        hyper = Hyperparameters(*self._integers(HYPERPARAMETER_COUNT, "its sizes"))
        if complaint := hyper.complaint():
            raise self._damaged(complaint)
        filters, vocabulary, tensors = self._filters(hyper), self._vocabulary(hyper), self._tensors(hyper)
        mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return GgmlModel(hyper, filters, vocabulary, tensors, mapped)

    def _filters(self, hyper: Hyperparameters) -> Floats:
        shape = self._integers(2, "its mel filters")
        if shape != (hyper.n_mels, SPECTRUM):
            raise self._damaged(f"its mel filters are {shape[0]} × {shape[1]}, not {hyper.n_mels} × {SPECTRUM}")
        data = self._take(4 * hyper.n_mels * SPECTRUM, "its mel filters")
        filters = np.frombuffer(data, "<f4").reshape(shape)
        if not np.isfinite(filters).all():
            raise self._damaged("its mel filters are not numbers")
        return filters

    def _vocabulary(self, hyper: Hyperparameters) -> tuple[bytes, ...]:
        (count,) = self._integers(1, "its vocabulary")
        if not TEXT_TOKENS - 1 <= count <= hyper.n_vocab:
            raise self._damaged(f"its vocabulary has {count} words")
        read, words = self._file.read, list[bytes]()
        for _ in range(count):  # the one loop that matters for speed: 50,000 rounds
            header = read(4)
            length = int.from_bytes(header, "little")
            if length > _LONGEST_TOKEN:
                raise self._damaged(f"word {len(words)} of its vocabulary has {length} bytes")
            words.append(read(length))
            if len(header) < 4 or len(words[-1]) < length:
                raise self._damaged("it ends in its vocabulary")
        if b" " not in words:  # whisper.cpp looks it up without asking whether it is there
            raise self._damaged("its vocabulary has no space")
        return tuple(words)

    def _tensors(self, hyper: Hyperparameters) -> dict[str, Tensor]:
        expected = expected_tensors(hyper)
        found = dict[str, Tensor]()
        while len(found) < len(expected):
            if self._file.tell() >= self._size:
                missing = next(name for name in expected if name not in found)
                raise self._damaged(f"it ends after {len(found)} of {len(expected)} tensors, without {missing}")
            tensor = self._tensor(expected)
            if tensor.name in found:
                raise self._damaged(f"the tensor {tensor.name} is in it twice")
            found[tensor.name] = tensor
        if extra := self._size - self._file.tell():
            raise self._damaged(f"{extra} bytes follow its last tensor")
        return found

    def _tensor(self, expected: Mapping[str, Expected]) -> Tensor:
        dimensions, length, kind = self._integers(3, "a tensor's header")
        if not (1 <= dimensions <= 3 and 1 <= length <= _LONGEST_NAME):
            raise self._damaged(f"a tensor's header at byte {self._file.tell() - 12} makes no sense")
        shape = tuple(reversed(self._integers(dimensions, "a tensor's shape")))
        name = self._take(length, "a tensor's name").decode("ascii", "replace")
        if name not in expected:
            raise self._damaged(f"it has a tensor that Whisper has not: {name!r}")
        wanted = expected[name]
        if kind != wanted.kind:
            raise self._damaged(f"the tensor {name} is of type {kind}, not {wanted.kind.value} ({wanted.kind.name})")
        if shape != wanted.shape:
            raise self._damaged(f"the tensor {name} has the shape {shape}, not {wanted.shape}")
        offset, nbytes = self._file.tell(), stored_bytes(wanted.kind, shape)
        if nbytes > self._size - offset:
            raise self._damaged(f"it ends in the tensor {name}: {nbytes - (self._size - offset)} bytes are missing")
        self._file.seek(nbytes, 1)
        return Tensor(name, wanted.kind, shape, offset, nbytes)

    def _integers(self, count: int, what: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{count}i", self._take(4 * count, what))

    def _take(self, count: int, what: str) -> bytes:
        data = self._file.read(count)
        if len(data) != count:
            raise self._damaged(f"it ends in {what}")
        return data

    def _damaged(self, what: str) -> EngineError:
        return _damaged(self._path, what)


def _damaged(path: Path, what: str) -> EngineError:
    return EngineError(Code.MODEL_DAMAGED, f"{shown(path)}: {what}.")
