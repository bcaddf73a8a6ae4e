"""decode: tokens + KV cache → logits, the same cache with the new tokens behind, and where they were heard.

The cache is explicit: past keys and values go in, the same with the new tokens behind them come out, so any
runtime can run it and a batch can lose a row by taking rows of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto

from engine.graphs.int8_decoder import Int8Decoder
from engine.graphs.int8_layers import FewTokens
from engine.graphs.layers import QUERY_SCALE, Layers
from engine.graphs.onnx_file import GraphFile
from engine.models.ggml import GgmlModel
from engine.models.whisper_layout import HEAD_SIZE
from engine.types import Precision

AlignmentHeads = Sequence[tuple[int, int]]  # (layer, head)


def write_decoder(model: GgmlModel, path: Path, precision: Precision, heads: AlignmentHeads) -> None:
    """Write the graph.

    In: "tokens" (b, n), "positions" (n), for each layer "past_key.i", "past_value.i" (b, heads, past, 64), and what
    the cross graph gives. Out: "logits" (b, vocab) of the last token, "key.i", "value.i" (b, heads, past + n, 64),
    and "alignment" (b, heads given, n, s), the cross attention of the alignment heads.
    fp32 has one more input, "mask" (n, past + n), which is added to the scores of self attention.
    """
    with GraphFile(path) as graph:
        if precision == "int8":
            alignment = Int8Decoder(FewTokens(graph, model), heads).write()
        else:
            alignment = _Decoder(Layers(graph, model), heads).write()
        graph.output("logits", ["b", model.hyper.n_vocab])
        graph.node("Concat", alignment, output="alignment", axis=1)
        graph.output("alignment", ["b", len(heads), "n", "s"])


class _Decoder:
    """In float32."""

    def __init__(self, layers: Layers, heads: AlignmentHeads) -> None:
        self._layers = layers
        self._graph = layers.graph
        self._alignment: list[str] = []
        self._heads = heads

    def write(self) -> Sequence[str]:
        """Everything but the outputs that all decoders have; the attention of the alignment heads, by layer."""
        layers, graph = self._layers, self._graph
        matrix = layers.half_constant("decoder.token_embedding.weight")  # for both ends
        tokens = graph.input("tokens", TensorProto.INT64, ["b", "n"])
        x = layers.as_float(graph.node("Gather", [matrix, tokens]))
        table = graph.constant(layers.floats("decoder.positional_embedding"))
        x = layers.add(x, graph.node("Gather", [table, graph.input("positions", TensorProto.INT64, ["n"])]))
        graph.input("mask", TensorProto.FLOAT, ["n", "past_n"])
        for i in range(layers.model.hyper.n_text_layer):
            x = self._block(x, i)
        last = graph.node("Gather", [x, graph.constant(np.array(-1, np.int64))], axis=1)
        normed = layers.norm(last, "decoder.ln")
        graph.node("Gemm", [normed, layers.float_matrix(matrix)], output="logits", transB=1)
        return self._alignment

    def _block(self, x: str, i: int) -> str:
        layers, block = self._layers, f"decoder.blocks.{i}"
        x = layers.add(x, self._self_attention(layers.norm(x, f"{block}.attn_ln"), f"{block}.attn", i))
        x = layers.add(x, self._cross_attention(layers.norm(x, f"{block}.cross_attn_ln"), f"{block}.cross_attn", i))
        return layers.add(x, layers.mlp(layers.norm(x, f"{block}.mlp_ln"), block))

    def _self_attention(self, x: str, name: str, i: int) -> str:
        layers, graph = self._layers, self._graph
        qkv = layers.linear(x, [f"{name}.{part}" for part in ("query", "key", "value")], (QUERY_SCALE, 1.0, 1.0))
        query, key, value = graph.nodes("Split", [qkv], [f"{name}.{p}" for p in "qkv"], axis=-1, num_outputs=3)
        keys = self._grown("key", layers.heads_of(key), i)
        values = self._grown("value", layers.heads_of(value), i)
        scores = graph.node("MatMul", [layers.heads_of(query), graph.node("Transpose", [keys], perm=[0, 1, 3, 2])])
        weights = graph.node("Softmax", [layers.add(scores, "mask")], axis=-1)
        return layers.linear(layers.joined(graph.node("MatMul", [weights, values])), [f"{name}.out"])

    def _grown(self, what: str, new: str, i: int) -> str:
        """The past of layer `i` with `new` behind it, which is also an output."""
        graph, heads = self._graph, self._layers.heads
        past = graph.input(f"past_{what}.{i}", TensorProto.FLOAT, ["b", heads, "past", HEAD_SIZE])
        graph.output(f"{what}.{i}", ["b", heads, "past_n", HEAD_SIZE])
        return graph.node("Concat", [past, new], output=f"{what}.{i}", axis=2)

    def _cross_attention(self, x: str, name: str, i: int) -> str:
        layers, graph = self._layers, self._graph
        query = layers.heads_of(layers.linear(x, [f"{name}.query"], (QUERY_SCALE,)))
        key = graph.input(f"cross_key.{i}", TensorProto.FLOAT, ["b", layers.heads, HEAD_SIZE, "s"])
        value = graph.input(f"cross_value.{i}", TensorProto.FLOAT, ["b", layers.heads, "s", HEAD_SIZE])
        weights = graph.node("Softmax", [graph.node("MatMul", [query, key])], axis=-1)
        chosen = [head for layer, head in self._heads if layer == i]
        if chosen:
            self._alignment.append(graph.node("Gather", [weights, graph.constant(np.array(chosen, np.int64))], axis=1))
        return layers.linear(layers.joined(graph.node("MatMul", [weights, value])), [f"{name}.out"])
