"""The models on this computer: `ggml-NAME.bin` files in one folder, each with a record of what it was beside it.

Several processes use it at once: files appear whole, one process writes a model at a time, and a record never
precedes its file. Importing this module does not import numpy, so that the window can list models.
"""

from __future__ import annotations

import difflib
import os
import re
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from engine.errors import Code, EngineError
from engine.files import shown
from engine.models.catalog import CATALOG, CatalogEntry, can_translate, find, human_size, is_multilingual
from engine.models.disk import locked, writing
from engine.models.hashing import hash_of
from engine.models.records import Origin, Record, now, read_record, write_record
from engine.models.starter import BASE, starter_available

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from engine.models.hashing import Progress
    from engine.models.whisper_layout import Hyperparameters

_PREFIX, _SUFFIX = "ggml-", ".bin"
_LONGEST = 150  # bytes of a name, so that all the files named after it stay below 255
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]')  # what some system forbids, and what is no text


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model file and what is known of it. "found": put there by hand and not used yet, so nothing is checked."""

    name: str
    path: Path
    bytes: int
    origin: Literal["download", "import", "found"]
    source: str = ""
    date: str = ""
    sha256: str | None = None
    multilingual: bool = True
    can_translate: bool = True
    note: str = ""

    @property
    def official(self) -> bool:
        """Whether it is byte for byte the catalogue's file, however it came here."""
        entry = find(self.name)
        return entry is not None and entry.sha256 == self.sha256


def is_model_name(name: str) -> bool:
    """Whether a model may be called this: one part of a path on every system, and not hidden."""
    fits = 0 < len(name.encode("utf-8", "replace")) <= _LONGEST
    return fits and not _FORBIDDEN.search(name) and name == name.strip(" .")


class ModelStore:
    """The models in `folder`. Methods that take a name raise EngineError MODEL_UNKNOWN for what cannot be one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def file(self, name: str) -> Path:
        """Say where the model of this name is or would be, unchecked."""
        if not is_model_name(name):
            raise EngineError(Code.MODEL_UNKNOWN, f"{name!r} cannot be the name of a model.")
        return self.folder / f"{_PREFIX}{name}{_SUFFIX}"

    def part(self, entry: CatalogEntry) -> Path:
        """Say where the beginning of its download is; it names the hash, so that it cannot go on as another file."""
        return self.folder / f"{entry.file}.{entry.sha256[:12]}.part"

    def lock(self, name: str, wait: bool = False) -> AbstractContextManager[None]:
        """Be the only one to add or remove this model; EngineError MODEL_BUSY unless `wait`."""
        return locked(self.file(name).with_suffix(".lock"), wait)

    @contextmanager
    def adding(self, name: str, wait: bool) -> Generator[Path]:
        """Give the path at which a new model is to appear, to this process alone; MODEL_BUSY unless `wait`.

        EngineError ALREADY_THERE; a model is replaced by removing it first.
        """
        file = self.file(name)
        with self.lock(name, wait):
            if file.exists():
                detail = f"There is a model {name} already; remove it or take another name."
                raise EngineError(Code.ALREADY_THERE, detail)
            with writing(file):
                _record_of(file).unlink(missing_ok=True)  # of a model that was deleted by hand
            yield file

    def list(self) -> tuple[StoredModel, ...]:
        """All models here, in the catalogue's order, then by name; nothing is read but the records."""
        order = {entry.name: place for place, entry in enumerate(CATALOG)}
        names = (file.name[len(_PREFIX) : -len(_SUFFIX)] for file in self.folder.glob(f"{_PREFIX}*{_SUFFIX}"))
        models = [model for name in names if is_model_name(name) and (model := self.get(name))]
        return tuple(sorted(models, key=lambda model: (order.get(model.name, len(order)), model.name)))

    def get(self, name: str) -> StoredModel | None:
        """Return what the record says of a model, unchecked; None when it is not here."""
        file = self.file(name)
        if not file.is_file():
            return None
        if record := read_record(_record_of(file)):
            return _stored(name, file, record)
        size = file.stat().st_size
        return StoredModel(
            name, file, size, "found", multilingual=is_multilingual(name), can_translate=can_translate(name)
        )

    def path(self, name: str, progress: Progress | None = None) -> Path:
        """Return the absolute path of a model that was read through and is what it was when it was put here.

        It is hashed only if its size or time changed, and when it was put here by hand: then it becomes an
        import. EngineError MODEL_MISSING, MODEL_UNKNOWN, MODEL_DAMAGED, MODEL_CHANGED, NOT_READABLE.
        """
        return self._checked(name, progress, afresh=False).path

    def verify(self, name: str, progress: Progress | None = None) -> StoredModel:
        """Do what `path` does, with every byte hashed again."""
        return self._checked(name, progress, afresh=True)

    def resolve(self, name_or_path: str, progress: Progress | None = None) -> Path:
        """Return the checked, absolute path for a model's name, or of a ggml file anywhere, which is read through."""
        text = name_or_path.replace("\0", "?")  # which no path may hold
        path = Path(text)
        known = is_model_name(text) and (find(text) or self.get(text))
        if known or (path.name == text and not _exists(path)):
            return self.path(text, progress)
        if _exists(path / "model.bin"):
            command = f'sottovoce models import "{shown(path)}"'
            raise EngineError(Code.MODEL_DAMAGED, f"A CTranslate2 folder has to be imported first: {command}")
        _read_through(path)
        return path.absolute()

    def remove(self, name: str) -> None:
        """Remove a model, its record, and what was downloaded of it so far; MODEL_MISSING if nothing was there."""
        file = self.file(name)
        leftovers = [path for path in (file, _record_of(file), *parts_of(file)) if path.exists()]
        if not leftovers:
            raise self._absent(name)
        with self.lock(name), writing(file):
            for leftover in leftovers:  # the model first: a record alone means nothing
                leftover.unlink(missing_ok=True)

    def register(
        self, name: str, origin: Origin, source: str, sha256: str, note: str = "", source_sha256: str | None = None
    ) -> StoredModel:
        """Write the record of the file that was just put here, whose hash is known; it is read through first."""
        file = self.file(name)
        record = _new_record(file, origin, source, sha256, note, source_sha256)
        write_record(_record_of(file), record)
        return _stored(name, file, record)

    def _absent(self, name: str) -> EngineError:
        entry = find(name)
        if entry is None:
            return unknown_model(name, {entry.name for entry in CATALOG} | {model.name for model in self.list()})
        if name == BASE.name and starter_available():
            return EngineError(Code.MODEL_MISSING, f"{name} came with the installation: sottovoce models starter")
        size, command = human_size(entry.bytes), f"sottovoce models download {name}"
        return EngineError(Code.MODEL_MISSING, f"{name} ({size}) can be downloaded: {command}")

    def _checked(self, name: str, progress: Progress | None, afresh: bool) -> StoredModel:
        file = self.file(name)
        if not file.is_file():
            raise self._absent(name)
        _read_through(file)
        record = read_record(_record_of(file))
        if record is None:  # someone put it into the folder: from now on it must stay as it is
            record = _new_record(file, "import", "found in the models folder", _hash(file, progress))
            _remember(file, record)
            return _stored(name, file, record)
        _check_promise(name, record)
        status = file.stat()
        unchanged = (record.bytes, record.mtime_ns) == (status.st_size, status.st_mtime_ns)
        if afresh or not unchanged:
            if record.bytes != status.st_size or record.sha256 != _hash(file, progress):
                raise EngineError(Code.MODEL_CHANGED, f"{shown(file)} was changed since {record.date}.")
            if not unchanged:  # only its time is another
                record = msgspec.structs.replace(record, mtime_ns=status.st_mtime_ns)
                _remember(file, record)
        return _stored(name, file, record)


def unknown_model(name: str, known: Iterable[str]) -> EngineError:
    """Say that there is no model of this name, and which names are near it."""
    near = difflib.get_close_matches(name, list(known), n=3)
    return EngineError(Code.MODEL_UNKNOWN, f"{name!r}; did you mean {' or '.join(near)}?" if near else repr(name))


def digest_of(file: Path) -> str:
    """The sha256 of a model file: as its record has it, if the file is still the one of the record, else computed."""
    record, status = read_record(_record_of(file)), file.stat()
    if record is not None and (record.bytes, record.mtime_ns) == (status.st_size, status.st_mtime_ns):
        return record.sha256
    return _hash(file, None)


def parts_of(file: Path) -> list[Path]:
    """All unfinished downloads of a model file, also those of another revision."""
    return [part for part in file.parent.glob("*.part") if part.name.startswith(f"{file.name}.")]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name longer than any file's, for one
        return False


def _record_of(file: Path) -> Path:
    return file.with_suffix(".json")


def _read_through(file: Path) -> Hyperparameters:
    from engine.models.ggml import read_model  # noqa: PLC0415 brings numpy, which the window must not load

    return read_model(file).hyper


def _hash(file: Path, progress: Progress | None) -> str:
    try:
        with file.open("rb") as stream:
            before = os.fstat(stream.fileno())
            sha256 = hash_of(stream, before.st_size, progress)
            after = os.fstat(stream.fileno())
    except OSError as error:
        raise EngineError(Code.NOT_READABLE, f"{shown(file)}: {error.strerror or error}") from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise EngineError(Code.MODEL_CHANGED, f"{shown(file)} is being written right now.")
    return sha256


def _new_record(
    file: Path, origin: Origin, source: str, sha256: str, note: str = "", source_sha256: str | None = None
) -> Record:
    hyper, status = _read_through(file), file.stat()
    return Record(
        origin,
        source,
        status.st_size,
        sha256,
        status.st_mtime_ns,
        multilingual=hyper.multilingual,
        can_translate=hyper.can_translate,
        date=now(),
        source_sha256=source_sha256,
        note=note,
    )


def _remember(file: Path, record: Record) -> None:
    """Write a record where that is possible; where not, the model is hashed again each time."""
    with suppress(EngineError):
        write_record(_record_of(file), record)


def _check_promise(name: str, record: Record) -> None:
    """Check that a download is the catalogue's file, whatever its record says."""
    entry = find(name)
    if record.origin == "download" and (entry is None or entry.sha256 != record.sha256):
        raise EngineError(Code.MODEL_CHANGED, f"The record of {name} does not name the catalogue's file.")


def _stored(name: str, file: Path, record: Record) -> StoredModel:
    return StoredModel(
        name,
        file,
        record.bytes,
        record.origin,
        record.source,
        record.date,
        record.sha256,
        record.multilingual,
        record.can_translate,
        record.note,
    )
