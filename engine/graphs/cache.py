"""The graphs of a model, built once from its file and kept in the cache folder.

A folder a model, precision and builder: it gets its name only when everything in it is written, so a half-written
one is never used; a newer builder uses another name, and the old one goes. One process builds, others wait for it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.graphs.decoder_graph import write_cross, write_decoder
from engine.graphs.encoder_graph import write_encoder
from engine.models.disk import locked, writing
from engine.models.ggml import GgmlModel, read_model
from engine.types import Precision
from engine.whisper.alignment_heads import alignment_heads

BUILDER = 2  # to be raised whenever the graphs come out differently
_FACTS = "graphs.json"
_LOCK = "graphs.lock"  # beside the folders: `remove_graphs` must not take it from under its holder
_UNFINISHED = ".building-"


@dataclass(frozen=True, slots=True)
class BuiltGraphs:
    """A finished folder of graphs."""

    model: str  # sha256 of the model file
    precision: Precision
    builder: int
    bytes: int


def graphs_for(
    model: Path, sha256: str, precision: Precision, cache: Path, on_part: Callable[[int, int], None]
) -> tuple[Path, GgmlModel]:
    """The folder with the graphs of `model`, built now if they are not there, and the model itself.

    `on_part(done, of)` is told after each graph. EngineError MODEL_DAMAGED, DISK_FULL, NOT_WRITABLE.
    """
    read = read_model(model)
    folder = cache / "graphs" / f"{sha256[:20]}-{precision}-{BUILDER}"
    if facts_of(folder) is None:
        with writing(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(cache / _LOCK, wait=True), writing(folder):
            if facts_of(folder) is None:  # who held the lock may have built the same
                _build(read, sha256, precision, folder, on_part)
    return folder, read


def facts_of(folder: Path) -> BuiltGraphs | None:
    """What a folder holds; None when it is not there or not of this builder."""
    try:
        facts = msgspec.json.decode((folder / _FACTS).read_bytes(), type=BuiltGraphs)
    except (OSError, msgspec.MsgspecError):
        return None
    return facts if facts.builder == BUILDER and _size(folder) >= facts.bytes else None


def built(cache: Path) -> Iterator[tuple[Path, BuiltGraphs]]:
    """All finished folders of graphs."""
    for folder in sorted((cache / "graphs").glob("*")):
        facts = facts_of(folder)
        if facts is not None:
            yield folder, facts


def remove_graphs(cache: Path) -> int:
    """Remove all graphs, finished or not; how many bytes that frees. They are built again when needed."""
    root = cache / "graphs"
    freed = sum(_size(folder) for folder in root.glob("*"))
    shutil.rmtree(root, ignore_errors=True)
    return freed


def _build(
    model: GgmlModel, sha256: str, precision: Precision, folder: Path, on_part: Callable[[int, int], None]
) -> None:
    """With the lock held: what is called unfinished is nobody's, and no folder of this model is of use."""
    for useless in (*folder.parent.glob(f"{_UNFINISHED}*"), *folder.parent.glob(f"{sha256[:20]}-{precision}-*")):
        shutil.rmtree(useless, ignore_errors=True)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        _write(model, precision, unfinished, on_part)
        facts = BuiltGraphs(sha256, precision, BUILDER, _size(unfinished))
        (unfinished / _FACTS).write_bytes(msgspec.json.encode(facts))
        unfinished.replace(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write(model: GgmlModel, precision: Precision, folder: Path, on_part: Callable[[int, int], None]) -> None:
    heads = alignment_heads(model.hyper)
    parts: tuple[Callable[[], None], ...] = (
        lambda: write_encoder(model, folder / "encoder.onnx", precision),
        lambda: write_cross(model, folder / "cross.onnx", precision),
        lambda: write_decoder(model, folder / "decoder.onnx", precision, heads),
    )
    for number, part in enumerate(parts, 1):
        part()
        on_part(number, len(parts))


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*") if file.name != _FACTS)
