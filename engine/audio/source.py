"""The file behind a recording, as bytes: whether it may be read at all, and whether it begins like audio or video.

FFmpeg never sees the name. It reads through `Source`, so that a file called `http://x`, `concat:a|b` or `100%d.wav`
is a file like any other, and what a file is gets decided by what is in it.
"""

from __future__ import annotations

import os
import stat
from types import TracebackType
from typing import Self, TypeAlias

from engine.errors import Code, EngineError

PathLike: TypeAlias = bytes | str | os.PathLike[str] | os.PathLike[bytes]

# How files begin that hold audio or video: what then fails to open is damaged, all else is simply something different.
_STARTS = (
    b"OggS",
    b"fLaC",
    b"ID3",
    b"\x1a\x45\xdf\xa3",  # EBML: Matroska and WebM
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",  # ASF: WMA and WMV
    b"\x00\x00\x01\xba",  # MPEG program stream
    b"#!AMR",
    b"caff",
    b"FLV\x01",
    b".snd",
    b"wvpk",
    b"MAC ",
    b"TTA1",
    b"DSD ",
    b"FRM8",
    b".RMF",
)
_BOXES = (b"ftyp", b"moov", b"mdat", b"moof", b"wide", b"free", b"skip")  # MP4 and QuickTime, after a length of 4 bytes
_FORMS = {  # IFF and its relatives: the kind stands after a length of 4 bytes
    b"RIFF": (b"WAVE", b"AVI "),
    b"RIFX": (b"WAVE",),
    b"RF64": (b"WAVE",),
    b"BW64": (b"WAVE",),
    b"FORM": (b"AIFF", b"AIFC", b"8SVX"),
}


class Source:
    """A regular file opened for reading, with the three methods that PyAV calls, none of which raises.

    An exception that passes through FFmpeg comes out at some later, unrelated call; so a failed read ends the file
    and is remembered in `failure`.
    """

    def __init__(self, path: PathLike) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  (closed by __exit__)
        self.size = os.fstat(self._file.fileno()).st_size
        self.failure: OSError | None = None
        self.begins_like_media = _begins_like_media(self.read(12))
        self.seek(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end and after a failure."""
        try:
            return self._file.read(size) or b""
        except OSError as error:
            self.failure = error
            return b""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """The new position, or -1: damaged files send the reader to places that do not exist."""
        try:
            return self._file.seek(offset, whence)
        except OSError:
            return -1

    def tell(self) -> int:
        """Where the next read begins."""
        return self._file.tell()

    def check(self) -> None:
        """Raise NOT_READABLE if a read has failed, e.g. because the drive was taken away."""
        if self.failure is not None:
            raise EngineError(Code.NOT_READABLE, f"Reading stopped: {_reason(self.failure)}.") from self.failure


def open_source(path: PathLike) -> Source:
    """The file at `path`; EngineError NOT_FOUND, IS_FOLDER, NOT_READABLE, EMPTY_FILE, NOT_MEDIA (a pipe, a device)."""
    try:
        _check_kind(os.stat(path))  # noqa: PTH116  (a path of bytes is no Path)
        source = Source(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise EngineError(Code.NOT_FOUND) from error
    except ValueError as error:  # a zero byte in the name
        raise EngineError(Code.NOT_FOUND, "No file can have this name.") from error
    except OSError as error:
        raise EngineError(Code.NOT_READABLE, f"{_reason(error)}.") from error
    source.check()
    return source


def _check_kind(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise EngineError(Code.IS_FOLDER)
    if not stat.S_ISREG(status.st_mode):  # opening one could wait for ever, or start a device
        raise EngineError(Code.NOT_MEDIA, "It is a pipe or a device, not a file.")
    if status.st_size == 0:
        raise EngineError(Code.EMPTY_FILE)


def _begins_like_media(head: bytes) -> bool:
    return head.startswith(_STARTS) or head[4:8] in _BOXES or head[8:12] in _FORMS.get(head[:4], ())


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
