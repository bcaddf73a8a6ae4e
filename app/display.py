"""Whether there is a screen for the window: asked before Qt is loaded, which ends the process where there is none."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from pathlib import Path


def has_display() -> bool:
    """Whether a display answers; one that is only named does not count. A platform chosen for Qt by hand does."""
    if sys.platform in {"darwin", "win32"} or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return _wayland_answers() or _x11_answers()


def _wayland_answers() -> bool:
    name = os.environ.get("WAYLAND_DISPLAY")
    if not name:
        return False
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(Path(os.environ.get("XDG_RUNTIME_DIR", "/"), name)))
    except OSError:
        return False
    return True


def _x11_answers() -> bool:
    if not os.environ.get("DISPLAY"):
        return False
    try:
        xcb = ctypes.CDLL("libxcb.so.1")  # Qt needs it too
    except OSError:
        return False
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))  # never null, but may be an error
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed
