"""Weights as 8-bit blocks: what ggml has rounded already is not rounded again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.graphs.quantise import ZERO, Blocks, blocks_of
from engine.models.ggml import read_model
from engine.models.ggml_types import BLOCK
from engine.models.whisper_layout import WEIGHT_TYPES
from tests.engine.graphs.reference import difference
from tests.engine.small_models import Small

CARRIED_OVER = {"Q8_0": 7, "Q5_0": 8, "Q4_0": 2}
ROUNDED = {"F32": 0, "F16": 1, "Q4_1": 3, "Q5_1": 9}
MATRICES = ["decoder.token_embedding.weight", "encoder.blocks.0.mlp.0.weight", "decoder.blocks.0.mlp.2.weight"]


def floats(blocks: Blocks) -> np.ndarray:
    values = (blocks.values.astype(np.float32) - ZERO) * blocks.scales[..., None]
    return values.reshape(len(values), -1)


def test_every_type_is_tested() -> None:
    assert sorted([*CARRIED_OVER.values(), *ROUNDED.values()]) == sorted(WEIGHT_TYPES)


@pytest.mark.parametrize("ftype", CARRIED_OVER.values(), ids=CARRIED_OVER)
@pytest.mark.parametrize("name", MATRICES)
def test_symmetric_types_are_carried_over_exactly(small: Small, tmp_path: Path, ftype: int, name: str) -> None:
    model = read_model(small.write(tmp_path / "model.bin", ftype))
    np.testing.assert_array_equal(floats(blocks_of(model, name)), model.floats(name))


@pytest.mark.parametrize("ftype", ROUNDED.values(), ids=ROUNDED)
@pytest.mark.parametrize("name", MATRICES)
def test_other_types_are_off_by_half_a_step_at_most(small: Small, tmp_path: Path, ftype: int, name: str) -> None:
    model = read_model(small.write(tmp_path / "model.bin", ftype))
    blocks, right = blocks_of(model, name), model.floats(name)
    off = np.abs(floats(blocks) - right).reshape(len(right), -1, BLOCK)
    assert (off <= blocks.scales[..., None] * 0.501).all()
    assert difference(floats(blocks), right) < 0.01


def test_a_block_of_zeros_stays_zero(small: Small, tmp_path: Path) -> None:
    name = "encoder.blocks.0.mlp.0.weight"
    tensors = small.tensors(1)
    tensors[name][3, BLOCK:] = 0
    model = read_model(small.write(tmp_path / "model.bin", 1, tensors=tensors))
    assert not floats(blocks_of(model, name))[3, BLOCK:].any()
    assert floats(blocks_of(model, name))[3, :BLOCK].any()


def test_a_factor_changes_scales_only(small: Small, tmp_path: Path) -> None:
    blocks = blocks_of(read_model(small.write(tmp_path / "model.bin", 7)), MATRICES[1])
    np.testing.assert_array_equal(floats(blocks.scaled(0.125)), floats(blocks) / 8)
