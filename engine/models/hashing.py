"""SHA-256 of large files, with progress."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import IO, TypeAlias

Progress: TypeAlias = Callable[[int, int], None]  # bytes done, bytes in all; to cancel, raise

_CHUNK = 1 << 20


def hash_of(file: IO[bytes], total: int, progress: Progress | None = None) -> str:
    """Hash a file from where it stands to its end, in hexadecimal; `total` is only for the progress."""
    digest = hashlib.sha256()
    pour(file, digest.update, tell=lambda done: progress(done, total) if progress else None)
    return digest.hexdigest()


def pour(file: IO[bytes], *sinks: Callable[[bytes], object], tell: Callable[[int], None] = lambda _done: None) -> int:
    """Give a file, from where it stands to its end, to every sink; tell and return how many bytes that were."""
    done = 0
    while chunk := file.read(_CHUNK):
        for sink in sinks:
            sink(chunk)
        done += len(chunk)
        tell(done)
    return done
