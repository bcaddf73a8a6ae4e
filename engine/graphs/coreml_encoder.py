"""Whisper's encoder as a Core ML program, written operator by operator from the mapped weights.

The layout is the Neural Engine's: (1, channels, 1, positions), every matrix a convolution of width 1, attention head by
head (Apple, "Deploying Transformers on the Apple Neural Engine", 2022). The program is float16 as it stands, so that no
pass of the converter has to go over it: large-v3 takes seconds in place of an hour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Code, EngineError
from engine.models.ggml import GgmlModel
from engine.models.ggml_types import values_per_item
from engine.models.whisper_layout import HEAD_SIZE

if TYPE_CHECKING:
    from coremltools.converters.mil.mil import Builder, Program, Var

INPUT, OUTPUT = "logmel_data", "output"  # whisper.cpp's names; it copies `output` as contiguous float32
EPSILON = 1e-5  # of Whisper's layer norms
_SCORE_SCALE = 1 / math.sqrt(HEAD_SIZE)  # 1/8: exact in float16, so it costs nothing inside the query's weights

Halves = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class CoremlOptions:
    """How the program is written; every choice is part of its key in the cache."""

    fp32_norms: bool = False  # layer norms and softmax in float32; they leave the Neural Engine then
    int8: bool = False  # weights in 8 bits a channel: half the size, a little off
    parts: int = 1  # programs in a row, for machines whose compiler is slow on a long one
    # Real residual streams reach 631, whose square float16 cannot hold. At 2⁻⁴ of their size there is room up to 4094;
    # the layer norms, with their epsilon scaled alike, cancel it.
    residual_shift: int = 4

    def __str__(self) -> str:
        said = [f"shift{self.residual_shift}"]
        said += [name for name, on in (("fp32norms", self.fp32_norms), ("int8", self.int8)) if on]
        return "-".join([*said, *([f"parts{self.parts}"] if self.parts > 1 else [])])


def block_ranges(layers: int, parts: int) -> list[range]:
    """The blocks of each program: as equal as can be, never an empty one."""
    parts = max(1, min(parts, layers))
    bounds = [layers * part // parts for part in range(parts + 1)]
    return [range(first, last) for first, last in pairwise(bounds)]


def encoder_program(model: GgmlModel, options: CoremlOptions, blocks: range) -> Program:
    """The program of some of the blocks; the first has the convolutions before it, the last the norm behind it.

    Input "logmel_data" float32 (1, n_mels, 3000), output "output" float32 (1, 1500, width); between two parts
    "residual_N" float16 (1, width, 1, 1500). EngineError MODEL_DAMAGED for weights that float16 cannot hold.
    """
    import coremltools as ct  # noqa: PLC0415 (takes 1.4 s and is no dependency everywhere)
    from coremltools.converters.mil.mil import Builder, Function, Program, types  # noqa: PLC0415

    hyper = model.hyper
    first, last = blocks.start == 0, blocks.stop == hyper.n_audio_layer
    if first:
        name, given = INPUT, Builder.placeholder((1, hyper.n_mels, 2 * hyper.n_audio_ctx), dtype=types.fp32)
    else:
        shape = (1, hyper.n_audio_state, 1, hyper.n_audio_ctx)
        name, given = _between(blocks.start), Builder.placeholder(shape, dtype=types.fp16)
    program = Program()
    with Function({name: given}, opset_version=ct.target.iOS16) as function:
        layers = _Layers(Builder, model, options)
        x = function.inputs[name]
        x = layers.blocks(layers.positions(x) if first else x, blocks)
        function.set_outputs([layers.result(x) if last else Builder.identity(x=x, name=_between(blocks.stop))])
    program.add_function("main", function)
    return program


def _between(block: int) -> str:
    return f"residual_{block}"


class _Layers:
    """Adds Whisper's layers to the program that is being written."""

    def __init__(self, builder: type[Builder], model: GgmlModel, options: CoremlOptions) -> None:
        self._mb = builder
        self._model = model
        self._careful, self._int8 = options.fp32_norms, options.int8
        self._scale = 2.0**-options.residual_shift

    def positions(self, mel: Var) -> Var:
        """Two convolutions over the spectrum, the second halving the frames, and the positional table."""
        mb = self._mb
        x = mb.expand_dims(x=mb.cast(x=mel, dtype="fp16"), axes=[2])
        for name, stride in (("encoder.conv1", 1), ("encoder.conv2", 2)):
            weight, bias = self._weight(self._halves(f"{name}.weight")[:, :, None, :]), self._vector(f"{name}.bias")
            x = mb.conv(x=x, weight=weight, bias=bias, strides=[1, stride], pad_type="custom", pad=[0, 0, 1, 1])
            x = mb.gelu(x=x, mode="EXACT")
        if self._scale != 1:
            x = mb.mul(x=x, y=np.float16(self._scale))
        table = self._model.floats("encoder.positional_embedding").T * np.float32(self._scale)
        return mb.add(x=x, y=np.ascontiguousarray(table.astype(np.float16))[None, :, None, :])

    def blocks(self, x: Var, numbers: range) -> Var:
        """Self-attention and the network of each block, added to the residual stream."""
        for number in numbers:
            block = f"encoder.blocks.{number}"
            x = self._mb.add(x=x, y=self._attention(self._norm(x, f"{block}.attn_ln"), f"{block}.attn"))
            x = self._mb.add(x=x, y=self._network(self._norm(x, f"{block}.mlp_ln"), f"{block}.mlp"))
        return x

    def result(self, x: Var) -> Var:
        """(1, 1500, width) float32, of its full size again."""
        mb = self._mb
        x = mb.squeeze(x=self._norm(x, "encoder.ln_post"), axes=[2])
        return mb.cast(x=mb.transpose(x=x, perm=[0, 2, 1]), dtype="fp32", name=OUTPUT)

    def _attention(self, x: Var, name: str) -> Var:
        mb = self._mb
        queries = self._heads(self._linear(x, f"{name}.query", _SCORE_SCALE), axis=1)
        keys = self._heads(mb.transpose(x=self._linear(x, f"{name}.key"), perm=[0, 3, 2, 1]), axis=3)
        values = self._heads(self._linear(x, f"{name}.value"), axis=1)
        mixed: list[Var] = []
        for query, key, value in zip(queries, keys, values, strict=True):
            scores = mb.einsum(values=(key, query), equation="nchw,nwhu->nchu")  # (1, keys, 1, queries)
            mixed.append(mb.einsum(values=(value, self._softmax(scores)), equation="nchw,nwhu->nchu"))
        y = mb.concat(values=mixed, axis=1) if len(mixed) > 1 else mixed[0]
        return self._linear(y, f"{name}.out", self._scale)

    def _heads(self, x: Var, axis: int) -> Sequence[Var]:
        heads = self._model.hyper.n_audio_head
        return self._mb.split(x=x, num_splits=heads, axis=axis) if heads > 1 else [x]

    def _network(self, x: Var, name: str) -> Var:
        return self._linear(self._mb.gelu(x=self._linear(x, f"{name}.0"), mode="EXACT"), f"{name}.2", self._scale)

    def _linear(self, x: Var, name: str, scale: float = 1.0) -> Var:
        weight = self._weight(self._halves(f"{name}.weight", scale)[:, :, None, None])
        if f"{name}.bias" not in self._model.tensors:
            return self._mb.conv(x=x, weight=weight)
        return self._mb.conv(x=x, weight=weight, bias=self._vector(f"{name}.bias", scale))

    def _norm(self, x: Var, name: str) -> Var:
        kind: type[np.floating[Any]] = np.float32 if self._careful else np.float16
        y = self._mb.layer_norm(
            x=self._exactly(x),
            axes=[1],
            gamma=self._model.floats(f"{name}.weight").astype(kind),
            beta=self._model.floats(f"{name}.bias").astype(kind),
            epsilon=kind(EPSILON * self._scale**2),
        )
        return self._roughly(y)

    def _softmax(self, scores: Var) -> Var:
        return self._roughly(self._mb.softmax(x=self._exactly(scores), axis=1))

    def _exactly(self, x: Var) -> Var:
        return self._mb.cast(x=x, dtype="fp32") if self._careful else x

    def _roughly(self, x: Var) -> Var:
        return self._mb.cast(x=x, dtype="fp16") if self._careful else x

    def _weight(self, halves: Halves) -> Var | Halves:
        """A kernel as it is, or in 8 bits with a scale for each of its outputs."""
        if not self._int8:
            return halves
        most = np.abs(halves.astype(np.float32)).max(axis=(1, 2, 3), keepdims=True)
        scale = np.maximum(most / 127, np.finfo(np.float16).tiny).astype(np.float16)
        return self._mb.constexpr_affine_dequantize(
            quantized_data=np.rint(halves / scale.astype(np.float32)).clip(-127, 127).astype(np.int8),
            zero_point=np.int8(0),
            scale=scale.reshape(-1),
            axis=0,
        )

    def _halves(self, name: str, scale: float = 1.0) -> Halves:
        """A matrix in float16: straight from the mapped file when it is stored so, and nothing is to be done to it."""
        quantised = values_per_item(self._model.tensors[name].type) > 1
        stored = self._model.floats(name) if quantised else self._model.array(name)
        with np.errstate(over="ignore"):
            halves = np.ascontiguousarray(stored if scale == 1 else stored * stored.dtype.type(scale), np.float16)
        return self._checked(halves, name)

    def _vector(self, name: str, scale: float = 1.0) -> Halves:
        with np.errstate(over="ignore"):
            halves = (self._model.floats(name).reshape(-1) * np.float32(scale)).astype(np.float16)
        return self._checked(halves, name)

    def _checked(self, halves: Halves, name: str) -> Halves:
        if not np.isfinite(halves).all():
            raise EngineError(Code.MODEL_DAMAGED, f"The tensor {name} has values that float16 cannot hold.")
        return halves
