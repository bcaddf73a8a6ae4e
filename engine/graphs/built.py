"""The graphs that are there: of which models, how large, and their removal. They can be built again at any time.

This module imports neither numpy nor onnx, so that the window can use it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.coreml.records import encoder_bytes, remove_encoders
from engine.models.disk import locked
from engine.models.store import ModelStore
from engine.types import Precision

FACTS = "graphs.json"
UNFINISHED = ".building-"  # begins the name of a folder that is being written, or was when its writer died


@dataclass(frozen=True, slots=True)
class BuiltGraphs:
    """A finished folder of graphs."""

    model: str  # sha256 of the model file
    precision: Precision
    builder: int
    size: int  # bytes of what is in it
    file: bytes = b""  # where the model file was, as os.fsencode spells it


def graphs_folder(cache: Path) -> Path:
    """Where the folders of graphs are."""
    return cache / "graphs"


def lock_of(cache: Path) -> Path:
    """What is locked while graphs are built or all are removed; it stands beside their folder, not in it."""
    return cache / "graphs.lock"


def facts_of(folder: Path) -> BuiltGraphs | None:
    """What a folder holds; None when it is not there or not whole."""
    try:
        facts = msgspec.json.decode((folder / FACTS).read_bytes(), type=BuiltGraphs)
        whole = not folder.name.startswith(UNFINISHED) and size_of(folder) >= facts.size
    except (OSError, msgspec.MsgspecError):
        return None
    return facts if whole else None


def built(cache: Path) -> Iterator[tuple[Path, BuiltGraphs]]:
    """All finished folders of graphs."""
    for folder in sorted(graphs_folder(cache).glob("*")):
        facts = facts_of(folder)
        if facts is not None:
            yield folder, facts


def bytes_by_model(cache: Path) -> dict[str, int]:
    """How much was built of each model, by its sha256; encoders for the Neural Engine too."""
    sizes = encoder_bytes(cache)
    for _, facts in built(cache):
        sizes[facts.model] = sizes.get(facts.model, 0) + facts.size
    return sizes


def remove_graphs(cache: Path) -> int:
    """Remove all graphs, finished or not; how many bytes that frees. EngineError MODEL_BUSY while some are built."""
    root = graphs_folder(cache)
    if not root.exists():
        return 0
    with locked(lock_of(cache), wait=False):
        freed = sum(size_of(folder) for folder in root.glob("*"))
        shutil.rmtree(root, ignore_errors=True)
    return freed


def remove_model(store: ModelStore, name: str, cache: Path) -> int:
    """Remove a model and what was built of it; how many bytes that was. EngineError as for `ModelStore.remove`."""
    model = store.get(name)
    store.remove(name)
    useless = [(folder, facts) for folder, facts in built(cache) if model and facts.model == model.sha256]
    for folder, _ in useless:
        shutil.rmtree(folder, ignore_errors=True)
    encoders = remove_encoders(cache, model.sha256) if model and model.sha256 else 0
    return sum(facts.size for _, facts in useless) + encoders


def size_of(folder: Path) -> int:
    """Bytes of the graphs in a folder."""
    return sum(file.stat().st_size for file in folder.glob("*") if file.name != FACTS)
