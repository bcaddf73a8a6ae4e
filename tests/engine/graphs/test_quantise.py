"""Weights as 8-bit integers are off by half a step at most, and products stay what they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.graphs.damping import behind_gelu, behind_linear, behind_norm
from engine.graphs.quantise import ZERO, Blocks, Rows, blocks_of, rows_of
from engine.models.ggml import GgmlModel, read_model
from engine.models.whisper_layout import WEIGHT_TYPES
from tests.engine.graphs.reference import difference
from tests.engine.small_models import Small

MATRICES = ["decoder.token_embedding.weight", "encoder.blocks.0.mlp.0.weight", "decoder.blocks.0.mlp.2.weight"]
Q8_0 = 7
HALF_A_STEP = 0.501
every_type = pytest.mark.parametrize("ftype", WEIGHT_TYPES, ids=[kind.name for kind in WEIGHT_TYPES.values()])


def block_floats(blocks: Blocks) -> np.ndarray:
    values = (blocks.values.astype(np.float32) - ZERO) * blocks.scales[..., None]
    return values.reshape(len(values), -1)


def row_floats(rows: Rows) -> np.ndarray:
    return rows.values.T.astype(np.float32) * rows.scales[:, None]


@every_type
@pytest.mark.parametrize("name", MATRICES)
def test_blocks_are_off_by_half_a_step_at_most(small: Small, tmp_path: Path, ftype: int, name: str) -> None:
    model = read_model(small.write(tmp_path / "model.bin", ftype))
    blocks, right = blocks_of(model, name), model.floats(name)
    off = np.abs(block_floats(blocks) - right).reshape(blocks.values.shape)
    assert (off <= blocks.scales[..., None] * HALF_A_STEP).all()
    assert difference(block_floats(blocks), right) < 0.01


@every_type
@pytest.mark.parametrize("name", MATRICES)
def test_rows_are_off_by_half_a_step_at_most(small: Small, tmp_path: Path, ftype: int, name: str) -> None:
    model = read_model(small.write(tmp_path / "model.bin", ftype))
    rows, right = rows_of(model, name), model.floats(name)
    assert (np.abs(row_floats(rows) - right) <= rows.scales[:, None] * HALF_A_STEP).all()
    assert difference(row_floats(rows), right) < 0.01


@pytest.fixture
def model(small: Small, tmp_path: Path) -> GgmlModel:
    """With a row of zeros."""
    tensors = small.tensors(1)
    tensors[MATRICES[1]][3] = 0
    return read_model(small.write(tmp_path / "model.bin", 1, tensors=tensors))


def test_zeros_stay_zero(model: GgmlModel) -> None:
    assert not block_floats(blocks_of(model, MATRICES[1]))[3].any()
    assert not row_floats(rows_of(model, MATRICES[1]))[3].any()
    assert row_floats(rows_of(model, MATRICES[1]))[2].any()


def test_a_factor_changes_scales_only(small: Small, tmp_path: Path) -> None:
    blocks = blocks_of(read_model(small.write(tmp_path / "model.bin", Q8_0)), MATRICES[1])
    np.testing.assert_array_equal(block_floats(blocks.scaled(0.125)), block_floats(blocks) / 8)


def test_factors_of_rows_and_columns_are_in_the_matrix_before_it_is_rounded(model: GgmlModel) -> None:
    right = model.floats(MATRICES[1])
    outputs = np.linspace(0.5, 2, right.shape[0]).astype(np.float32)
    inputs = np.linspace(1, 9, right.shape[1]).astype(np.float32)
    rows = rows_of(model, MATRICES[1], outputs, inputs)
    assert difference(row_floats(rows), right * outputs[:, None] * inputs) < 0.01


def test_only_loud_channels_are_damped_and_by_how_loud_they_are(small: Small, tmp_path: Path) -> None:
    tensors = small.tensors(1)
    scale = np.ones_like(tensors["encoder.blocks.0.mlp_ln.weight"])
    scale[5] = 12
    tensors["encoder.blocks.0.mlp_ln.weight"] = scale
    tensors["encoder.blocks.0.mlp_ln.bias"][:] = 0
    model = read_model(small.write(tmp_path / "model.bin", 1, tensors=tensors))
    loud = behind_norm(model, "encoder.blocks.0.mlp_ln")
    assert loud[5] == pytest.approx(12)
    assert (np.delete(loud, 5) == 1).all()


def test_channels_behind_a_matrix_are_as_loud_as_its_rows_are_long(small: Small, tmp_path: Path) -> None:
    tensors = small.tensors(1)
    value = tensors["encoder.blocks.0.attn.value.weight"]
    value[7] *= 20
    model = read_model(small.write(tmp_path / "model.bin", 1, tensors=tensors))
    loud = behind_linear(model, "encoder.blocks.0.attn_ln", "encoder.blocks.0.attn.value")
    assert loud.argmax() == 7
    assert loud[7] > 5
    assert behind_gelu(model, "encoder.blocks.0.mlp_ln", "encoder.blocks.0.mlp.0").min() == 1
