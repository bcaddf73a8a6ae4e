"""Recording in the real window: a key, spoken words, a transcript, subtitles; a window that is closed or killed."""

from __future__ import annotations

import os
import sys
import time
import wave
from collections.abc import Callable
from pathlib import Path

import psutil
import pysubs2
import pytest

from engine.recording import read_facts
from tests.e2e.screen import Screen, wait_for
from tests.e2e.window import ended, entries, open_window, segments
from tests.virtual_mic import VirtualMicrophone

pytestmark = [
    pytest.mark.window,
    pytest.mark.skipif(sys.platform != "linux", reason="the virtual microphone is PulseAudio's"),
]

SENTENCE = "Good morning everyone, and welcome to the first meeting of the year."


def sound(data: Path) -> Path | None:
    """The file that is being recorded, once it has sound."""
    return next((path for path in data.glob("recordings/*/audio.wav") if path.stat().st_size > 20_000), None)


def seconds(path: Path) -> float:
    with wave.open(str(path), "rb") as file:
        return file.getnframes() / file.getframerate()


def test_what_is_said_is_read_while_it_is_said_and_exported_afterwards(
    screen: Screen, data: Path, microphone: VirtualMicrophone, speak: Callable[..., Path], tmp_path: Path
) -> None:
    window = open_window(screen, data, **microphone.env)
    screen.do("windowactivate", "--sync", window)
    screen.do("key", "ctrl+r")
    wait_for(lambda: sound(data))
    player = microphone.play(speak(f"{SENTENCE} {SENTENCE}"))
    wait_for(lambda: entries(data) and segments(data, entries(data)[0]))
    assert entries(data)[0].state == "running", "the words are there before the recording is over"
    player.wait()
    screen.do("key", "ctrl+r")
    (entry,) = wait_for(lambda: ended(data), 60)
    assert entry.state == "done", entry.error_detail
    assert "welcome to the first meeting" in " ".join(s.text for s in segments(data, entry)).lower()
    screen.do("key", "ctrl+e")
    time.sleep(0.5)
    screen.do("key", "Home", "Return")
    dialog = screen.window("^Export$")
    target = tmp_path / "out.srt"
    screen.do("windowactivate", "--sync", dialog)
    screen.do("key", "ctrl+a")
    screen.do("type", str(target))
    screen.do("key", "Return")
    wait_for(target.exists)
    assert (
        "welcome to the first meeting"
        in " ".join(" ".join(cue.plaintext.split()) for cue in pysubs2.load(str(target))).lower()
    )


def test_closing_the_window_keeps_all_that_was_said(
    screen: Screen, data: Path, microphone: VirtualMicrophone, speak: Callable[..., Path]
) -> None:
    window = open_window(screen, data, **microphone.env)
    screen.do("windowactivate", "--sync", window)
    screen.do("key", "ctrl+r")
    file = wait_for(lambda: sound(data))
    microphone.play(speak(SENTENCE)).wait()
    screen.shut(window, screen.processes[-1])
    (entry,) = entries(data)
    assert read_facts(file.parent).state == "stopped"
    assert seconds(file) > 3
    assert entry.state in ("interrupted", "done")


def test_a_killed_window_loses_no_sound_and_offers_it_at_the_next_start(
    screen: Screen, data: Path, microphone: VirtualMicrophone, speak: Callable[..., Path]
) -> None:
    window = open_window(screen, data, **microphone.env)
    screen.do("windowactivate", "--sync", window)
    screen.do("key", "ctrl+r")
    file = wait_for(lambda: sound(data))
    began = time.monotonic() - seconds_so_far(file)
    microphone.play(speak(SENTENCE)).wait()
    program = screen.processes[-1]
    children = psutil.Process(program.pid).children(recursive=True)
    killed = time.monotonic()
    program.kill()
    program.wait(10)
    _gone, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    assert seconds(file) > killed - began - 0.5
    window = open_window(screen, data, **microphone.env)
    (entry,) = entries(data)
    assert (entry.state, os.fsdecode(entry.source)) == ("interrupted", str(file.parent))
    screen.do("windowactivate", "--sync", window)
    screen.do("key", "ctrl+g")
    (entry,) = wait_for(lambda: ended(data), 120)
    assert "welcome to the first meeting" in " ".join(s.text for s in segments(data, entry)).lower()


def seconds_so_far(file: Path) -> float:
    """By the size of a file that grows: 16 bits, one channel of 48 kHz."""
    return file.stat().st_size / 96_000
