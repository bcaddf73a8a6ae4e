"""Peers get the very weights that we have."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from peer_models import ctranslate2_folder, eight_bit_ggml, q8_0

from engine.models.ggml import read_model
from engine.models.ggml_types import GgmlType, as_floats
from engine.models.starter import BASE


def test_faster_whisper_gets_the_packages_weights_and_what_belongs_to_them(tmp_path: Path) -> None:
    folder = ctranslate2_folder(tmp_path)
    assert hashlib.sha256((folder / "model.bin").read_bytes()).hexdigest() == BASE.sha256
    assert {path.name for path in folder.iterdir()} == {"model.bin", "config.json", "tokenizer.json", "vocabulary.txt"}
    made = (folder / "model.bin").stat().st_mtime_ns
    assert (ctranslate2_folder(tmp_path) / "model.bin").stat().st_mtime_ns == made


def test_rounding_to_eight_bits_is_off_by_half_a_step_at_most() -> None:
    values = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)
    values[1, 32:] = 0
    blocks = q8_0(values)
    steps = np.repeat(blocks["d"].astype(np.float32), 32, axis=-1)
    # A half and a little: the scale itself is rounded to float16, and multiplied by up to 127.
    assert (np.abs(as_floats(blocks) - values) <= steps * (0.5 + 127 * 2**-11)).all()


def test_whisper_cpp_gets_a_whole_model_of_the_published_size(data_with_models: Path, tmp_path: Path) -> None:
    made = eight_bit_ggml(data_with_models / "models" / "ggml-base.bin", tmp_path)
    model = read_model(made)
    assert model.hyper.weight_type is GgmlType.Q8_0
    assert made.stat().st_size == 81_768_585  # ggml-base-q8_0.bin of the whisper.cpp project
