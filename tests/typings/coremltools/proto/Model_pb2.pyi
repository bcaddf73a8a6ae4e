"""Model.proto, as much of it as is read."""

from collections.abc import Mapping, Sequence

from coremltools.proto.MIL_pb2 import Function

class ArrayFeature:
    shape: Sequence[int]
    dataType: int

class FeatureType:
    multiArrayType: ArrayFeature

class Feature:
    name: str
    type: FeatureType

class Description:
    input: Sequence[Feature]
    output: Sequence[Feature]

class MLProgram:
    functions: Mapping[str, Function]

class Pipeline:
    models: Sequence[Model]

class Model:
    specificationVersion: int
    description: Description
    mlProgram: MLProgram
    pipeline: Pipeline
    def ParseFromString(self, serialized: bytes) -> int: ...
    def SerializeToString(self) -> bytes: ...
    def HasField(self, field: str) -> bool: ...
