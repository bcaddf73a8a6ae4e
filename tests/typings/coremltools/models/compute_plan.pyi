from collections.abc import Mapping, Sequence

from coremltools import ComputeUnit

class Operation: ...

class Block:
    operations: Sequence[Operation]

class Function:
    block: Block

class Program:
    functions: Mapping[str, Function]

class Pipeline:
    sub_models: Sequence[tuple[str, Structure]]

class Structure:
    program: Program | None
    pipeline: Pipeline | None

class Usage:
    preferred_compute_device: object

class Cost:
    weight: float

class MLComputePlan:
    model_structure: Structure
    @classmethod
    def load_from_path(cls, path: str, compute_units: ComputeUnit = ...) -> MLComputePlan: ...
    def get_compute_device_usage_for_mlprogram_operation(self, operation: Operation) -> Usage | None: ...
    def get_estimated_cost_for_mlprogram_operation(self, operation: Operation) -> Cost | None: ...
