"""Whatever the type of a model's weights, our graphs and whisper.cpp read the same words out of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.backends.select import load_backend
from engine.models.ggml import GgmlModel, write_ggml
from engine.models.ggml_types import BLOCK, DTYPES, GgmlType
from engine.models.whisper_layout import WEIGHT_TYPES, expected_tensors
from engine.types import Options

LEVELS = {GgmlType.Q4_0: (7, 8), GgmlType.Q5_0: (15, 16), GgmlType.Q8_0: (127, 0), GgmlType.Q4_1: 15, GgmlType.Q5_1: 31}
# whisper.cpp aborts on F32, and its backend refuses such files: that is promised in test_whispercpp.py
TYPES = {ftype: kind for ftype, kind in WEIGHT_TYPES.items() if kind is not GgmlType.F32}


def stored(values: NDArray[np.float32], kind: GgmlType) -> NDArray[Any]:
    """`values` as ggml keeps them, each block of 32 rounded for itself."""
    if kind not in LEVELS:
        return values.astype(DTYPES[kind])
    blocks = values.reshape(*values.shape[:-1], -1, BLOCK)
    found = np.zeros(blocks.shape[:-1], DTYPES[kind])
    levels = LEVELS[kind]
    low = np.zeros(blocks.shape[:-1]) if isinstance(levels, tuple) else blocks.min(axis=-1)
    reach = np.abs(blocks).max(axis=-1) / levels[0] if isinstance(levels, tuple) else np.ptp(blocks, axis=-1) / levels
    found["d"] = reach
    if not isinstance(levels, tuple):
        found["m"] = low
    steps = (blocks - low[..., None]) / np.where(reach == 0, 1, reach)[..., None]
    quants = np.rint(steps).astype(np.int16) + (levels[1] if isinstance(levels, tuple) else 0)
    if kind is GgmlType.Q8_0:
        found["qs"] = quants
        return found
    found["qs"] = (quants[..., : BLOCK // 2] & 15) | (quants[..., BLOCK // 2 :] & 15) << 4
    if kind in {GgmlType.Q5_0, GgmlType.Q5_1}:
        found["qh"] = np.packbits((quants >> 4).astype(np.uint8), axis=-1, bitorder="little")
    return found


def rewritten(tiny: GgmlModel, ftype: int, file: Path) -> Path:
    """tiny.en with its matrices in another type."""
    hyper = replace(tiny.hyper, ftype=ftype)
    tensors = ((name, stored(tiny.floats(name), wanted.kind)) for name, wanted in expected_tensors(hyper).items())
    with file.open("wb") as out:
        write_ggml(out, hyper, tiny.filters, tiny.vocabulary, tensors)
    return file


@pytest.mark.real
@pytest.mark.parametrize("ftype", TYPES, ids=[kind.name for kind in TYPES.values()])
def test_both_read_the_same_words(tiny: GgmlModel, ftype: int, tmp_path: Path, shared_audio: Path) -> None:
    model = rewritten(tiny, ftype, tmp_path / "model.bin")
    with open_media(shared_audio / "speech" / "en_jfk_44k_stereo.flac") as media:
        samples = np.concatenate([block.samples for block in media.blocks()])
    said: dict[str, list[str]] = {}
    for name in ("onnx", "whispercpp"):
        options = Options(backend=name, device="cpu", precision="fp32", language="en")
        backend = load_backend(options, model, tmp_path, lambda _done, _of: None).backend
        text = " ".join(segment.text for segment in backend.decode([samples], options)[0])
        said[name] = "".join(c for c in text.lower() if c.isalnum() or c == " ").split()
        backend.close()
    assert len(said["onnx"]) >= 20
    assert said["onnx"] == said["whispercpp"]
