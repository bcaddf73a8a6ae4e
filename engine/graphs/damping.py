"""Loud channels made quieter before the encoder's activations are rounded to 8 bits.

A tensor that shares one scale is as coarse as its loudest channel needs, and Whisper has channels ten times as loud as
most. They are divided by what they are too loud, and the matrix that follows is multiplied by it: the product stays
(SmoothQuant, Xiao et al. 2023). How loud a channel gets is estimated from the weights, so nothing has to be heard to
build a graph. Measured on seven recordings with base: the encoder's output is 7 % off (relative L2) in place of 16 %.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.models.ggml import GgmlModel

Floats = NDArray[np.float32]

_REACH = 3.0  # standard deviations from the mean that a channel is taken to go
_COMMON = 0.9  # this share of the channels is left as it is
_LEAST = 0.2  # a GELU's output can hardly be quieter: -0.17 is its lowest


def behind_norm(model: GgmlModel, norm: str) -> Floats:
    """What each channel of a layer norm's output is to be divided by, 1 for most: normal around the norm's shift."""
    mean, spread = np.abs(_vector(model, f"{norm}.bias")), np.abs(_vector(model, f"{norm}.weight"))
    return _too_loud(mean + np.float32(_REACH) * spread)


def behind_linear(model: GgmlModel, norm: str, name: str) -> Floats:
    """The same for what the matrix `name` makes of a layer norm's output."""
    mean, spread = _made_of(model, norm, name)
    return _too_loud(np.abs(mean) + np.float32(_REACH) * spread)


def behind_gelu(model: GgmlModel, norm: str, name: str) -> Floats:
    """The same once a GELU has followed, which keeps what is positive."""
    mean, spread = _made_of(model, norm, name)
    return _too_loud(np.maximum(mean + np.float32(_REACH) * spread, np.float32(_LEAST)))


def _made_of(model: GgmlModel, norm: str, name: str) -> tuple[Floats, Floats]:
    """Mean and standard deviation of a matrix's outputs behind a layer norm of independent channels."""
    matrix = model.floats(f"{name}.weight")
    mean = matrix @ _vector(model, f"{norm}.bias")
    if f"{name}.bias" in model.tensors:
        mean = mean + _vector(model, f"{name}.bias")
    spread = np.sqrt(np.square(matrix * _vector(model, f"{norm}.weight")).sum(axis=1))
    return mean, spread


def _too_loud(reach: Floats) -> Floats:
    common = np.quantile(reach, _COMMON)
    return np.maximum(reach / common, 1.0).astype(np.float32) if common > 0 else np.ones_like(reach)


def _vector(model: GgmlModel, name: str) -> Floats:
    return model.floats(name).reshape(-1)
