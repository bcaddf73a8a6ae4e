"""What `make run` starts: the window, or where there is no display a transcription in the terminal.

The recording comes through the environment (FILE), as it was typed: neither make nor a shell has read it.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from pathlib import Path


def main() -> None:
    """Become the program that fits: never returns, unless there is neither a display nor a file."""
    files = recording()
    if has_display():
        _become("app", *files)
    if not files:
        print("There is no display here for a window. To transcribe in the terminal: make run FILE=talk.mp3")
        return  # nothing failed: the set-up is done, and this is what to do next
    print("There is no display here for a window: transcribing in the terminal.", file=sys.stderr)
    _become("engine", "transcribe", *files)


def has_display() -> bool:
    """Whether Qt would find a screen; it aborts when a display is named but does not answer."""
    if sys.platform in {"darwin", "win32"} or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return _wayland_answers() or _x11_answers()


def recording() -> list[str]:
    """FILE as an absolute path, so that it is neither a verb nor an option; relative to where make was started."""
    name = os.environ.get("FILE", "")
    if not name:
        return []
    beside_the_caller = Path(os.environ.get("STARTED_IN", ""), name)  # another folder than ours with make -C
    return [str((beside_the_caller if beside_the_caller.exists() else Path(name)).absolute())]


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
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return False
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))  # never null, but may be an error
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed


def _become(module: str, *arguments: str) -> None:
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", module, *arguments])  # noqa: S606 - no shell is meant


if __name__ == "__main__":
    main()
