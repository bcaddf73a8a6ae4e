"""One opening of a microphone, as a process that can be given up: see engine/audio/microphone.py."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from engine.audio.packets import Packet, read_packets
from engine.program import engine_command


class MicrophoneProcess:
    """Hears from the start on; each packet, and None for the end, goes to `take` in a thread of its own."""

    def __init__(
        self, wanted: str | None, channel: int | None, take: Callable[[tuple[MicrophoneProcess, Packet | None]], None]
    ) -> None:
        command = engine_command("microphone")
        command += [f"--device={wanted}"] if wanted else []
        command += [f"--channel={channel}"] if channel else []
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdin
        assert self._process.stdout
        self._stdin: IO[bytes] = self._process.stdin
        self._stdout: IO[bytes] = self._process.stdout
        self._take = take
        threading.Thread(target=self._read, name="microphone", daemon=True).start()

    def ask_to_stop(self) -> None:
        """Let it send what it still has; then comes its end."""
        with suppress(BrokenPipeError):
            self._stdin.write(b"stop\n")
            self._stdin.flush()

    def kill(self) -> None:
        """End it at once, also when it hangs; it is not waited for."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._stdin.close()

    def _read(self) -> None:
        for packet in read_packets(self._stdout):
            self._take((self, packet))
        self._process.wait()
        self._stdout.close()
        self._take((self, None))
