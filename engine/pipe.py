"""The two ends of a child process: standard output kept for the protocol alone, and a watch on the parent."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO, NoReturn

# The protocol's descriptor: a fixed number, far from those that libraries get, so that nothing native writes
# there by accident and the fake backend can spoil it on purpose.
PROTOCOL_FD = 100


def take_stdout() -> BinaryIO:
    """Keep the real standard output for the protocol and send everything else that prints to stderr.

    To be called before any native library is loaded: ggml, ffmpeg and others print to descriptor 1.
    """
    os.dup2(1, PROTOCOL_FD, inheritable=False)
    os.dup2(2, 1)
    return os.fdopen(PROTOCOL_FD, "wb", closefd=False)


def watch_parent(stdin: BinaryIO, on_line: Callable[[bytes], None], at_end: Callable[[], None] | None = None) -> None:
    """Hand each line of `stdin` to `on_line` from a thread of its own; the end of it ends this process, or is `at_end`.

    The pipe closes when the parent is gone, however it went. Nothing is lost by ending at once: what counts
    was sent before.
    """

    def read() -> None:
        for line in stdin:
            on_line(line)
        if at_end is None:
            os._exit(0)
        at_end()

    threading.Thread(target=read, name="stdin", daemon=True).start()


def leave(code: int) -> NoReturn:
    """End this process at once: the interpreter's own end aborts when the thread of `watch_parent` holds stdin."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
