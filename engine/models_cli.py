"""`sottovoce models …`: what is here, what can be had and what was built, and getting, checking and removing it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.folders import cache_folder, models_folder
from engine.graphs.built import built, remove_graphs, remove_model
from engine.models.catalog import CATALOG, find, human_size
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore, unknown_model
from engine.report import clock
from engine.terminal import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.models.catalog import CatalogEntry
    from engine.models.store import StoredModel
    from engine.verbs import Verbs

_CLEAR_LINE = "\r\x1b[K"
_EVERY = 0.1  # seconds between two pictures of the progress


def add_models_parser(verbs: Verbs) -> None:
    """Describe the verb and its own verbs."""
    parser = verbs.add_parser("models", help="list, download, import, check and remove models")
    inner = parser.add_subparsers(metavar="list|path|verify|import|download|remove|starter|graphs", required=True)
    _add(inner, "list", _list, "all models, here and in the catalogue")
    for name, run, text in (
        ("path", _path, "check a model and print where it is"),
        ("verify", _verify, "read every byte of a model and compare it with its record"),
        ("download", _download, "get a model of the catalogue; goes on where it was stopped"),
        ("remove", _remove, "delete a model, and what was downloaded and built of it"),
    ):
        _add(inner, name, run, text).add_argument("name", metavar="NAME")
    importing = _add(inner, "import", _import, "take over a ggml file or a faster-whisper folder; it stays as it is")
    importing.add_argument("path", metavar="PATH", type=Path)
    importing.add_argument("--name", metavar="NAME", help="what to call it (else the name of the file or folder)")
    _add(inner, "starter", _starter, "put the model in place that came with the installation")
    graphs = _add(inner, "graphs", _graphs, "what was built of the models for the onnx and tract backends")
    graphs.add_argument("--remove", action="store_true", help="delete all of it; it is built again when it is needed")


def _add(inner: Verbs, name: str, run: Callable[[argparse.Namespace, Path], int], text: str) -> argparse.ArgumentParser:
    parser = inner.add_parser(name, help=text)
    parser.set_defaults(run=_run, models_verb=run)
    return parser


def _run(arguments: argparse.Namespace, data: Path) -> int:
    """Exit code 0 when it was done, 1 with one line that says why not."""
    try:
        return arguments.models_verb(arguments, data)
    except EngineError as error:
        _say(f"sottovoce models: {error}")
        return 1


def _list(_arguments: argparse.Namespace, data: Path) -> int:
    stored = {model.name: model for model in _store(data).list()}
    for entry in CATALOG:
        model = stored.pop(entry.name, None)
        _row(entry.name, entry.bytes, _of_stored(model) if model else _of_catalogue(entry))
    for model in stored.values():
        _row(model.name, model.bytes, _of_stored(model))
    return 0


def _path(arguments: argparse.Namespace, data: Path) -> int:
    path = _store(data).path(arguments.name, _Line(arguments.name).tell)
    sys.stdout.buffer.write(os.fsencode(path) + b"\n")  # a folder's name need not be text
    sys.stdout.buffer.flush()
    return 0


def _verify(arguments: argparse.Namespace, data: Path) -> int:
    model = _store(data).verify(arguments.name, _Line(arguments.name).tell)
    print(f"{model.name} is as it was when it came here: {_of_stored(model)}, SHA-256 {model.sha256}")
    return 0


def _import(arguments: argparse.Namespace, data: Path) -> int:
    from engine.models.importers import import_model  # noqa: PLC0415 (each verb loads only what it needs)

    model = import_model(arguments.path, _store(data), arguments.name, _Line("importing").tell)
    print(f"{model.name} is here now: {human_size(model.bytes)}, from {model.source}")
    return 0


def _download(arguments: argparse.Namespace, data: Path) -> int:
    from engine.models.download import download  # noqa: PLC0415

    entry = find(arguments.name)
    if entry is None:
        raise unknown_model(arguments.name, (entry.name for entry in CATALOG))
    model = download(entry, _store(data), _Line(entry.name).tell_speed)
    print(f"{model.name} is here now: {human_size(model.bytes)}")
    return 0


def _remove(arguments: argparse.Namespace, data: Path) -> int:
    freed = remove_model(_store(data), arguments.name, cache_folder(data))
    print(f"{arguments.name} was removed" + (f", and {human_size(freed)} that were built of it" if freed else ""))
    return 0


def _starter(_arguments: argparse.Namespace, data: Path) -> int:
    model = ensure_starter(_store(data), _Line("preparing the starter model").tell)
    print(f"{model.name} is here: {_of_stored(model)}")
    return 0


def _graphs(arguments: argparse.Namespace, data: Path) -> int:
    cache = cache_folder(data)
    if arguments.remove:
        print(f"{human_size(remove_graphs(cache))} were removed; what is needed of it is built again")
        return 0
    names = {model.sha256: model.name for model in _store(data).list()}
    total = 0
    for _, facts in built(cache):
        _row(names.get(facts.model) or named(facts.file), facts.size, facts.precision)
        total += facts.size
    if total:
        _row("all", total, "sottovoce models graphs --remove")
    else:
        print("nothing yet: graphs are built when the onnx or tract backend first runs a model")
    return 0


def _store(data: Path) -> ModelStore:
    return ModelStore(models_folder(data))


def _row(name: str, size: int, text: str) -> None:
    print(f"{name:<22}{human_size(size):>8}  {text}")


def _of_stored(model: StoredModel) -> str:
    origin = {
        "download": "downloaded",
        "import": f"imported from {model.source}",
        "found": "put here by hand, not checked yet",
    }[model.origin]
    return ", ".join(filter(None, [origin, _limits(model), model.note]))


def _of_catalogue(entry: CatalogEntry) -> str:
    return ", ".join(filter(None, ["not here", _limits(entry)]))


def _limits(model: StoredModel | CatalogEntry) -> str:
    if not model.multilingual:
        return "English only"
    return "" if model.can_translate else "does not translate"


def _say(text: str) -> None:
    start = _CLEAR_LINE if sys.stderr.isatty() else ""
    print(start + text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


class _Line:
    """Progress on one line of the terminal; silent where standard error is none."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._last = 0.0
        self._shown = sys.stderr.isatty()

    def tell(self, done: int, total: int) -> None:
        self.tell_speed(done, total, None)

    def tell_speed(self, done: int, total: int, speed: int | None) -> None:
        now = time.monotonic()
        if not self._shown or (now - self._last < _EVERY and done < total):
            return
        self._last = now
        parts = [self._title, f"{done * 100 // max(total, 1)} %"]
        if speed:
            left = clock((total - done) * 1000 // speed)
            parts += [f"{human_size(done)} of {human_size(total)}", f"{human_size(speed)}/s", f"about {left} left"]
        print(_CLEAR_LINE + ("  ".join(parts) if done < total else ""), end="", file=sys.stderr, flush=True)
