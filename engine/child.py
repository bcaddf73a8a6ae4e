"""The engine as a child process for the command line; the window has its own, asynchronous one.

The command line uses a child as well, so that a crash in native code costs one file and one sentence there too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engine.endings import ending
from engine.errors import Code
from engine.protocol import Done, Event, Failed, ProtocolError, Ready, Transcribe, decode_event, encode

_LAST_LINES = 6


class EngineProcess:
    """One warm worker; started when it is first needed and again after a death."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None

    def events(self, command: Transcribe) -> Iterator[Event]:
        """Everything that happens to one file, ended by Done or Failed, also when the worker dies."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(encode(command))
            process.stdin.flush()
            for line in process.stdout:
                event = decode_event(line)
                if not isinstance(event, Ready):
                    yield event
                if isinstance(event, Done | Failed):
                    return
        except BrokenPipeError:
            pass
        except ProtocolError as error:
            self.close()
            yield Failed(command.job, Code.ENGINE_GARBLED, str(error))
            return
        yield self._death(command.job, process)

    def close(self) -> None:
        """End the worker at once."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "engine", "worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                cwd=self._data,
                env={**os.environ, "SOTTOVOCE_DATA": str(self._data)},
            )
        return self._process

    def _death(self, job: int, process: subprocess.Popen[bytes]) -> Failed:
        code = process.wait()
        self._process = None
        death = ending(abs(code), code < 0, self._last_lines())
        return Failed(job, death.code, death.detail)

    def _last_lines(self) -> list[str]:
        assert self._stderr is not None
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace").splitlines()[-_LAST_LINES:]
