"""The decoder in ONNX Runtime's own operators: 8-bit weights, and cross attention over 8-bit keys and values.

A product of one row with a matrix of 8-bit integers is the fastest thing that a processor without float16 can do with
cross keys and values, and their bytes are what a step waits for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from engine.graphs.cross_graph import LEVELS, QUERY_ZERO, WEIGHT_LEVELS
from engine.graphs.int8_layers import FewTokens
from engine.graphs.layers import FLOAT, QUERY_SCALE
from engine.graphs.onnx_file import MICROSOFT
from engine.graphs.quantise import blocks_of
from engine.models.whisper_layout import HEAD_SIZE

_BYTE = 8  # bits
_EMBEDDING = "decoder.token_embedding.weight"


class Int8Decoder:
    """Writes the decoder; see `engine.graphs.decoder_graph.write_decoder` for its inputs and outputs."""

    def __init__(self, layers: FewTokens, heads: Sequence[tuple[int, int]]) -> None:
        self._layers = layers
        self._graph = layers.graph
        self._alignment: list[str] = []
        self._heads = heads

    def write(self) -> Sequence[str]:
        """Everything but the outputs that all decoders have; the attention of the alignment heads, by layer."""
        layers, graph, count = self._layers, self._graph, self._layers.model.hyper.n_text_layer
        blocks = blocks_of(layers.model, _EMBEDDING)  # for both ends: looked up for tokens, multiplied for logits
        values, scales = graph.constant(blocks.values), graph.constant(blocks.scales)
        x = layers.look_up(values, scales, graph.input("tokens", TensorProto.INT64, ["b", "n"]))
        table = graph.constant(layers.floats("decoder.positional_embedding"))
        x = layers.add(x, graph.node("Gather", [table, graph.input("positions", TensorProto.INT64, ["n"])]))
        normed = layers.norm(x, "decoder.blocks.0.attn_ln")
        for i in range(count):
            block = f"decoder.blocks.{i}"
            following = f"decoder.blocks.{i + 1}.attn_ln" if i + 1 < count else "decoder.ln"
            normed, x = layers.added_norm(x, self._self_attention(normed, f"{block}.attn", i), f"{block}.cross_attn_ln")
            normed, x = layers.added_norm(x, self._cross_attention(normed, f"{block}.cross_attn", i), f"{block}.mlp_ln")
            normed, x = layers.added_norm(x, layers.mlp(normed, block), following)
        last = graph.node("Gather", [normed, graph.constant(np.array(-1, np.int64))], axis=1)
        graph.node("Identity", [layers.times_blocks(last, values, scales, blocks.values.shape)], output="logits")
        return self._alignment

    def _self_attention(self, x: str, name: str, i: int) -> str:
        layers, graph = self._layers, self._graph
        qkv = layers.linear(x, [f"{name}.{part}" for part in ("query", "key", "value")])
        query, key, value = graph.nodes("Split", [qkv], [f"{name}.{p}" for p in "qkv"], axis=-1, num_outputs=3)
        past = [
            graph.input(f"past_{what}.{i}", TensorProto.FLOAT, ["b", layers.heads, "past", HEAD_SIZE])
            for what in ("key", "value")
        ]
        for what in ("key", "value"):
            graph.output(f"{what}.{i}", ["b", layers.heads, "past_n", HEAD_SIZE])
        graph.nodes(
            "MultiHeadAttention",
            [query, key, value, "", "", "", *past],
            [f"{name}.mixed", f"key.{i}", f"value.{i}"],
            domain=MICROSOFT,
            num_heads=layers.heads,
            unidirectional=1,
        )
        return layers.linear(f"{name}.mixed", [f"{name}.out"])

    def _cross_attention(self, x: str, name: str, i: int) -> str:
        layers, graph = self._layers, self._graph
        query = layers.heads_of(layers.linear(x, [f"{name}.query"], (QUERY_SCALE,)))
        weights = graph.node("Softmax", [self._scores(query, i)], axis=-1)
        chosen = [head for layer, head in self._heads if layer == i]
        if chosen:
            self._alignment.append(graph.node("Gather", [weights, graph.constant(np.array(chosen, np.int64))], axis=1))
        return layers.linear(layers.joined(self._mixed(weights, i)), [f"{name}.out"])

    def _scores(self, query: str, i: int) -> str:
        """Queries (b, heads, n, 64) with keys: (b, heads, n, s). Each query is rounded to 8 bits for itself."""
        graph, heads = self._graph, self._layers.heads
        key = graph.input(f"cross_key.{i}", TensorProto.INT8, ["b", heads, HEAD_SIZE, "s"])
        scale = graph.input(f"cross_key_scale.{i}", TensorProto.FLOAT, ["b", heads, 1, HEAD_SIZE])
        offset = graph.input(f"cross_offset.{i}", TensorProto.INT32, ["b", heads, 1, "s"])
        scaled = graph.node("Mul", [query, scale])
        loudest = graph.node("ReduceMax", [graph.node("Abs", [scaled]), graph.constant(np.array([-1], np.int64))])
        step = graph.node("Mul", [loudest, self._number(1 / LEVELS)])
        # the cast cuts off: half a step more makes it round
        rounded = self._as(graph.node("Add", [graph.node("Div", [scaled, step]), self._number(QUERY_ZERO + 0.5)]))
        product = graph.node("Sub", [graph.node("MatMulInteger", [rounded, key]), offset])
        return graph.node("Mul", [graph.node("Cast", [product], to=FLOAT), step])

    def _mixed(self, weights: str, i: int) -> str:
        """Values mixed by weights (b, heads, n, s): (b, heads, n, 64).

        The weights are rounded to 16 bits, high and low byte multiplied apart: with 8, all those of a head that
        listens broadly would be 0.
        """
        graph, heads = self._graph, self._layers.heads
        value = graph.input(f"cross_value.{i}", TensorProto.INT8, ["b", heads, "s", HEAD_SIZE])
        scale = graph.input(f"cross_value_scale.{i}", TensorProto.FLOAT, ["b", heads, 1, HEAD_SIZE])
        rounded = graph.node("Add", [graph.node("Mul", [weights, self._number(WEIGHT_LEVELS)]), self._number(0.5)])
        low = self._as(rounded, TensorProto.UINT32)
        high = graph.node("BitShift", [low, graph.constant(np.array(_BYTE, np.uint32))], direction="RIGHT")
        products = [graph.node("MatMulInteger", [self._as(part), value]) for part in (high, low)]
        shifted = graph.node("Mul", [products[0], graph.constant(np.array(1 << _BYTE, np.int32))])
        total = graph.node("Cast", [graph.node("Add", [shifted, products[1]])], to=FLOAT)
        return graph.node("Mul", [total, scale])

    def _as(self, x: str, kind: int = TensorProto.UINT8) -> str:
        """Cast to integers; what has more bits loses the high ones."""
        return self._graph.node("Cast", [x], to=kind)

    def _number(self, value: float) -> str:
        return self._graph.constant(np.array(value, np.float32))
