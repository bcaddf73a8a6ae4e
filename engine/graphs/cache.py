"""The graphs of a model, built once from its file and kept in the cache folder.

A folder a model, precision and builder: it gets its name only when everything in it is written, so a half-written
one is never used; a newer builder uses another name. One process builds, others wait for it, and clears away what is
of no use any more: the graphs of older builders, and those whose model file has gone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from engine.graphs.built import FACTS, UNFINISHED, BuiltGraphs, facts_of, graphs_folder, lock_of, size_of
from engine.graphs.cross_graph import write_cross
from engine.graphs.decoder_graph import write_decoder
from engine.graphs.encoder_graph import write_encoder
from engine.models.disk import locked, writing
from engine.models.ggml import GgmlModel, read_model
from engine.types import Precision
from engine.whisper.alignment_heads import alignment_heads

BUILDER = 4  # to be raised whenever the graphs come out differently


def graphs_for(
    model: Path, sha256: str, precision: Precision, cache: Path, on_part: Callable[[int, int], None]
) -> tuple[Path, GgmlModel]:
    """The folder with the graphs of `model`, built now if they are not there, and the model itself.

    `on_part(done, of)` is told how many bytes of the model are through. EngineError MODEL_DAMAGED, DISK_FULL,
    NOT_WRITABLE.
    """
    read = read_model(model)
    folder = graphs_folder(cache) / f"{sha256[:20]}-{precision}-{BUILDER}"
    if facts_of(folder) is None:
        with writing(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(lock_of(cache), wait=True), writing(folder):
            if facts_of(folder) is None:  # who held the lock may have built the same
                _clear_away(folder.parent)
                _build(read, BuiltGraphs(sha256, precision, BUILDER, 0, os.fsencode(model.absolute())), folder, on_part)
    return folder, read


def _clear_away(root: Path) -> None:
    """With the lock held: what is called unfinished is nobody's."""
    for folder in list(root.iterdir()):
        facts = facts_of(folder)
        if facts is None or facts.builder < BUILDER or not Path(os.fsdecode(facts.file)).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _build(model: GgmlModel, facts: BuiltGraphs, folder: Path, on_part: Callable[[int, int], None]) -> None:
    unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder.parent))
    try:
        _write(model, facts.precision, unfinished, on_part)
        facts = replace(facts, size=size_of(unfinished))
        (unfinished / FACTS).write_bytes(msgspec.json.encode(facts))
        unfinished.replace(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write(model: GgmlModel, precision: Precision, folder: Path, on_part: Callable[[int, int], None]) -> None:
    model = replace(model, on_read=_Reading(model, on_part).begin)
    write_encoder(model, folder / "encoder.onnx", precision)
    write_cross(model, folder / "cross.onnx", precision)
    write_decoder(model, folder / "decoder.onnx", precision, alignment_heads(model.hyper))
    total = sum(tensor.nbytes for tensor in model.tensors.values())
    on_part(total, total)


class _Reading:
    """Follows the builder through a model's tensors: tells how far it is, and holds no more than one in memory."""

    def __init__(self, model: GgmlModel, on_part: Callable[[int, int], None]) -> None:
        self._model = model
        self._on_part = on_part
        self._unread = {name: tensor.nbytes for name, tensor in model.tensors.items()}
        self._total = sum(self._unread.values())
        self._at = ""

    def begin(self, name: str) -> None:
        """The builder comes to a tensor; with the one before it is through, for now: some are read twice."""
        if self._at:
            self._model.let_go(self._at)
        self._on_part(self._total - sum(self._unread.values()), self._total)
        self._unread.pop(name, None)
        self._at = name
