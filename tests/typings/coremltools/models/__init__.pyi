from collections.abc import Mapping
from typing import Any

from coremltools import ComputeUnit

class MLModel:
    def save(self, save_path: str) -> None: ...

class CompiledMLModel:
    def __init__(self, path: str, compute_units: ComputeUnit = ...) -> None: ...
    def predict(self, data: Mapping[str, Any]) -> dict[str, Any]: ...
