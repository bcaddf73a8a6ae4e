"""Our own engine on ONNX Runtime: int8 or fp32, several windows at once, on all cores."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from engine.backends.cpu import threads_for
from engine.backends.graph_whisper import GraphWhisper
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.memory import check_memory
from engine.models.ggml import read_model
from engine.types import Options, Precision

# What loading takes at its peak, for each number of the model: 1.8 and 13.3 GB for large-v3 (`make bench-large`).
_BYTES_A_NUMBER: dict[Precision, float] = {"int8": 1.2, "fp32": 8.6}


def load_onnx(
    options: Options, model: Path, digest: str, cache: Path, on_part: Callable[[int, int], None]
) -> GraphWhisper:
    """Build the graphs of `model` (whose sha256 is `digest`) if need be, and load them.

    EngineError OUT_OF_MEMORY, MODEL_DAMAGED, DISK_FULL, NOT_WRITABLE, BACKEND_FAILED.
    """
    numbers = sum(math.prod(tensor.shape) for tensor in read_model(model).tensors.values())
    check_memory(round(numbers * _BYTES_A_NUMBER[options.precision]))
    folder, read = graphs_for(model, digest, options.precision, cache, on_part)
    runtime = OnnxGraphs(folder, threads_for(options.threads), options.profile)
    return GraphWhisper("onnx", f"CPU (ONNX Runtime {options.precision})", 8, runtime, read, folder)
