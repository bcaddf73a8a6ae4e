"""Whisper in plain numpy, float64, one window: what the graphs are compared with. From the definition in
openai/whisper (model.py), with nothing taken from the code under test.
"""

from __future__ import annotations

from math import erf

import numpy as np
from numpy.typing import NDArray

from engine.models.ggml import GgmlModel

Array = NDArray[np.float64]

_ERF = np.vectorize(erf, otypes=[np.float64])


class Reference:
    """A model's weights as float64, and what they make of a window."""

    def __init__(self, model: GgmlModel) -> None:
        self._model = model
        self._weights: dict[str, Array] = {}

    def encoded(self, mel: Array) -> Array:
        """(mels, frames) → (frames / 2, width)."""
        x = gelu(self._convolved(mel.T.astype(np.float64), "encoder.conv1", 1))
        x = gelu(self._convolved(x, "encoder.conv2", 2))
        x = x + self.weight("encoder.positional_embedding")[: len(x)]
        for i in range(self._model.hyper.n_audio_layer):
            block = f"encoder.blocks.{i}"
            y = self._normed(x, f"{block}.attn_ln")
            x = x + self._attended(y, y, f"{block}.attn")[0]
            x = x + self._mlp(x, block)
        return self._normed(x, "encoder.ln_post")

    def decoded(self, tokens: list[int], encoded: Array) -> tuple[Array, list[Array]]:
        """Logits (n, vocab) after each token, and each layer's cross attention (heads, n, positions)."""
        embedding = self.weight("decoder.token_embedding.weight")
        x = embedding[tokens] + self.weight("decoder.positional_embedding")[: len(tokens)]
        crosses: list[Array] = []
        for i in range(self._model.hyper.n_text_layer):
            block = f"decoder.blocks.{i}"
            y = self._normed(x, f"{block}.attn_ln")
            x = x + self._attended(y, y, f"{block}.attn", causal=True)[0]
            mixed, weights = self._attended(self._normed(x, f"{block}.cross_attn_ln"), encoded, f"{block}.cross_attn")
            crosses.append(weights)
            x = x + mixed
            x = x + self._mlp(x, block)
        return self._normed(x, "decoder.ln") @ embedding.T, crosses

    def weight(self, name: str) -> Array:
        if name not in self._weights:
            self._weights[name] = self._model.floats(name).astype(np.float64)
        return self._weights[name]

    def linear(self, x: Array, name: str) -> Array:
        product = x @ self.weight(f"{name}.weight").T
        return product + self.weight(f"{name}.bias") if f"{name}.bias" in self._model.tensors else product

    def heads(self, x: Array) -> Array:
        """(n, width) → (heads, n, 64)."""
        return x.reshape(len(x), -1, 64).transpose(1, 0, 2)

    def _convolved(self, x: Array, name: str, stride: int) -> Array:
        kernel, padded = self.weight(f"{name}.weight"), np.pad(x, ((1, 1), (0, 0)))
        rows = [np.einsum("kc,ock->o", padded[at : at + 3], kernel) for at in range(0, len(x), stride)]
        return np.array(rows) + self.weight(f"{name}.bias").reshape(-1)

    def _normed(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        return centred / spread * self.weight(f"{name}.weight") + self.weight(f"{name}.bias")

    def _attended(self, x: Array, source: Array, name: str, causal: bool = False) -> tuple[Array, Array]:
        """What `x` gathers from `source`, and the weights (heads, n, m)."""
        query, key, value = (
            self.heads(self.linear(y, f"{name}.{part}"))
            for y, part in ((x, "query"), (source, "key"), (source, "value"))
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(64)
        if causal:
            scores[:, ~np.tri(len(x), dtype=bool)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return self.linear((weights @ value).transpose(1, 0, 2).reshape(x.shape), f"{name}.out"), weights

    def _mlp(self, x: Array, block: str) -> Array:
        return self.linear(gelu(self.linear(self._normed(x, f"{block}.mlp_ln"), f"{block}.mlp.0")), f"{block}.mlp.2")


def gelu(x: Array) -> Array:
    return x * 0.5 * (1 + _ERF(x / np.sqrt(2)))


def difference(found: NDArray[np.floating], wanted: NDArray[np.floating]) -> float:
    """Relative L2: the length of the difference over the length of what is right."""
    assert found.shape == wanted.shape
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
