"""Several files read as one: a model that is delivered in parts."""

from __future__ import annotations

import bisect
import io
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from _typeshed import WriteableBuffer


def open_joined(paths: Sequence[Path]) -> io.BufferedReader:
    """Open files to be read one after another, with seeking; OSError as for `open`."""
    return io.BufferedReader(_Joined(paths))


class _Joined(io.RawIOBase):
    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[io.FileIO] = []
        self._position = 0
        try:
            self._files.extend(io.FileIO(path) for path in paths)
            sizes = [file.seek(0, io.SEEK_END) for file in self._files]
        except OSError:
            self.close()
            raise
        self._starts = [0, *itertools.accumulate(sizes)]  # of each file, and the end of the last

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._starts[-1]}[whence]
        self._position = origin + offset
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        if self._position >= self._starts[-1]:
            return 0
        place = bisect.bisect_right(self._starts, self._position) - 1
        self._files[place].seek(self._position - self._starts[place])
        count = self._files[place].readinto(buffer)
        self._position += count
        return count

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()
