"""cross: encoder output → cross keys and values, once a window.

In int8 they are rounded too, for the decoder reads all of them for each token: a quarter of the bytes is what makes
its steps fast. Each channel of a head has a scale of its own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper

from engine.graphs.damping import behind_norm
from engine.graphs.int8_layers import ManyPositions
from engine.graphs.layers import Layers
from engine.graphs.onnx_file import GraphFile
from engine.models.ggml import GgmlModel
from engine.models.whisper_layout import HEAD_SIZE
from engine.types import Precision

LEVELS = 127.0  # of an 8-bit number on either side of zero
QUERY_ZERO = 128  # what stands for 0 in a rounded query
WEIGHT_LEVELS = 65_535.0  # attention weights are rounded to 16 bits: there are up to 1500 to a head


def write_cross(model: GgmlModel, path: Path, precision: Precision) -> None:
    """Write the graph: "encoded" (b, s, width) → for each layer "cross_key.i" (b, heads, 64, s) and "cross_value.i"
    (b, heads, s, 64).

    int8 has these as 8-bit integers, and for each layer "cross_key_scale.i" and "cross_value_scale.i"
    (b, heads, 1, 64), and "cross_offset.i" (b, heads, 1, s): the product of the keys with queries of 128 throughout,
    which stand for 0.
    """
    with GraphFile(path) as graph:
        if precision == "int8":
            _Rounded(ManyPositions(graph, model)).write()
        else:
            _write_floats(Layers(graph, model))


def _write_floats(layers: Layers) -> None:
    graph = layers.graph
    encoded = graph.input("encoded", TensorProto.FLOAT, ["b", "s", layers.width])
    for i in range(layers.model.hyper.n_text_layer):
        attention = f"decoder.blocks.{i}.cross_attn"
        both = layers.linear(encoded, [f"{attention}.key", f"{attention}.value"])
        key, value = graph.nodes("Split", [both], [f"{attention}.k", f"{attention}.v"], axis=-1, num_outputs=2)
        graph.node("Identity", [layers.heads_of(key, transposed=True)], output=f"cross_key.{i}")
        graph.node("Identity", [layers.heads_of(value)], output=f"cross_value.{i}")
        graph.output(f"cross_key.{i}", ["b", layers.heads, HEAD_SIZE, "s"])
        graph.output(f"cross_value.{i}", ["b", layers.heads, "s", HEAD_SIZE])


class _Rounded:
    """Keys and values of all layers as 8-bit integers."""

    def __init__(self, layers: ManyPositions) -> None:
        self._layers = layers
        self._graph = layers.graph
        self._both = 2 * layers.heads
        self._scale_shape = self._integers(-1, self._both, 1, HEAD_SIZE)
        self._zeros = self._graph.constant(np.full((1, 1, 1, HEAD_SIZE), QUERY_ZERO, np.uint8))

    def write(self) -> None:
        graph, layers = self._graph, self._layers
        encoded = graph.input("encoded", TensorProto.FLOAT, ["b", "s", layers.width])
        loud = behind_norm(layers.model, "encoder.ln_post")
        damped = layers.divided(encoded, loud)
        length = graph.node("Shape", [encoded], start=1, end=2)
        shape = graph.node("Concat", [self._integers(-1, self._both, HEAD_SIZE), length], axis=0)
        for i in range(layers.model.hyper.n_text_layer):
            names = [f"decoder.blocks.{i}.cross_attn.{part}" for part in ("key", "value")]
            self._layer(i, layers.dense(damped, names, [1.0, 1.0], loud), shape)

    def _layer(self, i: int, both: str, shape: str) -> None:
        """`both` (b, s, 2 · width): keys, then values."""
        graph, heads = self._graph, self._layers.heads
        channels = graph.node("Flatten", [graph.node("Transpose", [both], perm=[0, 2, 1])], axis=2)
        scales = self._scales(channels)
        key, value = self._halves(graph.node("Reshape", [self._rounded(channels, scales), shape]), f"{i}")
        graph.node("Identity", [key], output=f"cross_key.{i}")
        graph.node("Transpose", [value], output=f"cross_value.{i}", perm=[0, 1, 3, 2])
        graph.node("MatMulInteger", [self._zeros, key], output=f"cross_offset.{i}")
        key_scale, value_scale = self._halves(graph.node("Reshape", [scales, self._scale_shape]), f"{i}.scale")
        weight = graph.constant(np.array(1 / WEIGHT_LEVELS, np.float32))
        graph.node("Identity", [key_scale], output=f"cross_key_scale.{i}")
        graph.node("Mul", [value_scale, weight], output=f"cross_value_scale.{i}")
        graph.output(f"cross_key.{i}", ["b", heads, HEAD_SIZE, "s"], TensorProto.INT8)
        graph.output(f"cross_value.{i}", ["b", heads, "s", HEAD_SIZE], TensorProto.INT8)
        graph.output(f"cross_offset.{i}", ["b", heads, 1, "s"], TensorProto.INT32)
        graph.output(f"cross_key_scale.{i}", ["b", heads, 1, HEAD_SIZE])
        graph.output(f"cross_value_scale.{i}", ["b", heads, 1, HEAD_SIZE])

    def _scales(self, channels: str) -> str:
        """One a channel of (b · channels, s), so that its loudest value is 127."""
        graph = self._graph
        loudest = graph.node("ReduceMax", [graph.node("Abs", [channels]), self._integers(1)], keepdims=0)
        at_least = graph.node("Max", [loudest, graph.constant(np.array(1e-20, np.float32))])
        return graph.node("Div", [at_least, graph.constant(np.array(LEVELS, np.float32))])

    def _rounded(self, channels: str, scales: str) -> str:
        zero = numpy_helper.from_array(np.zeros(1, np.int8))
        zeros = self._graph.node("ConstantOfShape", [self._graph.node("Shape", [scales])], value=zero)
        return self._graph.node("QuantizeLinear", [channels, scales, zeros], axis=0)

    def _halves(self, x: str, name: str) -> tuple[str, str]:
        """What belongs to keys and what to values, along the second dimension."""
        key, value = self._graph.nodes("Split", [x], [f"k.{name}", f"v.{name}"], axis=1, num_outputs=2)
        return key, value

    def _integers(self, *values: int) -> str:
        return self._graph.constant(np.array(values, np.int64))
