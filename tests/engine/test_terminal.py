"""What the command line shows in a terminal and on standard error."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.terminal import escaped, fitted, named
from tests.engine.command_line import FAKE, Sottovoce


@pytest.mark.parametrize(
    ("name", "width", "line"),
    [
        ("talk.wav", 30, "talk.wav  listening"),
        ("a-very-long-name-of-a-talk.wav", 30, "a-very-lo…-talk.wav  listening"),
        ("日本語日本語日本語.wav", 22, "日本…語.wav  listening"),
        ("talk.wav", 8, "listenin"),
    ],
)
def test_a_long_name_loses_its_middle(name: str, width: int, line: str) -> None:
    assert fitted(name, "listening", width) == line


def test_control_characters_of_a_name_are_not_obeyed() -> None:
    assert named(b"a\x1b[31m\nb\x07\xe9.wav") == "a\\x1b[31m\\nb\\x07\\xe9.wav"
    assert named("evil\u202egpj.wav".encode()) == "evil\\u202egpj.wav"
    assert escaped("é 🎤 日本\nsecond line") == "é 🎤 日本\nsecond line"


def test_a_name_with_escapes_is_shown_with_them(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    shutil.copy(talk, tmp_path / "a\x1b[31mb.wav")
    done = sottovoce("a\x1b[31mb.wav", "gone\x1b.wav", *FAKE, "--output", "out\x1b/")
    assert b"\x1b" not in done.stderr
    assert b"a\\x1b[31mb.wav: wrote out\\x1b/a\\x1b[31mb.txt" in done.stderr


def test_the_progress_line_fits_the_terminal(talk: Path, tmp_path: Path) -> None:
    name = "a very long name " * 8 + ".wav"
    shutil.copy(talk, tmp_path / name)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    command = [sys.executable, "-P", "-m", "engine", "transcribe", name, *FAKE]
    environment = {**os.environ, "SOTTOVOCE_DATA": str(tmp_path / "data")}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=tmp_path, env=environment)
    os.close(theirs)
    said = _everything(ours)
    assert child.wait(60) == 0
    lines = re.findall(r"\r\x1b\[K(a ver[^\r\n]*)(?=\r\x1b)", said)
    progress = [line for line in lines if "…" in line]
    assert progress
    assert max(map(len, progress)) < 50


def _everything(terminal: int) -> str:
    parts: list[bytes] = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # how Linux says that the other side has closed
        pass
    os.close(terminal)
    return b"".join(parts).decode()


def test_the_language_that_was_heard_is_told_with_how_sure_it_is(sottovoce: Sottovoce, talk: Path) -> None:
    assert re.search(r"the language is English \(\d+ % sure\)", sottovoce(talk, *FAKE).stderr.decode())
    assert b"the language is" not in sottovoce(talk, *FAKE, "--language", "de").stderr


def test_a_gpu_that_is_not_there_is_told(sottovoce: Sottovoce, talk: Path) -> None:
    assert b"no GPU can be used here, so it runs on the CPU" in sottovoce(talk, *FAKE, "--device", "gpu").stderr
    assert b"GPU" not in sottovoce(talk, *FAKE).stderr


def test_the_track_is_told_where_there_are_several(
    sottovoce: Sottovoce, speak: Callable[..., Path], talk: Path, tmp_path: Path
) -> None:
    both = tmp_path / "both.mka"
    maps = ["-map", "0", "-map", "1", "-metadata:s:a:1", "language=eng"]
    subprocess.run(["ffmpeg", "-v", "error", "-i", talk, "-i", speak("Good evening."), *maps, both], check=True)
    assert b"both.mka: audio track 2: English" in sottovoce(both, *FAKE, "--track", "2").stderr
    assert b"audio track" not in sottovoce(talk, *FAKE).stderr


def test_a_notice_is_a_line_with_the_name_of_its_file(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.wav"
    subprocess.run(["ffmpeg", "-v", "error", "-i", talk, "-af", "volume=-45dB", quiet], check=True)
    lines = sottovoce(quiet, *FAKE, "--no-vad").stderr.decode().splitlines()
    assert any(line.startswith(f"{quiet}: The recording is very quiet") for line in lines)
