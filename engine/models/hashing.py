"""SHA-256 of large files, with progress."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import BinaryIO, TypeAlias

Progress: TypeAlias = Callable[[int, int], None]  # bytes done, bytes in all; to cancel, raise

_CHUNK = 1 << 20


def hash_of(file: BinaryIO, total: int, progress: Progress | None = None) -> str:
    """Hash a file from where it stands to its end, in hexadecimal; `total` is only for the progress."""
    digest, done = hashlib.sha256(), 0
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
        done += len(chunk)
        if progress:
            progress(done, total)
    return digest.hexdigest()
