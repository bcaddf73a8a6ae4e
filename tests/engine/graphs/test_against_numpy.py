"""The graphs compute what Whisper is defined to compute, for every way of storing its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.ggml import GgmlModel
from engine.models.whisper_layout import WEIGHT_TYPES, Hyperparameters
from engine.types import Precision
from engine.whisper.alignment_heads import alignment_heads
from tests.engine.graphs.conftest import Pair
from tests.engine.graphs.reference import Reference, difference
from tests.engine.small_models import Small

PairOf = Callable[[Small, int, Precision], Pair]
MelOf = Callable[..., NDArray[np.float32]]

EXACT = 1e-4  # relative L2 of float32 against float64
EIGHT_BITS = 0.08  # of noise; of speech the encoder of base is 7 % off
F16 = 1
TOKENS = [50257, 50363, 440, 1234, 50256, 7]
TURBO = Small(Hyperparameters(51866, 1500, 128, 2, 6, 448, 128, 2, 4, 128, F16))
every_type = pytest.mark.parametrize("ftype", WEIGHT_TYPES, ids=[kind.name for kind in WEIGHT_TYPES.values()])


def stepped(graphs: OnnxGraphs, mel: NDArray[np.float32], tokens: Sequence[int]) -> list[NDArray[np.float32]]:
    """What comes of a window: encoder output, logits after the last token, alignment."""
    encoded = graphs.encode(mel)
    step = graphs.step(np.array([tokens], np.int64), graphs.cross([encoded]))
    return [encoded.numpy()[0], step.logits[0], step.alignment[0]]


def wanted(model: GgmlModel, reference: Reference, mel: NDArray[np.float32], tokens: Sequence[int]) -> list[NDArray]:
    encoded = reference.encoded(mel[0].astype(np.float64))
    logits, crosses = reference.decoded(list(tokens), encoded)
    heads = sorted(alignment_heads(model.hyper), key=lambda head: head[0])
    return [encoded, logits[-1], np.stack([crosses[layer][head] for layer, head in heads])]


def worst(found: Sequence[NDArray], right: Sequence[NDArray]) -> float:
    return max(difference(one, other) for one, other in zip(found, right, strict=True))


@every_type
def test_fp32_graphs_are_right_for_every_type(small: Small, pair_of: PairOf, mel_of: MelOf, ftype: int) -> None:
    pair = pair_of(small, ftype, "fp32")
    mel = mel_of(pair.model, 60)
    assert worst(stepped(pair.graphs, mel, TOKENS), wanted(pair.model, pair.reference, mel, TOKENS)) < EXACT


@every_type
def test_int8_graphs_are_near_for_every_type(small: Small, pair_of: PairOf, mel_of: MelOf, ftype: int) -> None:
    pair = pair_of(small, ftype, "int8")
    mel = mel_of(pair.model, 60)
    assert worst(stepped(pair.graphs, mel, TOKENS), wanted(pair.model, pair.reference, mel, TOKENS)) < EIGHT_BITS


@pytest.mark.parametrize("frames", [2, 4, 6, 254, 1000, 2998, 3000])
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_any_even_number_of_frames_can_be_encoded(
    small: Small, pair_of: PairOf, mel_of: MelOf, frames: int, precision: Precision
) -> None:
    pair = pair_of(small, F16, precision)
    mel = mel_of(pair.model, frames)
    found = pair.graphs.encode(mel).numpy()[0]
    assert found.shape == (frames // 2, 64)
    right = pair.reference.encoded(mel[0].astype(np.float64))
    assert difference(found, right) < (EXACT if precision == "fp32" else EIGHT_BITS)


@pytest.mark.parametrize(("precision", "bound"), [("fp32", EXACT), ("int8", EIGHT_BITS)])
def test_a_model_like_turbo_has_128_mel_bins_and_fewer_text_layers(
    pair_of: PairOf, mel_of: MelOf, precision: Precision, bound: float
) -> None:
    pair = pair_of(TURBO, F16, precision)
    mel = mel_of(pair.model, 100)
    assert worst(stepped(pair.graphs, mel, TOKENS), wanted(pair.model, pair.reference, mel, TOKENS)) < bound


def test_different_weights_give_different_results(small: Small, mel_of: MelOf, pair_of: PairOf) -> None:
    """The comparison itself could be blind: with one matrix changed it must fail."""
    pair = pair_of(small, F16, "fp32")
    mel = mel_of(pair.model, 60)
    spoilt = Reference(pair.model)
    spoilt.weight("encoder.blocks.0.attn.value.weight")[:8] *= 1.1
    assert difference(pair.graphs.encode(mel).numpy()[0], spoilt.encoded(mel[0].astype(np.float64))) > EXACT


@pytest.mark.parametrize(("precision", "bound"), [("fp32", EXACT), ("int8", EIGHT_BITS)])
def test_tiny_en_is_right(
    tiny: GgmlModel,
    tiny_graphs: Callable[[Precision], OnnxGraphs],
    mel_of: MelOf,
    precision: Precision,
    bound: float,
) -> None:
    mel = mel_of(tiny, 120)
    found = stepped(tiny_graphs(precision), mel, TOKENS)
    assert worst(found, wanted(tiny, Reference(tiny), mel, TOKENS)) < bound


def test_a_window_of_a_batch_is_encoded_as_if_it_were_alone(small: Small, pair_of: PairOf, mel_of: MelOf) -> None:
    for model in (small, replace(TURBO)):
        pair = pair_of(model, F16, "fp32")
        mel = mel_of(pair.model, 80, rows=3)
        together = pair.graphs.encode(mel).numpy()
        for row in range(3):
            assert difference(together[row], pair.graphs.encode(mel[row : row + 1]).numpy()[0]) < 1e-5
