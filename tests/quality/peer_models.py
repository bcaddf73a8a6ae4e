"""The starter model, the same weights for everybody, in the forms that other programs take it in.

Made once into the cache folder: CTranslate2's folder for faster-whisper, joined from the starter packages, and an
8-bit ggml file for whisper.cpp, rounded as whisper.cpp's own `quantize` does it.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.files import atomic_file
from engine.models.ggml import GgmlModel, read_model, write_ggml
from engine.models.ggml_types import BLOCK, DTYPES, GgmlType
from engine.models.joined import open_joined
from engine.models.starter import BASE
from engine.models.whisper_layout import expected_tensors

_BESIDE_THE_WEIGHTS = ("config.json", "tokenizer.json", "vocabulary.txt")
_Q8_0 = 2007  # ggml.h: enum ggml_ftype 7, of quantisation version 2


def ctranslate2_folder(cache: Path) -> Path:
    """Whisper base as faster-whisper wants it: model.bin and what belongs to it; made when it is not there."""
    folder = cache / "bench" / "ctranslate2-base"
    if not (folder / "model.bin").exists():
        parts = [_packaged(package, file) for package, file in BASE.weights]
        folder.mkdir(parents=True, exist_ok=True)
        for name in _BESIDE_THE_WEIGHTS:
            shutil.copy(parts[0].with_name(name), folder / name)
        with open_joined(parts) as weights, atomic_file(folder / "model.bin") as file:
            shutil.copyfileobj(weights, file)
    return folder


def eight_bit_ggml(source: Path, cache: Path) -> Path:
    """The ggml model at `source` with its matrices as q8_0; made when it is not there."""
    made = cache / "bench" / f"{source.stem}-q8_0.bin"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        model = read_model(source)
        with atomic_file(made) as file:
            hyper = replace(model.hyper, ftype=_Q8_0)
            write_ggml(file, hyper, model.filters, model.vocabulary, _tensors(model))
    return made


def q8_0(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rows of float32 as ggml's q8_0: blocks of 32 share a float16 scale, the largest of them becoming ±127."""
    blocks = values.reshape(*values.shape[:-1], -1, BLOCK)
    scales = np.abs(blocks).max(axis=-1) / np.float32(127)
    stored = np.empty(scales.shape, DTYPES[GgmlType.Q8_0])
    stored["d"] = scales
    stored["qs"] = np.rint(blocks / np.where(scales == 0, 1, scales)[..., None])
    return stored


def _tensors(model: GgmlModel) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    expected = expected_tensors(replace(model.hyper, ftype=_Q8_0))
    for name in model.tensors:
        rounded = expected[name].kind is GgmlType.Q8_0
        yield name, q8_0(model.floats(name)) if rounded else model.stored(name)


def _packaged(package: str, file: str) -> Path:
    """A file of an installed package, whose code is not run."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"The package {package} is not installed: the bench needs the extra `starter`.")
    return Path(spec.submodule_search_locations[0]) / file
