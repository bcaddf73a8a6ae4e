"""The record beside a model file: where it came from and what it was when it was put there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from engine.files import atomic_write

if TYPE_CHECKING:
    from pathlib import Path

Origin: TypeAlias = Literal["download", "import"]

_LARGEST = 1 << 16  # bytes of a record; ours have some hundred


class Record(msgspec.Struct, frozen=True):
    """What is remembered of a model file. `bytes` and `mtime_ns` tell whether it must be hashed again."""

    origin: Origin
    source: str  # an address or a path, for people
    bytes: int
    sha256: str
    mtime_ns: int
    multilingual: bool
    can_translate: bool
    date: str = ""  # ISO 8601, UTC
    source_sha256: str | None = None  # of an imported model's weights, when another file than ours
    note: str = ""


def now() -> str:
    """Spell this second for a record."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_record(path: Path) -> Record | None:
    """Read a record; None when there is none, or one that cannot be understood (the model is then read anew)."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Write a record over an older one; EngineError of `engine.files`."""
    atomic_write(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n", overwrite=True)
