"""The operators of a Core ML program that Whisper's encoder needs, in numpy: float32 in, float32 out.

Each takes the operator's inputs by their names in the program, as Apple's MIL documents them (model intermediate
language, operator sets up to iOS16).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Inputs = Mapping[str, Any]


def erf(x: Array) -> Array:
    """Abramowitz and Stegun, 7.1.26: at most 1.5e-7 off, as good as float32 around 1."""
    size = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.float32(1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(term)
    return np.copysign(1 - series * t * np.exp(-size * size), x)


def gelu(x: Array) -> Array:
    """The exact one (Hendrycks and Gimpel 2016)."""
    return np.float32(0.5) * x * (1 + erf(x * np.float32(np.sqrt(0.5))))


def softmax(x: Array, axis: int) -> Array:
    """exp(x) as shares of their sum along an axis."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    powers /= powers.sum(axis, dtype=np.float64, keepdims=True).astype(np.float32)
    return powers


def mean(x: Array, axes: int | tuple[int, ...]) -> Array:
    """The mean along axes, summed in float64: numpy adds float32 one after the other where an axis is not the last."""
    return x.mean(axes, dtype=np.float64, keepdims=True).astype(np.float32)


def _conv(given: Inputs) -> Array:
    """(1, c, 1, n) with kernels (o, c, 1, k)."""
    x, kernels, bias = given["x"][0, :, 0], given["weight"][:, :, 0], given.get("bias")
    if given.get("pad_type") == "custom":
        x = np.pad(x, ((0, 0), tuple(int(side) for side in given["pad"][2:])))
    stride, width = int(given["strides"][1]) if "strides" in given else 1, kernels.shape[2]
    count = (x.shape[1] - width) // stride + 1
    y = kernels[:, :, 0] @ x[:, : stride * (count - 1) + 1 : stride]
    for at in range(1, width):
        y += kernels[:, :, at] @ x[:, at : at + stride * (count - 1) + 1 : stride]
    return (y if bias is None else y + bias[:, None])[None, :, None]


def _layer_norm(given: Inputs, square: Callable[[Array], Array] = np.square) -> Array:
    x, axes = given["x"], tuple(int(axis) for axis in given["axes"])
    along = [size if axis in axes else 1 for axis, size in enumerate(x.shape)]
    centred = x - mean(x, axes)
    spread = np.sqrt(mean(square(centred), axes) + given["epsilon"])
    return centred / spread * given["gamma"].reshape(along) + given["beta"].reshape(along)


def layer_norm_of_halves(given: Inputs) -> Array:
    """A layer norm on hardware that squares in float16: what is above 255 becomes infinite, and the result 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _layer_norm(given, lambda x: np.square(x.astype(np.float16)).astype(np.float32))


def _split(given: Inputs) -> list[Array]:
    return np.split(given["x"], int(given["num_splits"]), int(given["axis"]))


def _einsum(given: Inputs) -> Array:
    """Products of matrices, which is what the two of an attention head are."""
    equation, (x, y) = str(given["equation"]), given["values"]
    if equation != "nchw,nwhu->nchu":
        raise ValueError(f"einsum {equation}")
    return np.matmul(x[:, :, 0], y[:, :, 0])[:, :, None] if x.shape[2] == 1 else np.einsum(equation, x, y)


def _dequantised(given: Inputs) -> Array:
    """(quantised - zero point) · scale, with a scale for each index along an axis."""
    data, axis = given["quantized_data"], int(given["axis"])
    along = [-1 if index == axis else 1 for index in range(data.ndim)]

    def spread(values: Any) -> Array:  # noqa: ANN401 (a number or a vector)
        return np.asarray(values, np.float32).reshape(along if np.ndim(values) else [1] * data.ndim)

    return (data.astype(np.float32) - spread(given["zero_point"])) * spread(given["scale"])


def _axes(given: Inputs, name: str) -> tuple[int, ...]:
    return tuple(int(axis) for axis in given[name])


OPERATORS: dict[str, Callable[[Inputs], Array | list[Array]]] = {
    "add": lambda given: given["x"] + given["y"],
    "cast": lambda given: given["x"],
    "concat": lambda given: np.concatenate(given["values"], int(given["axis"])),
    "constexpr_affine_dequantize": _dequantised,
    "conv": _conv,
    "einsum": _einsum,
    "expand_dims": lambda given: np.expand_dims(given["x"], _axes(given, "axes")),
    "gelu": lambda given: gelu(given["x"]),
    "identity": lambda given: given["x"],
    "layer_norm": _layer_norm,
    "mul": lambda given: given["x"] * given["y"],
    "softmax": lambda given: softmax(given["x"], int(given["axis"])),
    "split": _split,
    "squeeze": lambda given: np.squeeze(given["x"], _axes(given, "axes")),
    "transpose": lambda given: given["x"].transpose(_axes(given, "perm")),
}
