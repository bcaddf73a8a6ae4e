"""What a Whisper model consists of: its sizes, and from them every tensor's name, type and shape.

Names, order and shapes are those of openai/whisper (model.py); which tensors stay float32 follows whisper.cpp's
convert-pt-to-ggml.py. Computed from this alone, all files of the catalogue have their published sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeAlias

from engine.models.ggml_types import GgmlType

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape: TypeAlias = tuple[int, ...]

HEAD_SIZE = 64  # values a head, in every Whisper
MULTILINGUAL_VOCAB = 51_865  # and 51,866 since large-v3, with Cantonese
VOCAB_SIZES = (MULTILINGUAL_VOCAB - 1, MULTILINGUAL_VOCAB, MULTILINGUAL_VOCAB + 1)
TEXT_TOKENS = 50_257  # entries of the vocabulary proper; the special tokens follow it
AUDIO_CONTEXT = 1500  # encoder positions of 20 ms: 30 s
TEXT_CONTEXT = 448
MEL_COUNTS = (80, 128)
SPECTRUM = 201  # bins of a 400-sample Fourier transform
_QUANTISATION_VERSIONS = 1000  # a quantised file's ftype is its type + 1000 × a version
_MAX_LAYERS = 64  # twice large's
_MAX_HEADS = 40  # twice large's

WEIGHT_TYPES = {  # ggml.h, enum ggml_ftype
    0: GgmlType.F32,
    1: GgmlType.F16,
    2: GgmlType.Q4_0,
    3: GgmlType.Q4_1,
    7: GgmlType.Q8_0,
    8: GgmlType.Q5_0,
    9: GgmlType.Q5_1,
}


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """The eleven numbers at the head of a ggml Whisper file, in their order there."""

    n_vocab: int
    n_audio_ctx: int
    n_audio_state: int
    n_audio_head: int
    n_audio_layer: int
    n_text_ctx: int
    n_text_state: int
    n_text_head: int
    n_text_layer: int
    n_mels: int
    ftype: int

    @property
    def multilingual(self) -> bool:
        """Whether it knows languages other than English."""
        return self.n_vocab >= MULTILINGUAL_VOCAB

    @property
    def can_translate(self) -> bool:
        """Whether it was trained to translate: turbo and distilled models, whose decoder is cut down, were not."""
        return self.multilingual and self.n_text_layer == self.n_audio_layer

    @property
    def weight_type(self) -> GgmlType:
        """How the matrices are stored; KeyError for a type we do not read."""
        return WEIGHT_TYPES[self.ftype % _QUANTISATION_VERSIONS]

    def complaint(self) -> str | None:
        """Say what is wrong with them; None when nothing is."""
        allowed = {
            "n_vocab": VOCAB_SIZES,
            "n_audio_ctx": (AUDIO_CONTEXT,),
            "n_audio_head": range(1, _MAX_HEADS + 1),
            "n_audio_state": (self.n_audio_head * HEAD_SIZE,),
            "n_audio_layer": range(1, _MAX_LAYERS + 1),
            "n_text_ctx": (TEXT_CONTEXT,),
            "n_text_state": (self.n_audio_state,),
            "n_text_head": (self.n_audio_head,),
            "n_text_layer": range(1, _MAX_LAYERS + 1),
            "n_mels": MEL_COUNTS,
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                return f"no Whisper has an {name} of {getattr(self, name)}"
        if not 0 <= self.ftype < 10 * _QUANTISATION_VERSIONS or self.ftype % _QUANTISATION_VERSIONS not in WEIGHT_TYPES:
            return f"its numbers are in a format that is not known ({self.ftype})"
        return None


HYPERPARAMETER_COUNT = len(fields(Hyperparameters))


@dataclass(frozen=True, slots=True)
class Expected:
    """How a tensor has to be: its type, and its shape in numpy's order."""

    kind: GgmlType
    shape: Shape


def expected_tensors(hyper: Hyperparameters) -> dict[str, Expected]:
    """Every tensor of a model of these sizes, by name."""
    convolutions = GgmlType.F32 if hyper.weight_type is GgmlType.F32 else GgmlType.F16
    kinds = {1: GgmlType.F32, 2: hyper.weight_type, 3: convolutions}  # by the number of dimensions
    tensors = {name: Expected(kinds[len(shape)], shape) for name, shape in _shapes(hyper)}
    for name in ("encoder.conv1.bias", "encoder.conv2.bias", "encoder.positional_embedding"):
        tensors[name] = Expected(GgmlType.F32, tensors[name].shape)
    tensors["decoder.positional_embedding"] = Expected(GgmlType.F32, (hyper.n_text_ctx, hyper.n_text_state))
    return tensors


def _shapes(hyper: Hyperparameters) -> Iterator[tuple[str, Shape]]:
    n = hyper.n_audio_state
    yield "encoder.positional_embedding", (hyper.n_audio_ctx, n)
    yield "encoder.conv1.weight", (n, hyper.n_mels, 3)
    yield "encoder.conv1.bias", (n, 1)  # a column, as whisper.cpp adds it to a picture of time × channels
    yield "encoder.conv2.weight", (n, n, 3)
    yield "encoder.conv2.bias", (n, 1)
    for layer in range(hyper.n_audio_layer):
        yield from _block(f"encoder.blocks.{layer}", n, ("attn",))
    yield from _norm("encoder.ln_post", n)
    yield "decoder.positional_embedding", (hyper.n_text_ctx, n)
    yield "decoder.token_embedding.weight", (hyper.n_vocab, n)
    for layer in range(hyper.n_text_layer):
        yield from _block(f"decoder.blocks.{layer}", n, ("attn", "cross_attn"))
    yield from _norm("decoder.ln", n)


def _block(block: str, n: int, attentions: tuple[str, ...]) -> Iterator[tuple[str, Shape]]:
    for attention in attentions:
        yield from _norm(f"{block}.{attention}_ln", n)
        for part in ("query", "key", "value", "out"):
            yield f"{block}.{attention}.{part}.weight", (n, n)
            if part != "key":  # keys have no bias: it would shift all scores of a query alike
                yield f"{block}.{attention}.{part}.bias", (n,)
    yield from _norm(f"{block}.mlp_ln", n)
    yield f"{block}.mlp.0.weight", (4 * n, n)
    yield f"{block}.mlp.0.bias", (4 * n,)
    yield f"{block}.mlp.2.weight", (n, 4 * n)
    yield f"{block}.mlp.2.bias", (n,)


def _norm(name: str, n: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (n,)
    yield f"{name}.bias", (n,)
