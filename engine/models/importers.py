"""Models from elsewhere: a ggml file is checked and copied, a CTranslate2 (faster-whisper) folder written anew as ggml.

The source is only read. What is in the store afterwards was read through whole, and its hash is on record.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import Code, EngineError
from engine.files import atomic_file, shown
from engine.models.ct2_whisper import ggml_tensors, hyperparameters
from engine.models.ctranslate2 import failed, read_weights
from engine.models.disk import check_space
from engine.models.ggml import read_model, write_ggml, written_bytes
from engine.models.hashing import hash_of, pour
from engine.models.joined import open_joined
from engine.models.mel_filters import mel_filters
from engine.models.store import is_model_name
from engine.models.vocabulary import read_vocabulary

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from engine.models.ggml_types import Stored
    from engine.models.hashing import Progress
    from engine.models.store import ModelStore, StoredModel

_WEIGHTS, _TOKENIZER = "model.bin", "tokenizer.json"
_SNAPSHOT = re.compile(r"models--.*--(?P<model>[^/]+)")  # a folder of Hugging Face's cache, above snapshots/REVISION


@dataclass(frozen=True, slots=True)
class CTranslate2Files:
    """The files of a CTranslate2 model: its weights, possibly in parts, and its words; `title` for the record."""

    weights: tuple[Path, ...]
    tokenizer: Path
    title: str


def import_model(
    source: Path, store: ModelStore, name: str | None = None, progress: Progress | None = None
) -> StoredModel:
    """Bring a ggml file, or a folder with a `model.bin` and its `tokenizer.json`, into the store.

    Without a name, the file's or folder's own is taken. EngineError IMPORT_FAILED with what is wrong,
    ALREADY_THERE, MODEL_BUSY, DISK_FULL, NOT_WRITABLE.
    """
    source = source.absolute()
    with _reading(shown(source)):
        source.stat()  # whatever else is wrong, first of all it must be there
    if source.name == _WEIGHTS and (source.parent / _TOKENIZER).exists():
        source = source.parent
    name = name or name_for(source)
    if not source.is_dir():
        return _import_ggml(source, store, name, progress)
    if not (source / _WEIGHTS).exists():
        raise failed(f"The folder {shown(source)} holds no {_WEIGHTS}")
    files = CTranslate2Files((source / _WEIGHTS,), source / _TOKENIZER, shown(source))
    return import_ctranslate2(files, store, name, progress)


def import_ctranslate2(
    files: CTranslate2Files,
    store: ModelStore,
    name: str,
    progress: Progress | None = None,
    sha256: str | None = None,
    wait: bool = False,
) -> StoredModel:
    """Write a CTranslate2 model as float16 ggml, a tensor at a time.

    Its weights must have the hash, if one is given; another process at the same model is waited for or an error.
    Errors as for `import_model`.
    """
    with _reading(files.title), open_joined(files.weights) as weights_file, store.adding(name, wait) as target:
        weights = read_weights(weights_file)
        hyper = hyperparameters(weights)
        vocabulary = read_vocabulary(files.tokenizer.read_bytes())
        size, written = weights_file.seek(0, 2), written_bytes(hyper, vocabulary)
        check_space(store.folder, written)
        steps = _Steps(progress, size + 2 * written)
        weights_file.seek(0)
        source_sha256 = hash_of(weights_file, size, steps.next(size))
        if sha256 not in {None, source_sha256}:
            raise failed(f"{files.title} is not what it should be: its weights have the SHA-256 {source_sha256}")
        with atomic_file(target) as file:
            tensors = _counted(ggml_tensors(weights, hyper), steps.next(written))
            write_ggml(file, hyper, mel_filters(hyper.n_mels), vocabulary, tensors)
            file.flush()
            _read_through(Path(file.name))
            with Path(file.name).open("rb") as result:
                own_sha256 = hash_of(result, written, steps.next(written))
        note = "from integer weights" if weights.quantised else ""
        return store.register(name, "import", files.title, own_sha256, note, source_sha256)


def name_for(source: Path) -> str:
    """Make a model's name out of a file's or folder's; IMPORT_FAILED when nothing usable is left of it."""
    folder = _SNAPSHOT.fullmatch(source.parent.parent.name) if source.parent.name == "snapshots" else None
    name = folder["model"] if folder else (source.name if source.is_dir() else source.stem)
    name = unicodedata.normalize("NFC", name.removeprefix("ggml-")).strip(" .")
    if not is_model_name(name):
        raise failed(f"Its name cannot be the name of a model: {shown(source)}. Give it another one")
    return name


def _import_ggml(source: Path, store: ModelStore, name: str, progress: Progress | None) -> StoredModel:
    with _reading(shown(source)), store.adding(name, wait=False) as target:
        _read_through(source)
        with source.open("rb") as original, atomic_file(target) as file:
            size = original.seek(0, 2)
            check_space(store.folder, size)
            original.seek(0)
            digest = hashlib.sha256()
            pour(original, file.write, digest.update, tell=lambda done: progress(done, size) if progress else None)
            file.flush()
            _read_through(Path(file.name))  # the source may have changed meanwhile
        return store.register(name, "import", shown(source), digest.hexdigest())


def _read_through(path: Path) -> None:
    try:
        read_model(path)
    except EngineError as error:
        raise EngineError(Code.IMPORT_FAILED, error.detail) from error


@contextmanager
def _reading(title: str) -> Generator[None]:
    """Say what the system has against reading the source; what it has against writing has its own codes."""
    try:
        yield
    except OSError as error:
        where = shown(error.filename) if error.filename else title
        raise EngineError(Code.IMPORT_FAILED, f"{where}: {error.strerror or error}") from error


class _Steps:
    """One progress out of several, each counted in bytes."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._start = 0

    def next(self, size: int) -> Progress:
        start = self._start
        self._start += size
        return lambda done, _: self._progress(start + done, self._total) if self._progress else None


def _counted(tensors: Iterable[tuple[str, Stored]], progress: Progress) -> Iterator[tuple[str, Stored]]:
    done = 0
    for name, stored in tensors:
        yield name, stored
        done += stored.nbytes
        progress(done, 0)
