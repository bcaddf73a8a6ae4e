"""Files that are written whole or not at all: exports, settings, records, imported models.

The bytes go to a hidden file in the same folder, reach the disk, and then take the name in one step.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from engine.errors import Code, EngineError

if TYPE_CHECKING:
    from collections.abc import Generator

    from _typeshed import ReadableBuffer

UNFINISHED = ".sottovoce-unfinished-"  # how our temporary files begin; short, since names have at most 255 bytes

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}  # FAT, some network folders


def atomic_write(path: Path, data: bytes, overwrite: bool = False) -> None:
    """Write `data` as the file `path`; errors as for `atomic_file`."""
    with atomic_file(path, overwrite) as file:
        file.write(data)


@contextmanager
def atomic_file(path: Path, overwrite: bool = False) -> Generator[BinaryIO]:
    """Give a file to write into that becomes `path` when the block ends without an exception.

    A link is followed, the permissions of an old file are kept. Without `overwrite` a file that is there,
    or appears meanwhile, is never replaced. EngineError ALREADY_THERE, DISK_FULL or NOT_WRITABLE; then, and
    after any exception of the block, the old file is as it was and nothing is left beside it.
    """
    target = Path(os.path.realpath(path))
    with _saying(target):
        mode = _may_write(target, overwrite)
        temporary = target.with_name(UNFINISHED + secrets.token_hex(8))
        raw = _Output(temporary, target)
    try:
        file = io.BufferedWriter(raw, buffer_size=1 << 20)
        yield file
        with _saying(target):
            file.flush()
            if mode is not None:
                with suppress(OSError):  # a file system without permissions
                    temporary.chmod(mode)
            os.fsync(raw.fileno())
            raw.close()
            _give_name(temporary, target, overwrite)
        _sync_folder(target.parent)
    finally:
        with suppress(OSError):
            raw.close()
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def shown(path: Path | bytes) -> str:
    """Spell a path for people and JSON: bytes that are no UTF-8 appear as hexadecimal escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class _Output(io.FileIO):
    """A new file whose failed writes say why; an error of reading, in the same block, stays what it is."""

    def __init__(self, temporary: Path, target: Path) -> None:
        super().__init__(temporary, "xb")
        self._target = target

    def write(self, data: ReadableBuffer, /) -> int:
        with _saying(self._target):
            return super().write(data)


@contextmanager
def _saying(target: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise EngineError(_code(error), f"{shown(target)}: {error.strerror or error}") from error


def _code(error: OSError) -> Code:
    if isinstance(error, FileExistsError):
        return Code.ALREADY_THERE
    return Code.DISK_FULL if error.errno in _FULL else Code.NOT_WRITABLE


def _may_write(target: Path, overwrite: bool) -> int | None:
    """Return the permissions of the old file, None when there is none; OSError when it is not ours to replace."""
    try:
        old = target.lstat().st_mode
    except FileNotFoundError:
        return None
    if not overwrite:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    if not stat.S_ISREG(old):  # replacing /dev/null by a file would break the machine
        raise OSError(errno.EINVAL, "not a regular file")
    if not os.access(target, os.W_OK):  # a rename would not ask
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return old & 0o777


def _give_name(temporary: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        temporary.replace(target)
    elif os.name == "nt":
        temporary.rename(target)  # Windows' rename never replaces
    else:
        try:
            os.link(temporary, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # Where there are no hard links, an empty file takes the name first, as only one can.
            os.close(os.open(target, os.O_CREAT | os.O_EXCL))
            temporary.replace(target)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut. The file is whole and in place, so a refusal is no failure."""
    if os.name == "nt":  # folders cannot be opened there
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
