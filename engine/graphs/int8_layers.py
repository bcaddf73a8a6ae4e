"""The same parts in ONNX Runtime's own 8-bit operators: much faster than float32, and the words stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.graphs.damping import behind_gelu, behind_linear, behind_norm
from engine.graphs.layers import EPSILON, FLOAT, Layers
from engine.graphs.onnx_file import MICROSOFT
from engine.graphs.quantise import ZERO, blocks_of, rows_of

_INT8_ACTIVATIONS = 4  # MatMulNBits's accuracy level at which both sides are multiplied as 8-bit integers

Floats = NDArray[np.float32]


class ManyPositions(Layers):
    """For the encoder: activations rounded with one scale a tensor, their loud channels damped before."""

    def attention(self, x: str, block: str) -> str:
        """As `Layers.attention`."""
        norm, name = f"{block}.attn_ln", f"{block}.attn"
        loud, loud_values = behind_norm(self.model, norm), behind_linear(self.model, norm, f"{name}.value")
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        qkv = self.dense(self._damped_norm(x, norm, loud), parts, [1.0, 1.0, np.float32(1) / loud_values], loud)
        query, key, value = self.graph.nodes("Split", [qkv], [f"{name}.{p}" for p in "qkv"], axis=-1, num_outputs=3)
        # this operator never writes the (1500, 1500) scores to memory
        mixed = self.graph.node("MultiHeadAttention", [query, key, value], domain=MICROSOFT, num_heads=self.heads)
        return self.dense(mixed, [f"{name}.out"], [1.0], loud_values)

    def network(self, x: str, block: str) -> str:
        """As `Layers.network`."""
        norm, first = f"{block}.mlp_ln", f"{block}.mlp.0"
        loud, loud_hidden = behind_norm(self.model, norm), behind_gelu(self.model, norm, first)
        hidden = self.graph.node("Gelu", [self.dense(self._damped_norm(x, norm, loud), [first], [1.0], loud)])
        return self.dense(self.divided(hidden, loud_hidden), [f"{block}.mlp.2"], [1.0], loud_hidden)

    def dense(self, x: str, names: Sequence[str], factors: Sequence[Floats | float], loud: Floats) -> str:
        """X, whose channels were divided by `loud`, times the matrices side by side, plus biases, times `factors`."""
        pairs = list(zip(names, factors, strict=True))
        rows = [rows_of(self.model, f"{name}.weight", factor, loud) for name, factor in pairs]
        values = self.graph.constant(np.concatenate([part.values for part in rows], axis=1))
        scales = self.graph.constant(*(part.scales for part in rows))
        bias = self.graph.constant(*(self.bias(name) * np.float32(factor) for name, factor in pairs))
        return self.graph.node("DynamicQuantizeMatMul", [x, values, scales, "", bias], domain=MICROSOFT)

    def divided(self, x: str, loud: Floats) -> str:
        """X with its channels divided by `loud`."""
        return self.graph.node("Mul", [x, self.graph.constant(1 / loud)])

    def _damped_norm(self, x: str, name: str, loud: Floats) -> str:
        scale, shift = (self.graph.constant(self.floats(f"{name}.{part}") / loud) for part in ("weight", "bias"))
        return self.graph.node("LayerNormalization", [x, scale, shift], axis=-1, epsilon=EPSILON)


class FewTokens(Layers):
    """For the decoder: every row of activations is rounded for itself, so no row depends on its neighbours."""

    def linear(self, x: str, names: Sequence[str], factors: Sequence[float] = ()) -> str:
        """As `Layers.linear`."""
        pairs = list(zip(names, factors or (1.0,) * len(names), strict=True))
        blocks = [blocks_of(self.model, f"{name}.weight").scaled(factor) for name, factor in pairs]
        values = self.graph.constant(*(part.values for part in blocks))
        scales = self.graph.constant(*(part.scales for part in blocks))
        bias = self.graph.constant(*(self.bias(name) * np.float32(factor) for name, factor in pairs))
        return self.times_blocks(
            x, values, scales, (sum(len(b.values) for b in blocks), *blocks[0].values.shape[1:]), bias
        )

    def times_blocks(self, x: str, values: str, scales: str, shape: tuple[int, ...], bias: str = "") -> str:
        """X (…, columns) times the transposed blocks, plus `bias`; `shape` is (rows, blocks, values in a block)."""
        inputs = [x, values, scales, "", "", bias] if bias else [x, values, scales]
        rows, blocks, size = shape
        return self.graph.node(
            "MatMulNBits",
            inputs,
            domain=MICROSOFT,
            K=blocks * size,
            N=rows,
            bits=8,
            block_size=size,
            accuracy_level=_INT8_ACTIVATIONS,
        )

    def look_up(self, values: str, scales: str, rows: str) -> str:
        """Rows of blocks as float32: (b, n, width) for indices (b, n)."""
        quants = self.graph.node("Cast", [self.graph.node("Gather", [values, rows])], to=FLOAT)
        centred = self.graph.node("Sub", [quants, self.graph.constant(np.array(ZERO, np.float32))])
        last = self.graph.constant(np.array([-1], np.int64))
        scale = self.graph.node("Unsqueeze", [self.graph.node("Gather", [scales, rows]), last])
        return self.flat(self.graph.node("Mul", [centred, scale]))

    def added_norm(self, x: str, change: str, name: str) -> tuple[str, str]:
        """The norm of x + change, and that sum."""
        scale, shift = (self.graph.constant(self.floats(f"{name}.{part}")) for part in ("weight", "bias"))
        normed, total = f"{name}.normed", f"{name}.sum"
        inputs, outputs = [x, change, scale, shift], [normed, "", "", total]
        self.graph.nodes("SkipLayerNormalization", inputs, outputs, domain=MICROSOFT, epsilon=EPSILON)
        return normed, total
