"""A CTranslate2 Whisper's variables under the names, shapes and types that a ggml file has them in.

CTranslate2 keeps a layer's query, key and value as one matrix (cross attention: key and value), rows one after
another; whisper.cpp has them apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from engine.models.ctranslate2 import failed
from engine.models.ggml_types import DTYPES
from engine.models.whisper_layout import HEAD_SIZE, Hyperparameters, expected_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.models.ctranslate2 import Weights
    from engine.models.ggml_types import Stored
    from engine.models.whisper_layout import Expected

_MOSTLY_F16 = 1  # ggml.h, enum ggml_ftype
_OUTSIDE = {
    "encoder.positional_embedding": "encoder/position_encodings/encodings",
    "encoder.conv1.weight": "encoder/conv1/weight",
    "encoder.conv1.bias": "encoder/conv1/bias",
    "encoder.conv2.weight": "encoder/conv2/weight",
    "encoder.conv2.bias": "encoder/conv2/bias",
    "encoder.ln_post.weight": "encoder/layer_norm/gamma",
    "encoder.ln_post.bias": "encoder/layer_norm/beta",
    "decoder.positional_embedding": "decoder/position_encodings/encodings",
    "decoder.token_embedding.weight": "decoder/embeddings/weight",
    "decoder.ln.weight": "decoder/layer_norm/gamma",
    "decoder.ln.bias": "decoder/layer_norm/beta",
}
_IN_A_LAYER = {  # the variable, and which part of how many its rows are
    "attn_ln": ("self_attention/layer_norm", 0, 1),
    "attn.query": ("self_attention/linear_0", 0, 3),
    "attn.key": ("self_attention/linear_0", 1, 3),
    "attn.value": ("self_attention/linear_0", 2, 3),
    "attn.out": ("self_attention/linear_1", 0, 1),
    "cross_attn_ln": ("attention/layer_norm", 0, 1),
    "cross_attn.query": ("attention/linear_0", 0, 1),
    "cross_attn.key": ("attention/linear_1", 0, 2),
    "cross_attn.value": ("attention/linear_1", 1, 2),
    "cross_attn.out": ("attention/linear_2", 0, 1),
    "mlp_ln": ("ffn/layer_norm", 0, 1),
    "mlp.0": ("ffn/linear_0", 0, 1),
    "mlp.2": ("ffn/linear_1", 0, 1),
}
_LAYER = re.compile(r"(encoder|decoder)\.blocks\.(\d+)\.(.+)\.(weight|bias)")


def hyperparameters(weights: Weights) -> Hyperparameters:
    """Tell the sizes of a model from its variables; IMPORT_FAILED when no Whisper has them."""
    n_vocab, n_state = _shape(weights, "decoder/embeddings/weight", 2)
    n_heads = n_state // HEAD_SIZE
    hyper = Hyperparameters(
        n_vocab=n_vocab,
        n_audio_ctx=_shape(weights, "encoder/position_encodings/encodings", 2)[0],
        n_audio_state=n_state,
        n_audio_head=n_heads,
        n_audio_layer=_layers(weights, "encoder"),
        n_text_ctx=_shape(weights, "decoder/position_encodings/encodings", 2)[0],
        n_text_state=n_state,
        n_text_head=n_heads,
        n_text_layer=_layers(weights, "decoder"),
        n_mels=_shape(weights, "encoder/conv1/weight", 3)[1],
        ftype=_MOSTLY_F16,
    )
    if complaint := hyper.complaint():
        raise failed(complaint)
    if "decoder/projection/weight" in weights.variables:  # whisper.cpp uses the embeddings, as OpenAI's models do
        raise failed("its output layer is not its embedding matrix")
    return hyper


def ggml_tensors(weights: Weights, hyper: Hyperparameters) -> Iterator[tuple[str, Stored]]:
    """Give all tensors of the ggml file, one at a time; IMPORT_FAILED when one is missing or not as expected."""
    for name, expected in expected_tensors(hyper).items():
        yield name, _tensor(weights, name, expected)


def _tensor(weights: Weights, name: str, expected: Expected) -> Stored:
    variable, part, parts = source_of(name)
    values = weights.values(variable)
    rows = values.shape[0] // parts
    values = values[part * rows : (part + 1) * rows]
    if expected.shape not in {values.shape, (*values.shape, 1)}:  # a convolution's bias becomes a column
        raise failed(f"{variable} has the shape {weights.shape(variable)}, which does not fit the other layers")
    dtype = DTYPES[expected.kind]
    if np.abs(values).max() > np.finfo(dtype).max:
        raise failed(f"{variable} holds values beyond what float16 can")
    return values.astype(dtype).reshape(expected.shape)


def source_of(name: str) -> tuple[str, int, int]:
    """Name the variable that holds a tensor of ggml's, and which part of how many its rows are."""
    if name in _OUTSIDE:
        return _OUTSIDE[name], 0, 1
    match = _LAYER.fullmatch(name)
    assert match, name
    side, layer, what, suffix = match.groups()
    variable, part, parts = _IN_A_LAYER[what]
    if variable.endswith("layer_norm"):
        suffix = {"weight": "gamma", "bias": "beta"}[suffix]
    return f"{side}/layer_{layer}/{variable}/{suffix}", part, parts


def _shape(weights: Weights, name: str, rank: int) -> tuple[int, ...]:
    shape = weights.shape(name)
    if len(shape) != rank:
        raise failed(f"{name} has {len(shape)} dimensions, not {rank}")
    return shape


def _layers(weights: Weights, side: str) -> int:
    layers = {name.split("/")[1] for name in weights.variables if name.startswith(f"{side}/layer_")}
    return len(layers - {"layer_norm"})
