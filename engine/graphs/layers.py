"""The parts that Whisper's graphs are made of, in standard operators: any runtime computes them, in float32.

Weights are stored as float16 where the model has them so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.graphs.onnx_file import GraphFile
from engine.models.ggml import GgmlModel
from engine.models.ggml_types import GgmlType
from engine.models.whisper_layout import HEAD_SIZE

QUERY_SCALE = HEAD_SIZE**-0.5
EPSILON = 1e-5  # of every layer norm in Whisper
FLOAT = 1  # onnx.TensorProto.FLOAT
_FOLDED = 1 << 20  # elements: tract 0.23 casts a larger constant anew in each run


class Layers:
    """Writes layers of `model` into `graph`."""

    def __init__(self, graph: GraphFile, model: GgmlModel) -> None:
        self.graph = graph
        self.model = model
        self.heads = model.hyper.n_audio_head
        self.width = model.hyper.n_audio_state
        self._split_shape = graph.constant(np.array([0, 0, self.heads, HEAD_SIZE], np.int64))
        self._joined_shape = graph.constant(np.array([0, 0, self.width], np.int64))

    def floats(self, name: str) -> NDArray[np.float32]:
        """A small tensor, flat where ggml has it as a column."""
        values = self.model.floats(name)
        return values.reshape(-1) if values.ndim == 2 and values.shape[1] == 1 else values

    def bias(self, name: str) -> NDArray[np.float32]:
        """The bias of a matrix; zeros where there is none, as for keys."""
        if f"{name}.bias" in self.model.tensors:
            return self.floats(f"{name}.bias")
        return np.zeros(self.model.tensors[f"{name}.weight"].shape[0], np.float32)

    def norm(self, x: str, name: str) -> str:
        """Layer norm over the last dimension."""
        scale, shift = (self.graph.constant(self.floats(f"{name}.{part}")) for part in ("weight", "bias"))
        return self.graph.node("LayerNormalization", [x, scale, shift], axis=-1, epsilon=EPSILON)

    def linear(self, x: str, names: Sequence[str], factors: Sequence[float] = ()) -> str:
        """X (…, width) times the matrices of `names` side by side, plus their biases; each times its factor."""
        pairs = list(zip(names, factors or (1.0,) * len(names), strict=True))
        bias = self.graph.constant(*(self.bias(name) * np.float32(factor) for name, factor in pairs))
        matrix = self.graph.constant(*(self._half(f"{name}.weight", factor) for name, factor in pairs))
        transposed = self.graph.node("Transpose", [self.float_matrix(matrix)], perm=[1, 0])
        return self.graph.node("Add", [self.graph.node("MatMul", [x, transposed]), bias])

    def heads_of(self, x: str, transposed: bool = False) -> str:
        """(b, n, width) as (b, heads, n, 64), or (b, heads, 64, n)."""
        split = self.graph.node("Reshape", [x, self._split_shape])
        return self.graph.node("Transpose", [split], perm=[0, 2, 3, 1] if transposed else [0, 2, 1, 3])

    def joined(self, x: str) -> str:
        """(b, heads, n, 64) as (b, n, width)."""
        return self.flat(self.graph.node("Transpose", [x], perm=[0, 2, 1, 3]))

    def flat(self, x: str) -> str:
        """(b, n, …) as (b, n, width)."""
        return self.graph.node("Reshape", [x, self._joined_shape])

    def attention(self, x: str, block: str) -> str:
        """Norm and self attention of an encoder's block."""
        name = f"{block}.attn"
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        qkv = self.linear(self.norm(x, f"{block}.attn_ln"), parts, (QUERY_SCALE, 1.0, 1.0))
        query, key, value = self.graph.nodes("Split", [qkv], [f"{name}.{p}" for p in "qkv"], axis=-1, num_outputs=3)
        scores = self.graph.node("MatMul", [self.heads_of(query), self.heads_of(key, transposed=True)])
        weights = self.graph.node("Softmax", [scores], axis=-1)
        return self.linear(self.joined(self.graph.node("MatMul", [weights, self.heads_of(value)])), [f"{name}.out"])

    def network(self, x: str, block: str) -> str:
        """Norm and two-layer network of an encoder's block."""
        return self.mlp(self.norm(x, f"{block}.mlp_ln"), block)

    def mlp(self, x: str, block: str) -> str:
        """The block's two-layer network."""
        return self.linear(self.graph.node("Gelu", [self.linear(x, [f"{block}.mlp.0"])]), [f"{block}.mlp.2"])

    def add(self, x: str, y: str) -> str:
        """X + y."""
        return self.graph.node("Add", [x, y])

    def half_constant(self, name: str) -> str:
        """A matrix as the model has it, float16 where that is exact."""
        return self.graph.constant(self._half(name, 1.0))

    def as_float(self, x: str) -> str:
        """Cast to float32."""
        return self.graph.node("Cast", [x], to=FLOAT)

    def float_matrix(self, matrix: str) -> str:
        """A constant as float32, in pieces that every runtime computes once, when it loads the graph."""
        pieces = [self.as_float(piece) for piece in self.graph.pieces(matrix, _FOLDED)]
        return self.graph.node("Concat", pieces, axis=0) if len(pieces) > 1 else pieces[0]

    def _half(self, name: str, factor: float) -> NDArray[np.float32] | NDArray[np.float16]:
        """As float16 when the model has it so; `factor` is 1, or 1/8: numbers below 0.0005 lose their last bits."""
        if self.model.tensors[name].type is GgmlType.F16:
            return self.model.array(name) * np.float16(factor)
        return self.model.floats(name) * np.float32(factor)
