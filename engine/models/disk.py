"""The models folder as several processes share it: one writer a model, and refusals of the disk in our own terms."""

from __future__ import annotations

import errno
import shutil
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from engine.errors import Code, EngineError
from engine.files import shown
from engine.models.catalog import human_size

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
_LOOK_AGAIN = 0.1  # seconds

if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turn what the system says against writing `path` into EngineError DISK_FULL or NOT_WRITABLE."""
    try:
        yield
    except OSError as error:
        code = Code.DISK_FULL if error.errno in _FULL else Code.NOT_WRITABLE
        raise EngineError(code, f"{shown(path)}: {error.strerror or error}") from error


def check_space(folder: Path, count: int) -> None:
    """Ask for room before work that would fail late: EngineError DISK_FULL with how much is missing."""
    free = shutil.disk_usage(folder).free
    if count > free:
        detail = f"{human_size(count)} are needed in {shown(folder)}, {human_size(free)} are free."
        raise EngineError(Code.DISK_FULL, detail)


@contextmanager
def locked(path: Path, wait: bool) -> Generator[None]:
    """Hold a lock on the file `path`, which the system lets go of when its holder dies.

    Another holder is waited for, or is EngineError MODEL_BUSY. The file stays: removing it would let two in.
    """
    with writing(path):
        file = path.open("ab")
    with file:
        while not _locked(file):
            if not wait:
                raise EngineError(Code.MODEL_BUSY)
            time.sleep(_LOOK_AGAIN)
        yield


def _locked(file: BinaryIO) -> bool:
    try:
        _lock(file)
    except OSError as error:
        return error.errno not in _TAKEN  # a file system without locks: better unguarded than not at all
    return True
