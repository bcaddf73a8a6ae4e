"""MIL.proto, as much of it as is read."""

from collections.abc import Mapping, Sequence
from typing import Literal

class Constant:
    size: int

class Dimension:
    constant: Constant

class TensorType:
    dataType: int
    dimensions: Sequence[Dimension]

class ValueType:
    tensorType: TensorType

class Repeated:
    values: Sequence[int] | Sequence[float] | Sequence[str] | bytes

class TensorValue:
    ints: Repeated
    floats: Repeated
    bools: Repeated
    strings: Repeated
    bytes: Repeated
    def WhichOneof(self, group: Literal["value"]) -> str: ...

class ImmediateValue:
    tensor: TensorValue

class BlobFileValue:
    fileName: str
    offset: int

class Value:
    type: ValueType
    immediateValue: ImmediateValue
    blobFileValue: BlobFileValue
    def WhichOneof(self, group: Literal["value"]) -> str: ...

class Binding:
    name: str
    value: Value
    def WhichOneof(self, group: Literal["binding"]) -> str: ...

class Argument:
    arguments: Sequence[Binding]

class NamedValueType:
    name: str
    type: ValueType

class Operation:
    type: str
    inputs: Mapping[str, Argument]
    outputs: Sequence[NamedValueType]
    attributes: Mapping[str, Value]

class Block:
    outputs: Sequence[str]
    operations: Sequence[Operation]

class Function:
    inputs: Sequence[NamedValueType]
    opset: str
    block_specializations: Mapping[str, Block]
