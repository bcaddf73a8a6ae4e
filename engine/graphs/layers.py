"""The parts that Whisper's graphs are made of, in one of two dialects.

int8   MatMulNBits and MultiHeadAttention of ONNX Runtime: fast, and 8-bit blocks keep the words
fp32   standard operators only, weights stored as float16 where the model has them so: any runtime
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.graphs.onnx_file import MICROSOFT, GraphFile
from engine.graphs.quantise import ZERO, blocks_of
from engine.models.ggml import GgmlModel
from engine.models.ggml_types import BLOCK, GgmlType
from engine.models.whisper_layout import HEAD_SIZE
from engine.types import Precision

QUERY_SCALE = HEAD_SIZE**-0.5
_EPSILON = 1e-5  # of every layer norm in Whisper
_FLOAT = 1  # onnx.TensorProto.FLOAT
_FOLDED = 1 << 20  # elements: tract 0.23 casts a larger constant anew in each run
_INT8_ACTIVATIONS = 4  # MatMulNBits's accuracy level at which both sides are multiplied as 8-bit integers


class Layers:
    """Writes layers of `model` into `graph`."""

    def __init__(self, graph: GraphFile, model: GgmlModel, precision: Precision) -> None:
        self.graph = graph
        self.model = model
        self.precision: Precision = precision
        self.heads = model.hyper.n_audio_head
        self.width = model.hyper.n_audio_state
        self._split_shape = graph.constant(np.array([0, 0, self.heads, HEAD_SIZE], np.int64))
        self._joined_shape = graph.constant(np.array([0, 0, self.width], np.int64))

    def floats(self, name: str, factor: float = 1.0) -> NDArray[np.float32]:
        """A small tensor, flat where ggml has it as a column, times `factor`."""
        values = self.model.floats(name)
        flat = values.reshape(-1) if values.ndim == 2 and values.shape[1] == 1 else values
        return flat * np.float32(factor)

    def norm(self, x: str, name: str) -> str:
        """Layer norm over the last dimension."""
        scale, shift = (self.graph.constant(self.floats(f"{name}.{part}")) for part in ("weight", "bias"))
        return self.graph.node("LayerNormalization", [x, scale, shift], axis=-1, epsilon=_EPSILON)

    def linear(self, x: str, names: Sequence[str], factors: Sequence[float] = ()) -> str:
        """X (…, width) times the matrices of `names` side by side, plus their biases; each times its factor."""
        factors = factors or (1.0,) * len(names)
        pairs = list(zip(names, factors, strict=True))
        bias = self.graph.constant(*(self._bias(name, factor) for name, factor in pairs))
        if self.precision == "int8":
            return self.times_blocks(x, *self.block_constants([f"{name}.weight" for name in names], factors), bias)
        matrix = self.graph.constant(*(self._half(f"{name}.weight", factor) for name, factor in pairs))
        transposed = self.graph.node("Transpose", [self.float_matrix(matrix)], perm=[1, 0])
        product = self.graph.node("MatMul", [x, transposed])
        return self.graph.node("Add", [product, bias])

    def block_constants(self, names: Sequence[str], factors: Sequence[float] = ()) -> tuple[str, str, int, int]:
        """8-bit blocks of matrices one under the other: values, scales, rows, columns."""
        blocks = [blocks_of(self.model, name) for name in names]
        if factors:
            blocks = [block.scaled(factor) for block, factor in zip(blocks, factors, strict=True)]
        rows, columns = sum(len(block.values) for block in blocks), blocks[0].values.shape[1] * BLOCK
        values = self.graph.constant(*(block.values for block in blocks))
        scales = self.graph.constant(*(block.scales for block in blocks))
        return values, scales, rows, columns

    def times_blocks(self, x: str, values: str, scales: str, rows: int, columns: int, bias: str = "") -> str:
        """X (…, columns) times the transposed blocks (rows, columns), plus `bias`."""
        inputs = [x, values, scales, "", "", bias] if bias else [x, values, scales]
        return self.graph.node(
            "MatMulNBits",
            inputs,
            domain=MICROSOFT,
            K=columns,
            N=rows,
            bits=8,
            block_size=BLOCK,
            accuracy_level=_INT8_ACTIVATIONS,
        )

    def look_up(self, values: str, scales: str, rows: str) -> str:
        """Rows of 8-bit blocks as float32: (…, columns) for indices (…)."""
        quants = self.graph.node("Cast", [self.graph.node("Gather", [values, rows])], to=_FLOAT)
        centred = self.graph.node("Sub", [quants, self.graph.constant(np.array(ZERO, np.float32))])
        last = self.graph.constant(np.array([-1], np.int64))
        scale = self.graph.node("Unsqueeze", [self.graph.node("Gather", [scales, rows]), last])
        return self.graph.node("Reshape", [self.graph.node("Mul", [centred, scale]), self._joined_shape])

    def heads_of(self, x: str, transposed: bool = False) -> str:
        """(b, n, width) as (b, heads, n, 64), or (b, heads, 64, n)."""
        split = self.graph.node("Reshape", [x, self._split_shape])
        return self.graph.node("Transpose", [split], perm=[0, 2, 3, 1] if transposed else [0, 2, 1, 3])

    def joined(self, x: str) -> str:
        """(b, heads, n, 64) as (b, n, width)."""
        return self.graph.node("Reshape", [self.graph.node("Transpose", [x], perm=[0, 2, 1, 3]), self._joined_shape])

    def mlp(self, x: str, block: str) -> str:
        """The residual stream with the block's two-layer network added."""
        hidden = self.linear(self.norm(x, f"{block}.mlp_ln"), [f"{block}.mlp.0"])
        return self.add(x, self.linear(self.graph.node("Gelu", [hidden]), [f"{block}.mlp.2"]))

    def add(self, x: str, y: str) -> str:
        """X + y."""
        return self.graph.node("Add", [x, y])

    def half_constant(self, name: str) -> str:
        """A matrix as the model has it, float16 where that is exact."""
        return self.graph.constant(self._half(name, 1.0))

    def as_float(self, x: str) -> str:
        """Cast to float32."""
        return self.graph.node("Cast", [x], to=_FLOAT)

    def float_matrix(self, matrix: str) -> str:
        """A constant as float32, in pieces that every runtime computes once, when it loads the graph."""
        pieces = [self.as_float(piece) for piece in self.graph.pieces(matrix, _FOLDED)]
        return self.graph.node("Concat", pieces, axis=0) if len(pieces) > 1 else pieces[0]

    def _bias(self, name: str, factor: float) -> NDArray[np.float32]:
        if f"{name}.bias" in self.model.tensors:
            return self.floats(f"{name}.bias", factor)
        return np.zeros(self.model.tensors[f"{name}.weight"].shape[0], np.float32)  # keys have none

    def _half(self, name: str, factor: float) -> NDArray[np.float32] | NDArray[np.float16]:
        """As float16 when the model has it so; `factor` is 1, or 1/8: numbers below 0.0005 lose their last bits."""
        if self.model.tensors[name].type is GgmlType.F16:
            return self.model.array(name) * np.float16(factor)
        return self.floats(name, factor)
