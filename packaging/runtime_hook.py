"""Runs first in both executables: libraries that came along are found, and programs of the system are spared them."""

from __future__ import annotations

import ctypes.util
import os
import sys
from pathlib import Path

_find_library = ctypes.util.find_library


def _find_ours_first(name: str) -> str | None:
    """Sounddevice asks for PortAudio by its bare name, for which the system's tools do not look here."""
    ours = sorted(Path(sys._MEIPASS).glob(f"lib{name}.so.*"))  # type: ignore[attr-defined] # noqa: SLF001
    return str(ours[0]) if ours else _find_library(name)


if sys.platform == "linux":
    ctypes.util.find_library = _find_ours_first
    # PyInstaller lets the loader look in this folder first; a file manager that the window opens must not.
    if before := os.environ.pop("LD_LIBRARY_PATH_ORIG", ""):
        os.environ["LD_LIBRARY_PATH"] = before
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)
