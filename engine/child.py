"""The engine as a child process for the command line; the window has its own, asynchronous one.

The command line uses a child as well, so that a crash in native code costs one file and one sentence there too.
"""

from __future__ import annotations

import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engine.backends.gpu import blame
from engine.endings import ending
from engine.errors import Code
from engine.hang_rule import SHORTEST_MS, HangRule, TimeLimit
from engine.program import engine_command
from engine.protocol import Done, Event, Failed, Job, Loaded, ProtocolError, Ready, decode_event, encode

_LAST_LINES = 6


class HungError(Exception):
    """The worker has given no sign of life for so many milliseconds."""


class EngineProcess:
    """One warm worker; started when it is first needed and again after a death."""

    def __init__(self, data: Path, hang_ms: int = SHORTEST_MS) -> None:
        self._data = data
        self._hang_ms = hang_ms
        self._worker: _Worker | None = None

    def events(self, command: Job, limit: TimeLimit | None = None) -> Iterator[Event]:
        """Everything that happens to one file or recording, ended by Done or Failed, also when it dies or hangs.

        `limit` holds the worker to a time; what happens then is for the caller to judge, also what it means for a GPU.
        """
        rule = limit or HangRule(self._hang_ms)
        if self._worker is None:
            self._worker = _started(self._data)
        worker, loaded = self._worker, None
        worker.send(encode(command))
        try:
            for line in worker.said(rule):
                event = decode_event(line)
                rule.see(event)
                if isinstance(event, Loaded):
                    loaded = event
                if not isinstance(event, Ready):
                    yield event
                if isinstance(event, Done | Failed):
                    return
            failed = worker.death(command.job)
        except ProtocolError as error:
            failed = Failed(command.job, Code.ENGINE_GARBLED, str(error))
        except HungError as error:
            failed = Failed(command.job, Code.ENGINE_HUNG, str(error))
        self.close()
        if loaded is not None and limit is None:
            blame(self._data, command.options, loaded, failed.detail)
        yield failed

    def close(self) -> None:
        """End the worker at once."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None


@dataclass(frozen=True, slots=True)
class _Worker:
    """A process, and what it says, which a thread of its own reads: a read cannot be given up after a while."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    lines: queue.SimpleQueue[bytes | None]  # None: that was all
    reader: threading.Thread

    def send(self, line: bytes) -> None:
        """Hand it a command; that it is dead is seen from what it says."""
        with suppress(BrokenPipeError):
            self.stdin.write(line)
            self.stdin.flush()

    def said(self, rule: HangRule) -> Iterator[bytes]:
        """Its lines until it ends; HungError when `rule`, which is to see what is in them, has lost patience."""
        tick_at = time.monotonic() + rule.quarter / 1000
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, tick_at - time.monotonic()))
            except queue.Empty:
                line = b""
            if line is None:
                return
            if line:
                yield line
            if time.monotonic() >= tick_at:
                if rule.tick():
                    raise HungError(f"No sign of life for {rule.limit / 1000:g} s.")
                tick_at = time.monotonic() + rule.quarter / 1000

    def death(self, job: int) -> Failed:
        """How it ended by itself."""
        code = self.process.wait()
        self.stderr.seek(0)
        last_lines = self.stderr.read().decode("utf-8", "replace").splitlines()[-_LAST_LINES:]
        death = ending(abs(code), code < 0, last_lines)
        return Failed(job, death.code, death.detail)

    def end(self) -> None:
        """Kill it, if it is not dead yet, and wait until nothing is left of it."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):  # a command that it did not take any more
                pipe.close()


def _started(data: Path) -> _Worker:
    stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
    process = subprocess.Popen(
        engine_command("worker"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=data,
        env={**os.environ, "SOTTOVOCE_DATA": str(data)},
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def read() -> None:
        for line in stdout:
            lines.put(line)
        lines.put(None)

    reader = threading.Thread(target=read, name="engine's stdout", daemon=True)
    reader.start()
    return _Worker(process, stdin, stdout, stderr, lines, reader)
