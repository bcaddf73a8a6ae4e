"""A recording read while it grows: every sample once, at its place, whatever the files look like meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.audio.growing import Growing
from engine.errors import Code, EngineError
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS, AudioBlock
from tests.engine.recorders import ScriptedRecorder


def tone(rate: int, seconds: float, hertz: int = 440) -> np.ndarray:
    return 0.3 * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)


def joined(blocks: Sequence[AudioBlock | None], start: int = 0) -> np.ndarray:
    """All samples; the blocks have to follow each other."""
    sound = [block for block in blocks if block]
    at = start
    for block in sound:
        assert block.start == at
        assert 0 < len(block.samples) <= SAMPLE_RATE + SAMPLES_PER_MS
        assert block.samples.dtype == np.float32
        at += len(block.samples) // SAMPLES_PER_MS
    return np.concatenate([block.samples for block in sound])


def loud(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(samples**2)))


@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (44_100, 1), (48_000, 2)])
def test_everything_that_is_written_is_read_as_it_comes(tmp_path: Path, rate: int, channels: int) -> None:
    recorder = ScriptedRecorder(tmp_path / "r", rate, channels)
    thread = recorder.in_background(np.tile(tone(rate, 3)[:, None], channels), 5.0)
    growing = Growing(recorder.folder)
    samples = joined(list(growing.blocks()))
    thread.join()
    assert abs(len(samples) - 3 * SAMPLE_RATE) <= SAMPLES_PER_MS
    wanted = tone(SAMPLE_RATE, 3)[: len(samples)]
    assert np.abs(samples[800:-800] - wanted[800:-800]).max() < 0.01
    assert growing.recorded == 3000


def test_half_a_frame_waits_for_its_other_half(tmp_path: Path) -> None:
    recorder = ScriptedRecorder(tmp_path / "r", SAMPLE_RATE, 2)
    recorder.wav.close()
    sound = np.stack([tone(SAMPLE_RATE, 0.5)] * 2, axis=1)
    pcm = np.round(sound * 32767).astype("<i2").tobytes()
    blocks = Growing(recorder.folder).blocks()
    heard: list[AudioBlock | None] = []
    with recorder.wav.path.open("ab", buffering=0) as file:
        for at in range(0, len(pcm), 1601):
            file.write(pcm[at : at + 1601])
            while (block := next(blocks)) is not None:
                heard.append(block)
    recorder.say("stopped")
    samples = joined([*heard, *blocks])
    assert np.abs(samples - sound[:, 0]).max() < 1e-4


def test_parts_of_different_rates_lie_on_one_timeline_with_silence_between_them(tmp_path: Path) -> None:
    recorder = ScriptedRecorder(tmp_path / "r", 48_000)
    growing = Growing(recorder.folder)
    heard: list[AudioBlock | None] = []
    thread = threading.Thread(target=lambda: heard.extend(growing.blocks()))
    thread.start()
    recorder.play(tone(48_000, 1), 4.0)
    recorder.open(44_100, 2, start=2500)
    recorder.play(np.tile(tone(44_100, 1)[:, None], 2), 4.0)
    recorder.stop()
    thread.join()
    samples = joined(heard)
    assert abs(len(samples) - 3.5 * SAMPLE_RATE) <= SAMPLES_PER_MS
    levels = [loud(samples[at : at + SAMPLE_RATE // 4]) for at in range(0, 14 * SAMPLE_RATE // 4, SAMPLE_RATE // 4)]
    assert [level > 0.1 for level in levels] == [True] * 4 + [False] * 6 + [True] * 4


def test_reading_can_start_anywhere(tmp_path: Path) -> None:
    recorder = ScriptedRecorder(tmp_path / "r", 48_000)
    recorder.write(np.concatenate([tone(48_000, 1), np.zeros(48_000)]))
    recorder.open(SAMPLE_RATE, start=2000)
    recorder.write(tone(SAMPLE_RATE, 1))
    recorder.stop()
    samples = joined(list(Growing(recorder.folder, 1500).blocks()), 1500)
    assert abs(len(samples) - 1.5 * SAMPLE_RATE) <= SAMPLES_PER_MS
    assert loud(samples[: SAMPLE_RATE // 4]) < 0.01 < loud(samples[SAMPLE_RATE:])
    assert not list(Growing(recorder.folder, 3000).blocks())


def test_a_recording_that_was_recovered_is_read_to_its_end(tmp_path: Path) -> None:
    recorder = ScriptedRecorder(tmp_path / "r", SAMPLE_RATE)
    recorder.write(tone(SAMPLE_RATE, 1))
    recorder.wav.close()
    recorder.say("recovered")
    assert len(joined(list(Growing(recorder.folder).blocks()))) == SAMPLE_RATE


def test_a_recording_whose_recorder_is_gone_is_read_to_its_end(tmp_path: Path) -> None:
    recorder = ScriptedRecorder(tmp_path / "r", SAMPLE_RATE)
    recorder.write(tone(SAMPLE_RATE, 1))
    blocks = Growing(recorder.folder).blocks()
    assert next(block for block in blocks if block is not None).start == 0
    assert next(blocks) is None, "it waits for more as long as there is a recorder"
    recorder.write(tone(SAMPLE_RATE, 0.5))
    recorder.die()
    assert len(joined(list(blocks), 1000)) == SAMPLE_RATE // 2


def test_how_much_is_recorded_is_known_before_it_is_read(tmp_path: Path) -> None:
    recorder = ScriptedRecorder(tmp_path / "r", 48_000)
    growing = Growing(recorder.folder)
    recorder.write(tone(48_000, 2))
    assert growing.recorded == 2000
    recorder.open(16_000, start=5000)
    recorder.write(tone(16_000, 1))
    assert growing.recorded == 6000
    recorder.stop()


def test_a_folder_without_facts_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as raised:
        Growing(tmp_path)
    assert raised.value.code is Code.NOT_FOUND
