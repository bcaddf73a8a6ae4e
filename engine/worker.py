"""Serves the pipeline over the pipe: commands come in on stdin, events leave on the real stdout.

A file that fails costs one Failed event; whatever else goes wrong ends the process, and the other side knows
what to do about that. Cancelling is killing this process.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from engine.errors import Code, EngineError
from engine.pipe import leave, take_stdout, watch_parent
from engine.protocol import (
    VERSION,
    Command,
    Event,
    Failed,
    GoOn,
    Hold,
    Job,
    ProtocolError,
    Ready,
    Stop,
    Transcribe,
    decode_command,
    encode,
)

if TYPE_CHECKING:
    from engine.warm_model import WarmModel


def serve(data: Path) -> NoReturn:
    """Take commands until Stop or the end of stdin, then end the process."""
    try:
        _serve(data)
    except BrokenPipeError:  # nobody listens any more
        leave(1)
    leave(0)


def _serve(data: Path) -> None:
    stdout = take_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the one who started this
    inbox = _Inbox()
    watch_parent(sys.stdin.buffer, inbox.put)

    def send(event: Event) -> None:
        stdout.write(encode(event))
        stdout.flush()
        inbox.may_go_on.wait()

    send(Ready(VERSION, os.getpid()))
    model = _warm_model(data)
    while not isinstance(command := inbox.jobs.get(), Stop):
        if isinstance(command, ProtocolError):
            send(Failed(0, Code.BAD_COMMAND, str(command)))
        else:
            _do(command, model, send)


class _Inbox:
    """Commands as the thread at stdin takes them in: jobs wait for their turn, holding is at once."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[Job | Stop | ProtocolError] = queue.SimpleQueue()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def put(self, line: bytes) -> None:
        """Take one line."""
        try:
            command: Command | ProtocolError = decode_command(line)
        except ProtocolError as error:
            command = error
        if isinstance(command, Hold):
            self.may_go_on.clear()
        elif isinstance(command, GoOn):
            self.may_go_on.set()
        else:
            self.jobs.put(command)


def _warm_model(data: Path) -> WarmModel:
    from engine.warm_model import WarmModel  # noqa: PLC0415 (heavy: Ready comes first)

    return WarmModel(data)


def _events(command: Job, model: WarmModel) -> Iterator[Event]:
    if isinstance(command, Transcribe):
        from engine.transcribe import transcribe  # noqa: PLC0415

        return transcribe(command, model)
    from engine.live import live  # noqa: PLC0415

    return live(command, model)


def _do(command: Job, model: WarmModel, send: Callable[[Event], None]) -> None:
    try:
        for event in _events(command, model):
            send(event)
    except EngineError as error:
        send(Failed(command.job, error.code, error.detail))
    except ImportError as error:  # each part is imported when it is first needed
        send(Failed(command.job, Code.BACKEND_MISSING, str(error)))
    except MemoryError:
        send(Failed(command.job, Code.OUT_OF_MEMORY))
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 (the worker loop, one of the named places for a broad except)
        traceback.print_exc()
        send(Failed(command.job, Code.INTERNAL, f"{type(error).__name__}: {error}"))
