"""An hour of sound through the writer, as fast as the disk takes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.audio.wav import wav_facts
from engine.memory import peak_memory
from engine.recording import read_facts
from engine.recording_writer import RecordingWriter


def test_an_hour_takes_no_more_memory_than_a_minute(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, "Microphone", 16_000, 1)
    packet = np.ones((640, 1), np.int16)  # 40 ms

    def record(minutes: int) -> None:
        for _ in range(minutes * 1500):
            writer.append(packet)
            writer.keep_up()

    record(1)
    after_a_minute = peak_memory() or 0
    record(59)
    assert (peak_memory() or 0) - after_a_minute < 5_000_000
    assert writer.now == 3_600_000
    writer.close()
    assert wav_facts(writer.folder / "audio.wav").duration == 3_600_000
    assert read_facts(writer.folder).state == "stopped"


def test_a_microphone_of_another_form_goes_on_in_a_new_part(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, "One", 16_000, 1)
    writer.append(np.ones((16_000, 1), np.int16))
    gap = writer.go_on("Two", 48_000, 2, 2500, "lost")
    writer.append(np.ones((48_000, 2), np.int16))
    assert (gap.start, gap.end, writer.now) == (1000, 3500, 4500)
    writer.close()
    facts = read_facts(writer.folder)
    assert facts.device == "Two"
    assert [(part.file, part.rate, part.channels, part.start) for part in facts.parts] == [
        ("audio.wav", 16_000, 1, 0),
        ("audio-2.wav", 48_000, 2, 3500),
    ]
