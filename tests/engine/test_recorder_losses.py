"""A microphone that goes away, comes back, is changed or stumbles: one timeline, and nothing is hidden."""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from engine.audio.packets import Heard, OpenedPacket
from engine.audio.wav import wav_facts
from engine.recorder import Recorder
from engine.recorder_protocol import Device, Event, Gap, Level, Lost, Opened, Overflow, Stop, Stopped, encode
from engine.recording import read_facts
from engine.recording_writer import PART_BYTES
from tests.engine.recorder_process import RecorderProcess, Start
from tests.virtual_mic import VirtualMicrophone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the virtual microphone is PulseAudio's")


def seconds_until_now(recorder: RecorderProcess, since: float) -> float:
    return recorder.events[-1][0] - since


def least_delay(recorder: RecorderProcess, last: int = 1000) -> float:
    """Between what the recorder has written and the clock, in seconds from some moment; more when sound was lost."""
    return min(at - event.at / 1000 for at, event in recorder.events[-last:] if isinstance(event, Level))


def test_a_microphone_that_was_pulled_out_is_missed_within_a_second_and_found_again(
    start: Start, microphone: VirtualMicrophone
) -> None:
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 1000)
    microphone.unplug()
    unplugged = time.monotonic()
    lost = recorder.wait_for(Lost)
    assert seconds_until_now(recorder, unplugged) <= 1.5
    time.sleep(1.5)
    microphone.plug()
    gap = recorder.wait_for(Gap)
    assert recorder.events[-2][1] == recorder.of(Opened)[-1]
    assert (gap.start, gap.why) == (lost.at, "lost")
    assert gap.end - gap.start == pytest.approx(seconds_until_now(recorder, unplugged) * 1000, abs=500)
    recorder.wait_for(Level, lambda level: level.at > gap.end + 500)
    recorder.tell(Stop())
    stopped = recorder.end()
    facts = read_facts(recorder.folder())
    assert [(one.start, one.end, one.why) for one in facts.gaps] == [(gap.start, gap.end, "lost")]
    assert len(facts.parts) == 1  # the silence is in the file
    assert wav_facts(recorder.folder() / "audio.wav").duration == stopped.ms > gap.end


def test_a_sound_server_that_stands_still_is_noticed_within_a_second(
    start: Start, microphone: VirtualMicrophone
) -> None:
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 1000)
    microphone.pause_server()
    paused = time.monotonic()
    try:
        recorder.wait_for(Lost)
        assert seconds_until_now(recorder, paused) <= 1.6
    finally:
        microphone.resume_server()
    gap = recorder.wait_for(Gap)
    recorder.wait_for(Level, lambda level: level.at > gap.end)


def test_a_recording_whose_microphone_is_gone_can_be_stopped(start: Start, microphone: VirtualMicrophone) -> None:
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 500)
    microphone.unplug()
    recorder.wait_for(Lost)
    recorder.tell(Stop())
    assert recorder.end().ms > 500
    assert read_facts(recorder.folder()).state == "stopped"
    assert recorder.process.returncode == 0


def test_the_microphone_can_be_changed_while_recording(start: Start, microphone: VirtualMicrophone) -> None:
    microphone.plug("headset")
    microphone.make_default("mic")
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 500)
    recorder.tell(Device("headset"))
    gap = recorder.wait_for(Gap)
    assert recorder.of(Opened)[-1].device == "headset"
    assert gap.why == "switched"
    assert gap.end - gap.start < 3000
    recorder.wait_for(Level, lambda level: level.at > gap.end + 300)
    recorder.tell(Stop())
    recorder.end()
    assert read_facts(recorder.folder()).device == "headset"


def test_a_microphone_that_is_not_there_is_replaced_by_the_default_one(
    start: Start, microphone: VirtualMicrophone
) -> None:
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 500)
    recorder.tell(Device("moon"))
    recorder.wait_for(Gap)
    assert recorder.of(Opened)[-1].device == "default"
    recorder.tell(Stop())
    recorder.end()


def test_when_the_systems_default_changes_the_new_one_is_heard_at_once(
    start: Start, microphone: VirtualMicrophone, talk: Path
) -> None:
    microphone.plug("headset")
    microphone.make_default("mic")
    recorder = start()
    player = microphone.play(talk, "headset")
    recorder.wait_for(Level, lambda level: level.at > 1000)
    assert {level.peak for level in recorder.of(Level)} == {-100.0}
    microphone.make_default("headset")
    changed = time.monotonic()
    recorder.wait_for(Level, lambda level: level.peak > -60)
    assert seconds_until_now(recorder, changed) <= 1.5
    assert not recorder.of(Gap)  # the sound server moves the stream by itself
    player.kill()
    player.wait()


def test_a_microphone_whose_process_is_held_up_for_a_moment_loses_nothing(
    start: Start, microphone: VirtualMicrophone
) -> None:
    recorder = start()
    recorder.wait_for(Level, lambda level: level.at > 1000)
    before = least_delay(recorder)
    [process] = psutil.Process(recorder.process.pid).children()
    process.suspend()
    time.sleep(0.6)
    process.resume()
    recorder.wait_for(Level, lambda level: level.at > 3000)
    assert least_delay(recorder, last=20) - before < 0.1
    assert not recorder.of(Overflow)
    assert not recorder.of(Lost)


class Late:
    """In place of a microphone's process: the first one opens and ends without a sound, the next one hears."""

    number = 0

    def __init__(self, wanted: str | None, channel: int | None, take: Callable[[object], None]) -> None:
        Late.number += 1
        take((self, OpenedPacket("Late", 16_000, 1, None)))
        if Late.number > 1:
            take((self, Heard(np.zeros(1600, "<i2").tobytes(), overflow=False)))
            take(encode(Stop()))
        else:
            take((self, None))
        self.ask_to_stop = lambda: take((self, None))
        self.kill = lambda: None
        self.death = None


def test_a_microphone_that_ends_before_its_first_sound_leaves_no_more_than_that_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.recorder.MicrophoneProcess", Late)
    said: list[Event] = []
    assert recorder_with(tmp_path, said).run(None) == 0
    [gap] = [event for event in said if isinstance(event, Gap)]
    assert (gap.start, gap.why) == (0, "lost")
    assert gap.end < 2_000


def recorder_with(data: Path, said: list[Event]) -> Recorder:
    """One in this process, whose events are put into `said`."""
    return Recorder(data, None, queue.SimpleQueue(), SimpleNamespace(send=said.append), PART_BYTES)  # pyright: ignore[reportArgumentType]


class Stumbling:
    """In place of a microphone's process: one that lost sound twice.

    The virtual one cannot: its sound server keeps for seconds what nobody takes, as the test before shows.
    """

    def __init__(self, wanted: str | None, channel: int | None, take: Callable[[object], None]) -> None:
        sound = np.zeros(1600, "<i2").tobytes()
        take((self, OpenedPacket("Stumbling", 16_000, 1, None)))
        for overflow in (False, True, False, True):
            take((self, Heard(sound, overflow)))
        take(encode(Stop()))

        self.ask_to_stop = lambda: take((self, None))


def test_sound_that_the_system_lost_is_counted_and_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.recorder.MicrophoneProcess", Stumbling)
    said: list[Event] = []
    assert recorder_with(tmp_path, said).run(None) == 0
    assert [event for event in said if isinstance(event, Overflow)] == [Overflow(100, 1), Overflow(300, 2)]
    [stopped] = [event for event in said if isinstance(event, Stopped)]
    gaps = read_facts(Path(os.fsdecode(stopped.folder))).gaps
    assert [(gap.start, gap.end, gap.why) for gap in gaps] == [(100, 100, "overflow"), (300, 300, "overflow")]
