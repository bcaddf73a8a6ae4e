"""Recordings on the disk: what is told of them, and what is left of one that was cut off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.audio.wav import WavWriter, wav_facts
from engine.errors import Code, EngineError
from engine.recording import (
    Gap,
    Part,
    RecordingFacts,
    is_living,
    living,
    new_folder,
    part_name,
    read_facts,
    unfinished,
    write_facts,
)


def cut_off(data: Path, frames: int = 1000) -> Path:
    """A recording whose recorder is gone: its header says that it is empty."""
    folder = new_folder(data)
    writer = WavWriter(folder / part_name(1), 16_000, 1)
    empty = writer.path.read_bytes()
    writer.append(np.ones((frames, 1), np.int16))
    writer.close()
    with writer.path.open("r+b") as file:
        file.write(empty)
    write_facts(folder, RecordingFacts(folder.name, 0, "Microphone", parts=(Part("audio.wav", 16_000, 1, 0),)))
    return folder


def test_facts_come_back_as_they_were_written(tmp_path: Path) -> None:
    parts = (Part("audio.wav", 48_000, 1, 0), Part("audio-2.wav", 44_100, 2, 70_000))
    facts = RecordingFacts("2026-11-30 22-28-10", 1, "Mikrofon ☃", "stopped", parts, (Gap(60_000, 70_000, "lost"),))
    write_facts(tmp_path, facts)
    assert read_facts(tmp_path) == facts


def test_two_recordings_of_one_second_have_folders_of_their_own(tmp_path: Path) -> None:
    assert len({new_folder(tmp_path) for _ in range(5)}) == 5


def test_a_recording_that_was_cut_off_is_found_once_and_opens(tmp_path: Path) -> None:
    folder = cut_off(tmp_path)
    assert unfinished(tmp_path) == [folder]
    assert read_facts(folder).state == "recovered"
    assert (folder / "audio.wav").read_bytes()[76:80] == (2000).to_bytes(4, "little")  # what the header says
    assert wav_facts(folder / "audio.wav").frames == 1000
    assert unfinished(tmp_path) == []


def test_a_recording_is_left_alone_while_its_recorder_lives(tmp_path: Path) -> None:
    folder = cut_off(tmp_path)
    with living(folder):
        assert is_living(folder)
        assert unfinished(tmp_path) == []
    assert unfinished(tmp_path) == [folder]


def test_a_recorder_that_was_killed_does_not_live_any_more(tmp_path: Path) -> None:
    folder = cut_off(tmp_path)
    script = f"""
import pathlib, time
from engine.recording import living
with living(pathlib.Path({str(folder)!r})):
    print(flush=True)
    time.sleep(100)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as recorder:
        assert recorder.stdout
        recorder.stdout.readline()
        assert unfinished(tmp_path) == []
        recorder.kill()
    assert unfinished(tmp_path) == [folder]


def test_a_folder_that_is_no_recording_is_left_as_it_is(tmp_path: Path) -> None:
    for content in (None, b"{", b'{"id": 1}'):
        folder = new_folder(tmp_path)
        if content is not None:
            (folder / "recording.json").write_bytes(content)
        with pytest.raises(EngineError) as refused:
            read_facts(folder)
        assert refused.value.code in (Code.NOT_FOUND, Code.DAMAGED)
    assert unfinished(tmp_path) == []
