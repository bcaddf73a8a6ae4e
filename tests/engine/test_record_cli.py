"""`sottovoce record` and `sottovoce devices`, as typed in a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from engine.recording import read_facts, recordings_folder
from tests.virtual_mic import VirtualMicrophone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the virtual microphone is PulseAudio's")


class Terminal:
    """Commands with the virtual microphone, in an empty folder."""

    def __init__(self, microphone: VirtualMicrophone, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self._env = {**os.environ, **microphone.env, "SOTTOVOCE_DATA": str(self.data)}

    def start(
        self, *words: str, own_group: bool = False, on: int | None = None, changes: dict[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """`on`: a terminal's descriptor; else what it says can be read."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "engine", *words],
            cwd=self.folder,
            env=self._env | (changes or {}),
            stdout=subprocess.PIPE if on is None else on,
            stderr=subprocess.PIPE if on is None else on,
            text=True,
            start_new_session=own_group,
        )

    def run(self, *words: str, **changes: str) -> tuple[int, str, str]:
        process = self.start(*words, changes=changes)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err


@pytest.fixture
def terminal(microphone: VirtualMicrophone, tmp_path: Path) -> Terminal:
    return Terminal(microphone, tmp_path)


def seconds(path: Path) -> float:
    with wave.open(str(path), "rb") as file:
        return file.getnframes() / file.getframerate()


def wait_until_it_records(data: Path) -> Path:
    for _ in range(100):
        for path in (data / "recordings").glob("*/audio.wav"):
            if path.stat().st_size > 50_000:
                return path
        time.sleep(0.1)
    raise AssertionError


def test_three_seconds_are_recorded_into_a_file(terminal: Terminal) -> None:
    code, out, err = terminal.run("record", "--seconds", "3", "--output", "x.wav")
    assert (code, out) == (0, ""), err
    assert 3.0 <= seconds(terminal.folder / "x.wav") < 3.8
    assert "recording “default”" in err
    assert "wrote x.wav" in err
    assert list(recordings_folder(terminal.data).iterdir()) == []


def test_ctrl_c_stops_a_recording_and_keeps_it(terminal: Terminal) -> None:
    record = terminal.start("record")
    path = wait_until_it_records(terminal.data)
    record.send_signal(signal.SIGINT)
    _, err = record.communicate(timeout=20)
    assert record.returncode == 0
    assert err.splitlines()[-1] == f"wrote {path}"
    assert seconds(path) > 0.25
    assert read_facts(path.parent).state == "stopped"


def test_a_recorder_that_dies_is_said_and_its_recording_opens(terminal: Terminal) -> None:
    record = terminal.start("record")
    path = wait_until_it_records(terminal.data)
    [recorder] = psutil.Process(record.pid).children()
    recorder.kill()
    _, err = record.communicate(timeout=20)
    assert record.returncode == 1
    assert "The recorder stopped unexpectedly" in err
    assert seconds(path) > 0.25
    assert read_facts(path.parent).state == "recovered"


@pytest.mark.parametrize("output", ["there.wav", "no folder/x.wav"])
def test_a_place_that_cannot_be_is_refused_before_anything_is_recorded(terminal: Terminal, output: str) -> None:
    (terminal.folder / "there.wav").write_bytes(b"mine")
    code, _, err = terminal.run("record", "--output", output)
    assert code == 1
    assert output in err
    assert (terminal.folder / "there.wav").read_bytes() == b"mine"
    assert not (terminal.data / "recordings").exists()


def test_microphones_are_listed_with_the_default_first(terminal: Terminal) -> None:
    code, out, _ = terminal.run("devices")
    assert code == 0
    assert out.splitlines()[0].startswith("default (default): ")
    _, out, _ = terminal.run("devices", "--json")
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["default", "headset"]


def test_a_system_without_microphones_says_so(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "nothing.conf").write_text("pcm.nothing { type hw card 99 }\n")
    nothing = {"ALSA_CONFIG_PATH": str(tmp_path / "nothing.conf")}
    assert terminal.run("devices", **nothing) == (1, "", "there is no microphone\n")
    assert terminal.run("record", **nothing) == (1, "", "sottovoce: There is no such microphone.\n")


def test_a_sound_system_that_ends_whoever_asks_it_costs_one_sentence(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "empty.conf").write_text("")  # PortAudio aborts on it
    for verb in ("devices", "record"):
        code, out, err = terminal.run(verb, ALSA_CONFIG_PATH=str(tmp_path / "empty.conf"))
        assert (code, out) == (1, "")
        assert err.startswith("sottovoce: The system's sound does not work")
        assert "SIGABRT" in err


def test_without_portaudio_there_is_a_sentence(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    for verb in ("devices", "record"):
        code, _, err = terminal.run(verb, PYTHONPATH=str(tmp_path))
        assert code == 1
        assert err == "sottovoce: The system's library for sound (PortAudio) is missing. PortAudio library not found\n"


FAKE = {"SOTTOVOCE_FAKE": json.dumps({"text": "Words as scripted."})}


def test_live_words_are_lines_on_standard_output_and_all_of_them_are_there_at_the_end(
    terminal: Terminal, microphone: VirtualMicrophone, speak: Callable[..., Path]
) -> None:
    live = terminal.start("record", "--live", "--backend", "fake", "--output", "talk.wav", changes=FAKE)
    wait_until_it_records(terminal.data)
    microphone.play(speak("This is said. It is written down.")).wait()
    live.send_signal(signal.SIGINT)
    out, err = live.communicate(timeout=30)
    assert live.returncode == 0, err
    assert set(out.splitlines()) == {"Words as scripted."}
    assert seconds(terminal.folder / "talk.wav") > 1.5
    assert list((terminal.data / "recordings").iterdir()) == []


def test_ctrl_c_reaches_the_whole_terminal_and_costs_no_words(
    terminal: Terminal, microphone: VirtualMicrophone, speak: Callable[..., Path]
) -> None:
    live = terminal.start("record", "--live", "--backend", "fake", own_group=True, changes=FAKE)
    wait_until_it_records(terminal.data)
    microphone.play(speak("This is said. It is written down.")).wait()
    os.killpg(live.pid, signal.SIGINT)
    out, err = live.communicate(timeout=30)
    assert live.returncode == 0, err
    assert "Words as scripted." in out


def test_live_words_that_cannot_be_had_cost_no_sound(
    terminal: Terminal, microphone: VirtualMicrophone, speak: Callable[..., Path]
) -> None:
    broken = {"SOTTOVOCE_FAKE": json.dumps({"die": "SIGSEGV"})}
    live = terminal.start("record", "--live", "--backend", "fake", changes=broken)
    recorded = wait_until_it_records(terminal.data)
    microphone.play(speak("This is said. It is not written down.")).wait()
    size = recorded.stat().st_size
    time.sleep(1)
    assert recorded.stat().st_size > size
    live.send_signal(signal.SIGINT)
    out, err = live.communicate(timeout=30)
    assert (live.returncode, out) == (1, "")
    assert "The engine stopped unexpectedly." in err
    assert f"wrote {recorded}" in err


def test_on_a_terminal_stored_words_take_the_place_of_the_line_that_changes(
    terminal: Terminal, microphone: VirtualMicrophone, speak: Callable[..., Path]
) -> None:
    own, theirs = pty.openpty()
    live = terminal.start("record", "--live", "--backend", "fake", on=theirs, changes=FAKE)
    os.close(theirs)
    shown = bytearray()
    reader = threading.Thread(target=read_all, args=(own, shown))
    reader.start()
    wait_until_it_records(terminal.data)
    microphone.play(speak("This is said. It is written down.")).wait()
    for _ in range(3):  # an impatient user, who hits whatever the program is doing
        live.send_signal(signal.SIGINT)
    assert live.wait(timeout=30) == 0
    reader.join()
    os.close(own)
    assert b"\r\x1b[KWords as scripted.\r\n" in shown
    assert shown.decode().splitlines()[-1].removeprefix("\x1b[K").startswith("wrote ")


def read_all(descriptor: int, into: bytearray) -> None:
    with suppress(OSError):  # the other end is closed
        while data := os.read(descriptor, 65536):
            into += data
