"""A saved Core ML package, evaluated in numpy on any system, so that a program is proved before a Mac ever sees it.

Every result is compared with the shape that the program declares for it and rounded to the declared type. What a device
adds to that, the order of its sums and how wide they are, is not simulated.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.graphs.mil_operators import OPERATORS, Array, layer_norm_of_halves

if TYPE_CHECKING:
    from coremltools.proto.MIL_pb2 import Argument, Block, Function, Operation, TensorType, Value, ValueType
    from coremltools.proto.Model_pb2 import Model

_INSIDE = Path("Data", "com.apple.CoreML")
_SENTINEL = 0xDEADBEEF  # begins the record of a blob in a weights file
_RECORD = "<IIQQ"  # sentinel, type, bytes, where they are
# MIL.proto, enum DataType
_DTYPES: dict[int, type[np.generic]] = {
    1: np.bool_,
    10: np.float16,
    11: np.float32,
    12: np.float64,
    21: np.int8,
    22: np.int16,
    23: np.int32,
    24: np.int64,
    31: np.uint8,
    32: np.uint16,
}
_TEXT = 2


class ProgramError(ValueError):
    """The package is not what it says it is, or has an operator that Whisper's encoder has no use for."""


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the package, as Core ML describes it."""

    name: str
    shape: tuple[int, ...]
    dtype: type[np.generic]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How results are computed: rounded to their declared types or all in float32."""

    rounded: bool = True
    half_squares: bool = False  # as if a device squared float16 values inside layer norms


class Package:
    """A package read from the disk: one ML Program, or a pipeline of them."""

    def __init__(self, path: Path) -> None:
        from coremltools.proto.Model_pb2 import Model  # noqa: PLC0415 (is no dependency everywhere)

        self._root = path / _INSIDE
        self._spec = Model()
        self._spec.ParseFromString((self._root / "model.mlmodel").read_bytes())
        self.version: int = self._spec.specificationVersion
        self.inputs = tuple(_ports(self._spec.description.input))
        self.outputs = tuple(_ports(self._spec.description.output))

    def operators(self) -> dict[str, int]:
        """How many of each operator there are, constants left out."""
        counts: dict[str, int] = {}
        for function in map(_main, self._programs()):
            for operation in _block(function).operations:
                if operation.type != "const":
                    counts[operation.type] = counts.get(operation.type, 0) + 1
        return dict(sorted(counts.items()))

    def run(self, given: Mapping[str, Array], arithmetic: Arithmetic = Arithmetic()) -> dict[str, Array]:
        """Every output for these inputs. ProgramError where the program contradicts itself."""
        values = dict(given)
        for port in self.inputs:
            if values[port.name].shape != port.shape or values[port.name].dtype != port.dtype:
                raise ProgramError(f"the input {port.name} is to be {port.dtype.__name__} {port.shape}")
        for program in self._programs():
            values |= _Run(self._root, _main(program), arithmetic).results(values)
        return {port.name: values[port.name] for port in self.outputs}

    def _programs(self) -> list[Model]:
        return list(self._spec.pipeline.models) if self._spec.HasField("pipeline") else [self._spec]


class _Run:
    """One pass through a program: values live from where they are made to where they are last used."""

    def __init__(self, root: Path, function: Function, arithmetic: Arithmetic) -> None:
        self._root, self._function, self._arithmetic = root, function, arithmetic
        self._blobs: dict[str, NDArray[np.uint8]] = {}
        self._values: dict[str, Any] = {}

    def results(self, given: Mapping[str, Array]) -> dict[str, Array]:
        block = _block(self._function)
        last = {name: at for at, operation in enumerate(block.operations) for name in _names(operation)}
        self._values = {port.name: given[port.name] for port in self._function.inputs}
        for at, operation in enumerate(block.operations):
            self._perform(operation)
            for name in set(_names(operation)):
                if last[name] == at and name not in block.outputs:
                    del self._values[name]
        return {name: self._values[name] for name in block.outputs}

    def _perform(self, operation: Operation) -> None:
        outputs = operation.outputs
        if operation.type == "const":
            self._values[outputs[0].name] = self._constant(operation.attributes["val"])
            return
        found = self._computed(operation)
        for output, result in zip(outputs, found if isinstance(found, list) else [found], strict=True):
            self._values[output.name] = self._declared(operation.type, output.type, result)

    def _computed(self, operation: Operation) -> Array | list[Array]:
        compute = OPERATORS.get(operation.type)
        if compute is None:
            raise ProgramError(f"the operator {operation.type} is not one of an encoder")
        if operation.type == "layer_norm" and self._arithmetic.half_squares:
            compute = layer_norm_of_halves
        given = {name: self._argument(name, argument) for name, argument in operation.inputs.items()}
        given |= {name: self._constant(value) for name, value in operation.attributes.items() if name != "name"}
        try:
            return compute(given)
        except (ValueError, KeyError, IndexError) as error:
            raise ProgramError(f"{operation.type} cannot be computed: {error}") from error

    def _argument(self, name: str, argument: Argument) -> Any:  # noqa: ANN401 (an array, a list of them, or a text)
        bound = [
            self._values[one.name] if one.WhichOneof("binding") == "name" else self._constant(one.value)
            for one in argument.arguments
        ]
        widened = [_wide(value) for value in bound]
        return widened if name == "values" else widened[0]

    def _declared(self, operator: str, declared: ValueType, result: Array) -> Array:
        dtype, shape = _type_of(declared.tensorType)
        if result.shape != shape:
            raise ProgramError(f"{operator} gives {result.shape} where {shape} is declared")
        if not self._arithmetic.rounded and dtype is np.float16:
            return result.astype(np.float32, copy=False)
        with np.errstate(over="ignore"):
            return result.astype(dtype, copy=False)

    def _constant(self, value: Value) -> Any:  # noqa: ANN401
        kind = value.type.tensorType
        dtype, shape = _type_of(kind)
        if value.WhichOneof("value") == "blobFileValue":
            blob = value.blobFileValue
            return self._blob(blob.fileName, blob.offset, dtype).reshape(shape)
        tensor = value.immediateValue.tensor
        which = tensor.WhichOneof("value")
        values = getattr(tensor, which).values
        if kind.dataType == _TEXT:
            return str(values[0])
        numbers = np.frombuffer(values, dtype) if which == "bytes" else np.array(list(values), dtype)
        return numbers.reshape(shape)

    def _blob(self, file: str, offset: int, dtype: type[np.generic]) -> Array:
        if file not in self._blobs:
            self._blobs[file] = np.memmap(self._root / file.removeprefix("@model_path/"), np.uint8, "r")
        sentinel, _, size, start = struct.unpack_from(_RECORD, self._blobs[file].data, offset)
        if sentinel != _SENTINEL:
            raise ProgramError(f"there are no weights at byte {offset} of {file}")
        return self._blobs[file][start : start + size].view(dtype)


def _ports(described: Any) -> Iterator[Port]:  # noqa: ANN401 (protobuf's list)
    for port in described:
        array = port.type.multiArrayType
        kind = {65568: np.float32, 65552: np.float16}[array.dataType]  # FeatureTypes.proto: 0x10000 and the bits
        yield Port(port.name, tuple(array.shape), kind)


def _main(program: Model) -> Function:
    return program.mlProgram.functions["main"]


def _block(function: Function) -> Block:
    return function.block_specializations[function.opset]


def _names(operation: Operation) -> Iterator[str]:
    for argument in operation.inputs.values():
        yield from (one.name for one in argument.arguments if one.WhichOneof("binding") == "name")


def _type_of(tensor: TensorType) -> tuple[type[np.generic], tuple[int, ...]]:
    shape = tuple(dimension.constant.size for dimension in tensor.dimensions)
    return (np.str_ if tensor.dataType == _TEXT else _DTYPES[tensor.dataType]), shape


def _wide(value: Any) -> Any:  # noqa: ANN401
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float16 else value
