"""Whisper's encoder in plain numpy, from its definition in openai/whisper (model.py): what programs are proved against.

(positions, width) throughout, float32, and nothing shared with the writer of the program but the weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.graphs.mil_operators import gelu, mean, softmax
from engine.models.ggml import GgmlModel
from engine.models.whisper_layout import HEAD_SIZE

Floats = NDArray[np.float32]
_EPSILON = np.float32(1e-5)


def plainly_encoded(model: GgmlModel, mel: Floats) -> Floats:
    """(n_mels, frames) → (frames / 2, width); weights are read from the file as they are needed, and let go."""
    x = gelu(_convolved(model, mel.T, "encoder.conv1", 1))
    x = gelu(_convolved(model, x, "encoder.conv2", 2))
    x = x + model.floats("encoder.positional_embedding")[: len(x)]
    for number in range(model.hyper.n_audio_layer):
        block = f"encoder.blocks.{number}"
        x = x + _attended(model, _normed(model, x, f"{block}.attn_ln"), f"{block}.attn")
        inner = gelu(_linear(model, _normed(model, x, f"{block}.mlp_ln"), f"{block}.mlp.0"))
        x = x + _linear(model, inner, f"{block}.mlp.2")
    return _normed(model, x, "encoder.ln_post")


def _convolved(model: GgmlModel, x: Floats, name: str, stride: int) -> Floats:
    """A kernel of three positions, with silence before and behind."""
    kernel = model.floats(f"{name}.weight")
    padded = np.pad(x, ((1, 1), (0, 0)))
    rows = range(0, len(x), stride)
    windows = [padded[at : at + len(x) : stride][: len(rows)] for at in range(3)]
    y = windows[0] @ kernel[:, :, 0].T + windows[1] @ kernel[:, :, 1].T + windows[2] @ kernel[:, :, 2].T
    return (y + model.floats(f"{name}.bias").reshape(-1)).astype(np.float32)


def _attended(model: GgmlModel, x: Floats, name: str) -> Floats:
    queries, keys, values = (_linear(model, x, f"{name}.{part}") for part in ("query", "key", "value"))
    mixed = np.empty_like(values)
    for start in range(0, x.shape[1], HEAD_SIZE):
        head = slice(start, start + HEAD_SIZE)
        scores = queries[:, head] @ keys[:, head].T / np.float32(np.sqrt(HEAD_SIZE))
        mixed[:, head] = softmax(scores, axis=1) @ values[:, head]
    return _linear(model, mixed, f"{name}.out")


def _linear(model: GgmlModel, x: Floats, name: str) -> Floats:
    y = x @ model.floats(f"{name}.weight").T
    model.let_go(f"{name}.weight")
    return y + model.floats(f"{name}.bias") if f"{name}.bias" in model.tensors else y


def _normed(model: GgmlModel, x: Floats, name: str) -> Floats:
    centred: Floats = x - mean(x, 1)
    spread: Floats = np.sqrt(mean(np.square(centred), 1) + _EPSILON)
    return centred / spread * model.floats(f"{name}.weight") + model.floats(f"{name}.bias")
