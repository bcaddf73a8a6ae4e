"""A WAV file that is written as sound comes: whatever ends its writer, it opens."""

from __future__ import annotations

import os
import resource
import wave
from pathlib import Path

import numpy as np
import pytest

from engine.audio.media import open_media
from engine.audio.wav import WAV_HEADER_BYTES, WavFacts, WavWriter, repair, wav_facts
from engine.errors import Code, EngineError


def noise(frames: int, channels: int = 1) -> np.ndarray:
    return np.random.default_rng(frames).integers(-20_000, 20_000, (frames, channels)).astype(np.int16)


def read(path: Path) -> np.ndarray:
    with wave.open(str(path), "rb") as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())


@pytest.mark.parametrize("channels", [1, 2])
def test_what_is_appended_is_what_any_program_reads(tmp_path: Path, channels: int) -> None:
    path, sound = tmp_path / "audio.wav", noise(4801, channels)
    writer = WavWriter(path, 48_000, channels)
    for start in range(0, len(sound), 480):
        writer.append(sound[start : start + 480])
    writer.close()
    assert (read(path) == sound).all()
    assert wav_facts(path) == WavFacts(48_000, channels, 4801)
    with open_media(path) as media:
        assert sum(len(block.samples) for block in media.blocks()) == pytest.approx(1600, abs=16)


def test_a_file_that_grows_is_known_by_its_size_and_not_by_its_header(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "audio.wav", 16_000, 1)
    writer.append(noise(1600))
    assert len(read(writer.path)) == 0
    assert wav_facts(writer.path) == WavFacts(16_000, 1, 1600)
    assert writer.path.stat().st_size == writer.bytes == WAV_HEADER_BYTES + 3200
    writer.refresh_header()
    writer.append(noise(1600))
    assert len(read(writer.path)) == 1600
    writer.close()


def test_a_file_that_was_cut_off_opens_after_repair_with_all_that_is_in_it(tmp_path: Path) -> None:
    writer, sound = WavWriter(tmp_path / "audio.wav", 16_000, 2), noise(500, 2)
    writer.append(sound)
    with writer.path.open("ab") as file:
        file.write(b"\1\2\3")  # less than a frame
    assert repair(writer.path, 16_000, 2) == WavFacts(16_000, 2, 500)
    assert (read(writer.path) == sound).all()
    writer.close()


def test_a_file_without_a_header_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "audio.wav"
    path.write_bytes(bytes(WAV_HEADER_BYTES) + noise(10).tobytes())
    with pytest.raises(EngineError) as refused:
        wav_facts(path)
    assert refused.value.code is Code.DAMAGED
    repair(path, 8_000, 1)
    assert (read(path) == noise(10)).all()
    path.write_bytes(b"RIFF")
    assert repair(path, 8_000, 1).frames == 0
    assert len(read(path)) == 0


def test_silence_is_made_without_being_written(tmp_path: Path) -> None:
    writer, sound = WavWriter(tmp_path / "audio.wav", 48_000, 1), noise(100)
    writer.append(sound)
    writer.append_silence(48_000 * 600)
    writer.append(sound)
    writer.close()
    assert (read(writer.path)[-100:] == sound).all()
    assert not read(writer.path)[100:-100].any()
    assert writer.path.stat().st_blocks * 512 < 1_000_000


def test_beyond_four_gigabytes_the_header_is_that_of_rf64(tmp_path: Path) -> None:
    writer = WavWriter(tmp_path / "audio.wav", 48_000, 2)
    writer.append_silence(2**30 + 48_000)
    writer.close()
    with open_media(writer.path) as media:
        assert media.duration == (2**30 + 48_000) // 48
    assert wav_facts(writer.path).frames == 2**30 + 48_000


def test_a_full_disk_is_said_and_what_was_written_opens(tmp_path: Path) -> None:
    writer, before = WavWriter(tmp_path / "audio.wav", 16_000, 1), resource.getrlimit(resource.RLIMIT_FSIZE)
    sound = noise(10_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (WAV_HEADER_BYTES + 10_001, before[1]))
    try:
        with pytest.raises(EngineError) as refused:
            writer.append(sound)
        writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused.value.code is Code.DISK_FULL
    assert (read(writer.path) == sound[:5000]).all()


def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "audio.wav"
    path.write_bytes(b"a recording of yesterday")
    with pytest.raises(EngineError) as refused:
        WavWriter(path, 16_000, 1)
    assert refused.value.code is Code.ALREADY_THERE
    assert path.read_bytes() == b"a recording of yesterday"


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.wav"
    other.write_bytes(os.urandom(1000))
    for path, code in ((other, Code.DAMAGED), (tmp_path / "none.wav", Code.NOT_FOUND)):
        with pytest.raises(EngineError) as refused:
            wav_facts(path)
        assert refused.value.code is code
