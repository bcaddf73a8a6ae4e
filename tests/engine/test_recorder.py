"""The recorder on a virtual microphone: all that is heard is in the file, whatever ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from engine.audio.wav import wav_facts
from engine.recorder_protocol import Failed, Level, Opened, Pause, Resume, Silent, Stop
from engine.recording import read_facts, unfinished
from tests.ear import RATE, Ear
from tests.engine.recorder_process import RecorderProcess, Start
from tests.virtual_mic import VirtualMicrophone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the virtual microphone is PulseAudio's")


@pytest.fixture
def babble(tmp_path: Path) -> Path:
    """Ten seconds of quiet noise, in which every moment is unlike every other."""
    path = tmp_path / "babble.wav"
    noise = np.random.default_rng(4).normal(0, 0.1, RATE * 10)
    # Dull, so that it is no other sound when it arrives half a sample later.
    sound = np.convolve(noise, np.hanning(32) / 4, "same").clip(-1, 1)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes((sound * 32767).astype("<i2").tobytes())
    return path


def mono(path: Path) -> np.ndarray:
    with wave.open(str(path), "rb") as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
    return sound.astype(np.float64).mean(axis=1)


def likeness(heard: np.ndarray, played: np.ndarray) -> float:
    """Correlation at the place where they fit best."""
    size = len(heard) + len(played)
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size)), size)
    place = int(np.argmax(product[: max(1, len(heard) - len(played))]))
    return float(np.corrcoef(heard[place : place + len(played)], played)[0, 1])


def missing_at_the_end(recorder: RecorderProcess, ended_at: float, recorded: int) -> float:
    """Seconds between what a recorder that was never late had heard by then, and what is on the disk."""
    ahead = max(event.at / 1000 - at for at, event in recorder.events if isinstance(event, Level))
    return ended_at + ahead - recorded / 1000


def test_what_is_played_into_the_microphone_is_what_is_in_the_file(
    start: Start, microphone: VirtualMicrophone, babble: Path, tmp_path: Path
) -> None:
    recorder = start()
    recorder.wait_for(Level)
    ear = Ear(microphone, tmp_path / "ear.raw")
    microphone.play(babble).wait()
    played = ear.heard()  # not the file: on a busy machine its player stumbles
    recorder.tell(Stop())
    stopped = recorder.end()
    ear.close()
    facts = read_facts(recorder.folder())
    assert facts.state == "stopped"
    assert [part.file for part in facts.parts] == ["audio.wav"]
    assert stopped.ms == wav_facts(recorder.folder() / "audio.wav").duration > 10_000
    heard = mono(recorder.folder() / "audio.wav")
    pieces = [played[at : at + RATE] for at in range(RATE // 2, len(played) - RATE, RATE)]
    assert len([piece for piece in pieces if piece.any()]) >= 8
    assert all(likeness(heard, piece) > 0.9 for piece in pieces if piece.any())
    assert recorder.process.returncode == 0


def test_a_killed_recorder_loses_at_most_a_fifth_of_a_second(
    start: Start, microphone: VirtualMicrophone, babble: Path, tmp_path: Path
) -> None:
    for wait in np.random.default_rng().uniform(0.3, 1.5, 6):
        recorder = start()
        recorder.wait_for(Level)
        player = microphone.play(babble)
        time.sleep(wait)
        recorder.process.kill()
        killed_at = time.monotonic()
        player.kill()
        player.wait()
        recorder.close()
        folder = recorder.folder()
        assert unfinished(tmp_path) == [folder]
        assert len(mono(folder / "audio.wav")) == wav_facts(folder / "audio.wav").frames
        assert missing_at_the_end(recorder, killed_at, wav_facts(folder / "audio.wav").duration) <= 0.2


def test_the_microphone_is_closed_when_its_recorder_was_killed(start: Start) -> None:
    recorder = start()
    recorder.wait_for(Level)
    [microphone_process] = psutil.Process(recorder.process.pid).children()
    recorder.process.kill()
    microphone_process.wait(5)


def test_full_parts_follow_each_other_without_a_gap(start: Start, microphone: VirtualMicrophone, babble: Path) -> None:
    recorder = start("--part-bytes", "300000")
    recorder.wait_for(Level)
    player = microphone.play(babble)
    recorder.wait_for(Level, lambda level: level.at > 6000)
    recorder.tell(Stop())
    recorder.end()
    player.kill()
    player.wait()
    facts, folder = read_facts(recorder.folder()), recorder.folder()
    assert len(facts.parts) >= 3
    assert all((folder / part.file).stat().st_size <= 300_000 for part in facts.parts)
    parts = [mono(folder / part.file) for part in facts.parts]
    assert [part.start for part in facts.parts[1:]] == pytest.approx(
        list(np.cumsum([len(part) / RATE * 1000 for part in parts])[:-1]), abs=len(parts)
    )
    whole = np.concatenate(parts)
    borders = np.cumsum([len(part) for part in parts])[:-1]  # across each it goes on as it was played
    alike = [likeness(mono(babble), whole[at - RATE // 10 : at + RATE // 10]) > 0.9 for at in borders]
    assert alike.count(True) >= len(alike) - 1  # a busy machine's player may stumble


def test_a_pause_takes_no_time_of_the_recording(start: Start) -> None:
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 500)
    recorder.tell(Pause())
    time.sleep(1.5)
    recorder.tell(Resume())
    resumed = time.monotonic()
    recorder.wait_for(Level, lambda level: level.at > 1200)
    assert time.monotonic() - resumed < 1.2
    recorder.tell(Stop())
    assert recorder.end().ms < 2500
    [gap] = read_facts(recorder.folder()).gaps
    assert (gap.why, gap.end - gap.start) == ("paused", 0)


@pytest.mark.parametrize("how", ["end of input", "SIGTERM"])
def test_a_recorder_whose_window_is_gone_closes_its_file(start: Start, how: str) -> None:
    recorder = start()
    recorder.wait_for(Level)
    assert recorder.process.stdin
    if how == "SIGTERM":
        recorder.process.send_signal(signal.SIGTERM)
    else:
        recorder.process.stdin.close()
    assert recorder.end().ms > 0
    assert read_facts(recorder.folder()).state == "stopped"


def test_a_microphone_that_gives_only_zeros_is_told_after_two_seconds(start: Start) -> None:
    recorder = start()
    assert recorder.wait_for(Silent).at == pytest.approx(2000, abs=300)
    assert {level.peak for level in recorder.of(Level)} == {-100.0}


def test_the_light_is_on_for_speech_and_not_for_noise(
    start: Start, microphone: VirtualMicrophone, speak: Callable[..., Path], babble: Path
) -> None:
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 1500)  # the detector is loaded
    player = microphone.play(babble)
    recorder.wait_for(Level, lambda level: level.at > 4000)
    assert not any(level.hears_speech for level in recorder.of(Level))
    player.kill()
    player.wait()
    player = microphone.play(speak("Good morning everyone, and welcome to the first meeting of the year."))
    recorder.wait_for(Level, lambda level: level.hears_speech and level.peak > -40)
    player.wait()


def test_levels_come_at_most_thirty_times_a_second(start: Start) -> None:
    recorder = start()
    recorder.wait_for(Level)
    first = recorder.events[-1][0]
    recorder.wait_for(Level, lambda level: level.at > 3000)
    levels = recorder.of(Level)
    assert 10 < len(levels) / (recorder.events[-1][0] - first) <= 30
    assert levels[-1].free_minutes > 0


def test_a_full_disk_stops_the_recording_and_keeps_what_was_written(start: Start, tmp_path: Path) -> None:
    disk = tmp_path / "small"
    disk.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    try:
        recorder = start(data=disk)
        assert recorder.wait_for(Failed).code == "disk_full"
        stopped = recorder.end()
        assert recorder.process.returncode == 1
        assert stopped.ms > 4000
        unfinished(disk)  # there may have been no room to say that it has ended
        assert len(mono(recorder.folder() / "audio.wav")) == pytest.approx(stopped.ms * RATE / 1000, abs=RATE / 100)
        recorder.close()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_without_a_microphone_there_is_an_error_and_no_recording(start: Start, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.conf"  # ALSA takes no spaces
    nothing.write_text("pcm.nothing { type hw card 99 }\n")
    for arguments, env in (((), {"ALSA_CONFIG_PATH": str(nothing)}), (("--device", "moon"), {})):
        recorder = start(*arguments, env=env)
        failed = recorder.wait_for(Failed)
        assert failed.code == "no_microphone", failed.detail
        assert recorder.process.wait(10) == 1
        assert not (tmp_path / "recordings").exists()


def test_a_sound_server_that_is_gone_is_an_error_and_no_traceback(start: Start, tmp_path: Path) -> None:
    recorder = start(env={"PULSE_SERVER": "unix:/nowhere"})
    assert recorder.wait_for(Failed).code in ("microphone_refused", "no_microphone")
    assert recorder.process.wait(10) == 1


def test_one_channel_of_the_microphone_can_be_chosen(start: Start) -> None:
    recorder = start("--channel", "2")
    opened = recorder.wait_for(Opened)
    recorder.wait_for(Level)
    recorder.tell(Stop())
    recorder.end()
    assert opened.channels == wav_facts(recorder.folder() / "audio.wav").channels == 1
