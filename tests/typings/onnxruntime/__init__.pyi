"""The part of ONNX Runtime that the engine uses; its own annotations leave most of it unknown."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

class SessionOptions:
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int
    enable_profiling: bool
    profile_file_prefix: str
    optimized_model_filepath: str
    enable_mem_pattern: bool
    enable_cpu_mem_arena: bool
    def add_session_config_entry(self, key: str, value: str) -> None: ...

class OrtValue:
    @staticmethod
    def ortvalue_from_numpy(array: NDArray[Any]) -> OrtValue: ...
    def numpy(self) -> NDArray[Any]: ...
    def shape(self) -> list[int]: ...

class NodeArg:
    name: str
    shape: list[int | str | None]

class InferenceSession:
    def __init__(
        self, model: str | bytes, sess_options: SessionOptions | None = None, providers: Sequence[str] | None = None
    ) -> None: ...
    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]) -> list[NDArray[Any]]: ...
    def run_with_ort_values(
        self, output_names: Sequence[str], input_dict_ort_values: Mapping[str, OrtValue]
    ) -> list[OrtValue]: ...
    def get_inputs(self) -> list[NodeArg]: ...
    def get_outputs(self) -> list[NodeArg]: ...
    def end_profiling(self) -> str: ...
