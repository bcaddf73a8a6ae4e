"""conv + encode: log-mel (b, mels, frames) → encoder output (b, frames / 2, width), for any even length to 3000."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto

from engine.graphs.int8_layers import ManyPositions
from engine.graphs.layers import Layers
from engine.graphs.onnx_file import GraphFile
from engine.models.ggml import GgmlModel
from engine.types import Precision


def write_encoder(model: GgmlModel, path: Path, precision: Precision) -> None:
    """Write the graph to `path`: input "mel", output "encoded"."""
    with GraphFile(path) as graph:
        layers = ManyPositions(graph, model) if precision == "int8" else Layers(graph, model)
        mel = graph.input("mel", TensorProto.FLOAT, ["b", model.hyper.n_mels, "frames"])
        x = _positioned(layers, _convolutions(layers, mel))
        for number in range(model.hyper.n_audio_layer):
            block = f"encoder.blocks.{number}"
            x = layers.add(x, layers.attention(x, block))
            x = layers.add(x, layers.network(x, block))
        encoded = layers.norm(x, "encoder.ln_post")
        graph.node("Identity", [encoded], output="encoded")
        graph.output("encoded", ["b", "s", layers.width])


def _convolutions(layers: Layers, mel: str) -> str:
    """Two convolutions of width 3, the second halving the frames: (b, s, width)."""
    x, graph = mel, layers.graph
    for name, stride in (("encoder.conv1", 1), ("encoder.conv2", 2)):
        weight = graph.constant(layers.floats(f"{name}.weight"))
        bias = graph.constant(layers.floats(f"{name}.bias"))
        x = graph.node("Conv", [x, weight, bias], kernel_shape=[3], pads=[1, 1], strides=[stride])
        x = graph.node("Gelu", [x])
    return graph.node("Transpose", [x], perm=[0, 2, 1])


def _positioned(layers: Layers, x: str) -> str:
    """Add the first s rows of the positional table."""
    graph = layers.graph
    zero = graph.constant(np.array([0], np.int64))
    length = graph.node("Shape", [x], start=1, end=2)
    table = graph.constant(layers.floats("encoder.positional_embedding"))
    return layers.add(x, graph.node("Slice", [table, zero, length, zero]))
