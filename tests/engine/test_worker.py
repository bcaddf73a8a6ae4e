"""How a worker answers and ends, when nothing is wrong and when a part of the installation is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from engine.protocol import Done, Failed, Stop, Transcribe, decode_event, encode
from engine.types import Options


def worker(data: Path, before: str, *lines: bytes) -> subprocess.CompletedProcess[bytes]:
    """A worker that runs `before` first and is told `lines`; its standard input stays open until it has ended."""
    script = f"{before}\nfrom pathlib import Path\nfrom engine.worker import serve\nserve(Path({str(data)!r}))"
    kept, told = os.pipe()
    os.write(told, b"".join(lines))
    try:
        return subprocess.run(
            [sys.executable, "-P", "-c", script], stdin=kept, capture_output=True, timeout=100, check=False
        )
    finally:
        os.close(kept)
        os.close(told)


def asked(file: Path) -> bytes:
    return encode(Transcribe(1, os.fsencode(file), Options(backend="fake")))


def test_a_worker_that_is_told_to_stop_ends_quietly_although_somebody_holds_its_input(
    tmp_path: Path, speak: Callable[..., Path]
) -> None:
    ended = worker(tmp_path, "", asked(speak("Just a few words.")), encode(Stop()))
    assert isinstance(decode_event(ended.stdout.splitlines()[-1]), Done)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_library_that_is_missing_is_said_in_a_sentence(tmp_path: Path) -> None:
    ended = worker(tmp_path, "import sys; sys.modules['av'] = None", asked(tmp_path / "talk.wav"), encode(Stop()))
    failed = decode_event(ended.stdout.splitlines()[-1])
    assert isinstance(failed, Failed)
    assert failed.code == "backend_missing"
    assert "av" in failed.detail
    assert ended.returncode == 0
