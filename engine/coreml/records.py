"""What there is of each model's Core ML encoder, as files say it: a folder a key with a record in it.

    cache/coreml/KEY/coreml.json                 the record
    cache/coreml/KEY/encoder.mlpackage           the program, until it is compiled
    cache/coreml/KEY/expected.npy                what it is to give for the check
    cache/coreml/KEY/ggml-model-encoder.mlmodelc what runs; it never moves: macOS knows it by its path
    cache/coreml/KEY.lock                        held by who works on it

This module imports neither numpy nor coremltools, so that the window can use it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.errors import Code, EngineError
from engine.files import atomic_write
from engine.models.disk import locked

BUILDER = 1  # to be raised whenever the programs come out differently
DEATHS_TO_OFF = 2  # so many turn it off until the user asks, or the system is another
_RECORD = "coreml.json"
_COMPILED = "ggml-model-encoder.mlmodelc"  # where whisper.cpp looks for the encoder of ggml-model.bin
_LINK = "ggml-model.bin"


class State(StrEnum):
    """How far an encoder is."""

    UNSUPPORTED = "unsupported"
    ABSENT = "absent"
    BUILDING = "building"
    BUILT = "built"  # and waiting for a Mac, or to be gone on with
    COMPILING = "compiling"
    PREPARING = "preparing"
    CHECKING = "checking"
    READY = "ready"
    FAILED = "failed"
    OFF = "off"


BUSY = frozenset({State.BUILDING, State.COMPILING, State.PREPARING, State.CHECKING})

SENTENCES: dict[State, str] = {
    State.UNSUPPORTED: "There is no Neural Engine here that can be used.",
    State.ABSENT: "The Neural Engine is not prepared for this model.",
    State.BUILDING: "The encoder for the Neural Engine is being written.",
    State.BUILT: "The encoder for the Neural Engine is written, but not compiled.",
    State.COMPILING: "The encoder is being compiled.",
    State.PREPARING: "macOS prepares the Neural Engine, the first time for minutes. Transcription works meanwhile.",
    State.CHECKING: "What the encoder gives is being checked.",
    State.READY: "The Neural Engine is ready for this model.",
    State.FAILED: "The Neural Engine is not used for this model.",
    State.OFF: "The Neural Engine is turned off for this model.",
}


@dataclass(frozen=True, slots=True)
class CoremlRecord:
    """One encoder."""

    models: tuple[str, ...]  # sha256 of the model files whose encoder it is
    options: str  # as `CoremlOptions` spells itself
    builder: int
    state: State = State.ABSENT
    since: int = 0  # when that began, ms since 1970
    reason: str = ""  # why it failed or is off
    warning: str = ""
    proved: bool = False  # the evaluator found the program right
    compiled: bool = False  # the compiled program is whole
    deaths: int = 0  # processes that died of it, in this system
    system: str = ""  # the build of macOS that it was prepared in
    figures: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Status:
    """What to tell about a model's encoder now."""

    state: State
    reason: str = ""
    since: int = 0
    folder: Path | None = None
    record: CoremlRecord | None = None

    def __str__(self) -> str:
        return f"{SENTENCES[self.state]} {self.reason}".rstrip()


def coreml_folder(cache: Path) -> Path:
    """Where the folders of encoders are."""
    return cache / "coreml"


def package_of(folder: Path) -> Path:
    """The program, until it is compiled."""
    return folder / "encoder.mlpackage"


def compiled_of(folder: Path) -> Path:
    """What macOS runs."""
    return folder / _COMPILED


def link_of(folder: Path) -> Path:
    """Where whisper.cpp finds the model beside its compiled encoder."""
    return folder / _LINK


def expected_of(folder: Path) -> Path:
    """What the encoder is to give for the check: float16, (1500, width)."""
    return folder / "expected.npy"


def read_record(folder: Path) -> CoremlRecord | None:
    """The record of a folder; None where there is none that can be read."""
    try:
        return msgspec.json.decode((folder / _RECORD).read_bytes(), type=CoremlRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def write_record(folder: Path, record: CoremlRecord, state: State, reason: str = "") -> CoremlRecord:
    """Write what holds from now on. EngineError DISK_FULL, NOT_WRITABLE."""
    record = replace(record, state=state, reason=reason, since=time.time_ns() // 1_000_000)
    atomic_write(folder / _RECORD, msgspec.json.format(msgspec.json.encode(record)), overwrite=True)
    return record


@contextmanager
def working_on(folder: Path) -> Generator[None]:
    """Hold an encoder for oneself. EngineError MODEL_BUSY when somebody else works on it."""
    with locked(folder.with_suffix(".lock"), wait=False):
        yield


def is_worked_on(folder: Path) -> bool:
    """Whether a process works on it right now; a state of one that died says nothing."""
    try:
        with working_on(folder):
            return False
    except EngineError as error:
        return error.code is Code.MODEL_BUSY


def encoders(cache: Path, sha256: str) -> list[tuple[Path, CoremlRecord]]:
    """The encoders of a model, the one to use first: what is ready before what is not, then the latest."""
    mine = [(folder, record) for folder, record in _all_of(cache, sha256) if record.builder == BUILDER]
    return sorted(mine, key=lambda one: (one[1].state is State.READY, one[1].since), reverse=True)


def clear_older(cache: Path, sha256: str) -> None:
    """Remove what older builders wrote for a model."""
    for folder, record in _all_of(cache, sha256):
        if record.builder < BUILDER and not is_worked_on(folder):
            shutil.rmtree(folder, ignore_errors=True)


def status_of(cache: Path, sha256: str, unsupported: str, system: str) -> Status:
    """How it stands with a model on this system; `unsupported` says why there is no Neural Engine, or nothing."""
    found = encoders(cache, sha256)
    if not found:
        return Status(State.UNSUPPORTED, unsupported) if unsupported else Status(State.ABSENT)
    folder, record = found[0]
    if record.state in BUSY and not is_worked_on(folder):
        state, reason = State.ABSENT, "That was interrupted; it goes on where it was."
    elif record.state is State.READY and not unsupported and record.system != system:
        state, reason = State.ABSENT, "macOS was updated since; it has to be prepared again."
    elif record.state in {State.READY, State.ABSENT} and unsupported:
        state, reason = State.UNSUPPORTED, unsupported
    elif record.state is State.OFF and record.deaths >= DEATHS_TO_OFF and record.system != system:
        state, reason = State.ABSENT, "It was off since it ended the engine; macOS was updated since."
    else:
        state, reason = record.state, record.reason
    return Status(state, reason, record.since, folder, record)


def turn_off(cache: Path, sha256: str) -> int:
    """Use none of a model's encoders until the user asks; how many that were."""
    found = encoders(cache, sha256)
    for folder, record in found:
        with working_on(folder):
            write_record(folder, record, State.OFF, "You turned it off.")
    return len(found)


def remove_encoders(cache: Path, sha256: str) -> int:
    """Remove a model's encoders; how many bytes that frees. EngineError MODEL_BUSY while one is worked on."""
    freed = 0
    for folder, record in _all_of(cache, sha256):
        with working_on(folder):
            others = tuple(model for model in record.models if model != sha256)
            if others:  # another model has the same encoder
                write_record(folder, replace(record, models=others), record.state, record.reason)
                continue
            freed += _size_of(folder)
            shutil.rmtree(folder, ignore_errors=True)
    return freed


def encoder_bytes(cache: Path) -> dict[str, int]:
    """How large all encoders are, by the sha256 of their models."""
    sizes: dict[str, int] = {}
    for folder in coreml_folder(cache).glob("*"):
        record = read_record(folder)
        for model in record.models if record else ():
            sizes[model] = sizes.get(model, 0) + _size_of(folder)
    return sizes


def condemn_encoder(folder: Path, why: str) -> None:
    """It failed or gave wrong numbers at work: use it no more until it is built again."""
    record = read_record(folder)
    if record is not None:
        write_record(folder, replace(record, proved=False, compiled=False), State.FAILED, why)


def count_death(folder: Path, why: str) -> None:
    """The engine died while it used this encoder: with the second time it is off."""
    record = read_record(folder)
    if record is None or record.state is not State.READY:
        return
    deaths = record.deaths + 1
    off = deaths >= DEATHS_TO_OFF
    state, reason = (State.OFF, f"It ended the engine {deaths} times. {why}") if off else (State.READY, "")
    write_record(folder, replace(record, deaths=deaths), state, reason)


def _all_of(cache: Path, sha256: str) -> list[tuple[Path, CoremlRecord]]:
    """Also those of older builders."""
    found = [(folder, read_record(folder)) for folder in coreml_folder(cache).glob("*") if folder.is_dir()]
    return [(folder, record) for folder, record in found if record is not None and sha256 in record.models]


def _size_of(folder: Path) -> int:
    """Without the link, which is the model itself."""
    files = (file for file in folder.rglob("*") if file.is_file() and file != link_of(folder))
    return sum(file.stat().st_size for file in files)
