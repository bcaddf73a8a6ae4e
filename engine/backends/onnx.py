"""Our own engine on ONNX Runtime: int8 or fp32, several windows at once, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.backends.cpu import threads_for
from engine.backends.graph_whisper import GraphWhisper
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.types import Options


def load_onnx(
    options: Options, model: Path, digest: str, cache: Path, on_part: Callable[[int, int], None]
) -> GraphWhisper:
    """Build the graphs of `model` (whose sha256 is `digest`) if need be, and load them."""
    folder, read = graphs_for(model, digest, options.precision, cache, on_part)
    runtime = OnnxGraphs(folder, threads_for(options.threads), options.profile)
    return GraphWhisper("onnx", f"CPU (ONNX Runtime {options.precision})", 8, runtime, read, folder)
