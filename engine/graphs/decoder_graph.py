"""cross: encoder output → cross keys and values, once a window. decode: tokens + KV cache → logits.

The cache is explicit: past keys and values go in, the same with the new tokens behind them come out, so any
runtime can run it and a batch can lose a row by taking rows of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto

from engine.graphs.layers import QUERY_SCALE, Layers
from engine.graphs.onnx_file import GraphFile
from engine.models.ggml import GgmlModel
from engine.models.whisper_layout import HEAD_SIZE
from engine.types import Precision

AlignmentHeads = Sequence[tuple[int, int]]  # (layer, head)


def write_cross(model: GgmlModel, path: Path, precision: Precision) -> None:
    """Write the graph: "encoded" (b, s, width) → "cross_key.i" (b, heads, 64, s), "cross_value.i" (b, heads, s, 64)."""
    with GraphFile(path) as graph:
        layers = Layers(graph, model, precision)
        encoded = graph.input("encoded", TensorProto.FLOAT, ["b", "s", layers.width])
        for i in range(model.hyper.n_text_layer):
            attention = f"decoder.blocks.{i}.cross_attn"
            both = layers.linear(encoded, [f"{attention}.key", f"{attention}.value"])
            key, value = graph.nodes("Split", [both], [f"{attention}.k", f"{attention}.v"], axis=-1, num_outputs=2)
            graph.node("Identity", [layers.heads_of(key, transposed=True)], output=f"cross_key.{i}")
            graph.node("Identity", [layers.heads_of(value)], output=f"cross_value.{i}")
            graph.output(f"cross_key.{i}", ["b", layers.heads, HEAD_SIZE, "s"])
            graph.output(f"cross_value.{i}", ["b", layers.heads, "s", HEAD_SIZE])


def write_decoder(model: GgmlModel, path: Path, precision: Precision, heads: AlignmentHeads) -> None:
    """Write the graph.

    In: "tokens" (b, n), "positions" (n), "mask" (n, past + n) added to the scores of self attention, and for each
    layer "past_key.i", "past_value.i" (b, heads, past, 64), "cross_key.i", "cross_value.i". Out: "logits" (b, vocab)
    of the last token, "key.i", "value.i" (b, heads, past + n, 64), and "alignment" (b, heads given, n, s), the
    cross attention of the alignment heads.
    """
    with GraphFile(path) as graph:
        decoder = _Decoder(Layers(graph, model, precision), heads)
        embed = _Embedding(decoder.layers)
        x = embed.tokens(graph.input("tokens", TensorProto.INT64, ["b", "n"]))
        table = graph.constant(decoder.layers.floats("decoder.positional_embedding"))
        positions = graph.input("positions", TensorProto.INT64, ["n"])
        x = decoder.layers.add(x, graph.node("Gather", [table, positions]))
        graph.input("mask", TensorProto.FLOAT, ["n", "past_n"])
        for i in range(model.hyper.n_text_layer):
            x = decoder.block(x, i)
        last = graph.node("Gather", [x, graph.constant(np.array(-1, np.int64))], axis=1)
        graph.node("Identity", [embed.logits(decoder.layers.norm(last, "decoder.ln"))], output="logits")
        graph.output("logits", ["b", model.hyper.n_vocab])
        graph.node("Concat", decoder.alignment, output="alignment", axis=1)
        graph.output("alignment", ["b", len(heads), "n", "s"])


class _Embedding:
    """One matrix for both ends: looked up for tokens, multiplied for logits."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        name = "decoder.token_embedding.weight"
        if layers.precision == "int8":
            self._values, self._scales, self._rows, self._columns = layers.block_constants([name])
        else:
            self._matrix = layers.half_constant(name)

    def tokens(self, tokens: str) -> str:
        if self._layers.precision == "int8":
            return self._layers.look_up(self._values, self._scales, tokens)
        return self._layers.as_float(self._layers.graph.node("Gather", [self._matrix, tokens]))

    def logits(self, x: str) -> str:
        if self._layers.precision == "int8":
            return self._layers.times_blocks(x, self._values, self._scales, self._rows, self._columns)
        return self._layers.graph.node("Gemm", [x, self._layers.float_matrix(self._matrix)], transB=1)


class _Decoder:
    """The decoder's blocks; `alignment` collects the attention weights that were asked for."""

    def __init__(self, layers: Layers, heads: AlignmentHeads) -> None:
        self.layers = layers
        self.alignment: list[str] = []
        self._heads = heads

    def block(self, x: str, i: int) -> str:
        layers, block = self.layers, f"decoder.blocks.{i}"
        x = layers.add(x, self._self_attention(layers.norm(x, f"{block}.attn_ln"), f"{block}.attn", i))
        x = layers.add(x, self._cross_attention(layers.norm(x, f"{block}.cross_attn_ln"), f"{block}.cross_attn", i))
        return layers.mlp(x, block)

    def _self_attention(self, x: str, name: str, i: int) -> str:
        layers, graph = self.layers, self.layers.graph
        qkv = layers.linear(x, [f"{name}.{part}" for part in ("query", "key", "value")], (QUERY_SCALE, 1.0, 1.0))
        query, key, value = graph.nodes("Split", [qkv], [f"{name}.{p}" for p in "qkv"], axis=-1, num_outputs=3)
        keys = self._grown("key", layers.heads_of(key), i)
        values = self._grown("value", layers.heads_of(value), i)
        scores = graph.node("MatMul", [layers.heads_of(query), graph.node("Transpose", [keys], perm=[0, 1, 3, 2])])
        weights = graph.node("Softmax", [layers.add(scores, "mask")], axis=-1)
        return layers.linear(layers.joined(graph.node("MatMul", [weights, values])), [f"{name}.out"])

    def _grown(self, what: str, new: str, i: int) -> str:
        """The past of layer `i` with `new` behind it, which is also an output."""
        graph, heads = self.layers.graph, self.layers.heads
        past = graph.input(f"past_{what}.{i}", TensorProto.FLOAT, ["b", heads, "past", HEAD_SIZE])
        graph.output(f"{what}.{i}", ["b", heads, "past_n", HEAD_SIZE])
        return graph.node("Concat", [past, new], output=f"{what}.{i}", axis=2)

    def _cross_attention(self, x: str, name: str, i: int) -> str:
        layers, graph = self.layers, self.layers.graph
        query = layers.heads_of(layers.linear(x, [f"{name}.query"], (QUERY_SCALE,)))
        key = graph.input(f"cross_key.{i}", TensorProto.FLOAT, ["b", layers.heads, HEAD_SIZE, "s"])
        value = graph.input(f"cross_value.{i}", TensorProto.FLOAT, ["b", layers.heads, "s", HEAD_SIZE])
        weights = graph.node("Softmax", [graph.node("MatMul", [query, key])], axis=-1)
        chosen = [head for layer, head in self._heads if layer == i]
        if chosen:
            self.alignment.append(graph.node("Gather", [weights, graph.constant(np.array(chosen, np.int64))], axis=1))
        return layers.linear(layers.joined(graph.node("MatMul", [weights, value])), [f"{name}.out"])
