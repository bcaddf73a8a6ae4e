"""PortAudio at arm's length, in processes that may hang or crash: see engine/audio/microphone.py."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

import msgspec

from engine.audio.packets import Device, Failure, Packet, read_packets
from engine.endings import Death, ending
from engine.errors import Code, EngineError
from engine.program import engine_command


def microphones() -> list[Device]:
    """Those that there are now, the default one first. EngineError NO_SOUND_SYSTEM or SOUND_SYSTEM_BROKEN."""
    done = subprocess.run(engine_command("microphones"), stdin=subprocess.PIPE, capture_output=True, check=False)
    if death := _death(done.returncode):
        raise EngineError(Code.SOUND_SYSTEM_BROKEN, death.detail)
    told = msgspec.json.decode(done.stdout, type=list[Device] | Failure)
    if isinstance(told, Failure):
        raise EngineError(Code(told.code), told.detail)
    return told


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

    @property
    def death(self) -> Death | None:
        """How it ended, if it did not do so in order."""
        return _death(self._process.wait())

    def _read(self) -> None:
        for packet in read_packets(self._stdout):
            self._take((self, packet))
        self._process.wait()
        self._stdout.close()
        self._take((self, None))


def _death(code: int) -> Death | None:
    return ending(abs(code), code < 0) if code not in (0, 1) else None
