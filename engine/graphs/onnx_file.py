"""An ONNX graph in the making: nodes in memory, weights straight into a file beside it.

Weights never pass through the protobuf: they are external data, so a graph may be larger than 2 GB and is
mapped, not read, when it is loaded.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray
from onnx import StringStringEntryProto, TensorProto, helper, numpy_helper

OPSET = 20  # the first with Gelu
IR_VERSION = 10
MICROSOFT = "com.microsoft"
_INLINE_BYTES = 1024  # smaller constants stay in the graph, where shape inference sees them
_ALIGNMENT = 4096  # a page, so that a weight can be mapped where it lies

Array = NDArray[Any]


class GraphFile:
    """Collects nodes; `constant` writes weights at once, the end of the `with` block writes the graph."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data_path = path.with_suffix(".weights")
        self._data: BinaryIO = self._data_path.open("wb")
        self._nodes: list[Any] = []
        self._constants: list[TensorProto] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._names = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._save()
        else:
            self._drop()

    def input(self, name: str, kind: int, shape: Sequence[int | str]) -> str:
        """Declare an input of ONNX type `kind`; a string is a free dimension."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, name: str, shape: Sequence[int | str], kind: int = TensorProto.FLOAT) -> None:
        """Declare an output of ONNX type `kind`; some node has to be given this name."""
        self._outputs.append(helper.make_tensor_value_info(name, kind, list(shape)))

    def constant(self, *arrays: Array) -> str:
        """A constant: one array, or several of one type that follow each other along the first dimension."""
        name = self._name("w")
        if sum(array.nbytes for array in arrays) <= _INLINE_BYTES:
            joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
            self._constants.append(numpy_helper.from_array(joined, name))
        else:
            self._constants.append(self._external(name, arrays))
        return name

    def pieces(self, name: str, elements: int) -> Sequence[str]:
        """A constant once more, cut along its first dimension into constants of at most so many elements each.

        They share its bytes in the file.
        """
        whole = next(constant for constant in self._constants if constant.name == name)
        rows, *row = whole.dims
        step = max(1, elements // math.prod(row))
        if rows <= step or whole.data_location != TensorProto.EXTERNAL:
            return [name]
        entries = {entry.key: entry.value for entry in whole.external_data}
        start, row_bytes = int(entries["offset"]), int(entries["length"]) // rows
        spans = [(first, min(step, rows - first)) for first in range(0, rows, step)]
        found = [
            self._entry(self._name("w"), whole.data_type, (count, *row), start + first * row_bytes, count * row_bytes)
            for first, count in spans
        ]
        self._constants += found
        return [piece.name for piece in found]

    def node(self, kind: str, inputs: Sequence[str], output: str = "", domain: str = "", **attributes: Any) -> str:  # noqa: ANN401
        """A node with one output; its name, made up unless given."""
        return self.nodes(kind, inputs, [output or self._name("t")], domain, **attributes)[0]

    def nodes(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str = "",
        **attributes: Any,  # noqa: ANN401
    ) -> Sequence[str]:
        """A node with several outputs, named by the caller."""
        node = helper.make_node(kind, list(inputs), list(outputs), self._name(kind), domain=domain, **attributes)
        self._nodes.append(node)
        return outputs

    def _save(self) -> None:
        """Write the graph; its weights are written already, and are on the disk before anything trusts them."""
        with self._data:
            self._data.flush()
            os.fsync(self._data.fileno())
        used = {name for node in self._nodes for name in node.input}
        constants = [constant for constant in self._constants if constant.name in used]
        graph = helper.make_graph(self._nodes, self._path.stem, self._inputs, self._outputs, constants)
        domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=domains, producer_name="sottovoce")
        model.ir_version = IR_VERSION
        self._path.write_bytes(model.SerializeToString())

    def _drop(self) -> None:
        """Close the file of a failed build; on a full disk what is left in its buffer cannot be written either."""
        with suppress(OSError):
            self._data.close()

    def _external(self, name: str, arrays: Sequence[Array]) -> TensorProto:
        start = -(-self._data.tell() // _ALIGNMENT) * _ALIGNMENT
        self._data.seek(start)
        for array in arrays:
            self._data.write(np.ascontiguousarray(array).data)
        shape = (sum(array.shape[0] for array in arrays), *arrays[0].shape[1:])
        kind = helper.np_dtype_to_tensor_dtype(arrays[0].dtype)
        return self._entry(name, kind, shape, start, self._data.tell() - start)

    def _entry(self, name: str, kind: int, shape: Sequence[int], offset: int, length: int) -> TensorProto:
        """A constant of ONNX type `kind` whose bytes lie in the file beside the graph."""
        entries = {"location": self._data_path.name, "offset": offset, "length": length}
        return TensorProto(
            name=name,
            data_type=kind,
            dims=shape,
            data_location=TensorProto.EXTERNAL,
            external_data=[StringStringEntryProto(key=key, value=str(value)) for key, value in entries.items()],
        )

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"
