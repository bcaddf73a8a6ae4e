"""The files of a dropped folder that may be recordings."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator

# What is surely no recording. Anything else is tried: its content decides, not its name.
NOT_MEDIA = frozenset(
    b"""
    txt md rst rtf pdf doc docx odt pages tex epub htm html xml css csv tsv xls xlsx ods ppt pptx odp key
    json yaml yml toml ini cfg conf log lock db sqlite sqlite3 db-wal db-shm bak tmp part crdownload
    srt vtt ass ssa sub idx lrc ttml sbv nfo cue m3u m3u8 pls textgrid eaf
    jpg jpeg png gif bmp tif tiff webp heic heif avif svg ico raw cr2 nef dng psd xcf xmp thm
    py pyc js ts c h cpp hpp rs go java class jar sh bat ps1 cmd rb php ipynb
    zip gz bz2 xz zst 7z rar tar tgz iso dmg pkg deb rpm apk msi exe dll so dylib app lnk url desktop
    bin gguf onnx safetensors pt pth npy npz ttf otf woff woff2 sha256 md5 sig asc torrent
    """.split()
)


def files_of(folder: bytes) -> Iterator[bytes | None]:
    """Every file below `folder` in the order of the names, but not hidden ones and what is surely no recording.

    Links are followed, each folder is entered once. What may not be read is left out; OSError only when that is
    `folder` itself. None stands for "still looking": the caller can do something else meanwhile.
    """
    entered: set[tuple[int, int]] = set()
    to_do = [folder]  # the next one last
    while to_do:
        path = to_do.pop()
        try:
            status = os.stat(path)  # noqa: PTH116 (bytes)
            if stat.S_ISDIR(status.st_mode) and (status.st_dev, status.st_ino) not in entered:
                entered.add((status.st_dev, status.st_ino))
                names = yield from _listed(path)
                to_do += [os.path.join(path, name) for name in sorted(names, reverse=True)]  # noqa: PTH118 (bytes)
            elif stat.S_ISREG(status.st_mode) and _suffix(path) not in NOT_MEDIA:
                yield path
        except OSError:
            if path == folder:
                raise
        yield None


def _listed(folder: bytes) -> Generator[None, None, list[bytes]]:
    names: list[bytes] = []
    with os.scandir(folder) as listing:
        for item in listing:
            if not item.name.startswith(b"."):
                names.append(item.name)
            yield
    return names


def _suffix(path: bytes) -> bytes:
    return os.path.splitext(path)[1].removeprefix(b".").lower()  # noqa: PTH122 (bytes)
