"""An hour through recorder, microphone process and live worker, as fast as they take it: memory stays where it was.

The microphone is an ALSA device that reads a pipe, which is fed only as fast as the file on the disk grows and the
worker follows. An ordinary run takes five minutes of sound, `make torture` the hour.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import wave
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from engine.audio.wav import wav_facts
from engine.child import EngineProcess
from engine.protocol import Listen, Progress, SegmentEvent
from engine.recorder_protocol import Overflow, Stop
from engine.recording import read_facts
from engine.types import Options
from tests.ear import RATE
from tests.engine.recorder_process import RecorderProcess
from tests.torture.conftest import KILLS, ORDINARY_KILLS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the microphone is one of ALSA's")

MINUTES = 60 if KILLS > ORDINARY_KILLS else 5
CHANNELS = 2
SIZES_AT = (1, MINUTES)  # minutes of sound
AHEAD_S = 4  # of the disk: what may be on its way
WORKER_BEHIND_S = 20
MOST_GROWTH = 12_000_000  # bytes; the hour itself is 318 MB on the disk and twice that in the pipe
ALSA = """
pcm.!default {{ type file slave.pcm "null" file "/dev/null" infile "{pipe}" format "raw" }}
ctl.!default {{ type hw card 0 }}
"""


class Tape:
    """The same ten seconds again and again, into the pipe that the microphone reads."""

    def __init__(self, folder: Path, talk: Path) -> None:
        self._pipe = folder / "pipe"
        os.mkfifo(self._pipe)
        (folder / "asound.conf").write_text(ALSA.format(pipe=self._pipe))
        self.env = {"ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{folder / 'asound.conf'}"}
        with wave.open(str(talk), "rb") as file:
            sound = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            times = RATE // file.getframerate()
        self._ten_seconds = np.zeros((10 * RATE, CHANNELS), "<i2")
        spoken = np.repeat(sound, times)[: 8 * RATE]
        self._ten_seconds[: len(spoken)] = spoken[:, None]

    def play(self, taken: Callable[[], float], over: threading.Event) -> None:
        """Until it is over; never further ahead than allowed of what is `taken`, in seconds."""
        step, played = RATE // 20, 0
        pipe = os.open(self._pipe, os.O_RDWR | os.O_NONBLOCK)  # PortAudio opens and closes it at will
        while not over.wait(0 if played / RATE - taken() < AHEAD_S else 0.002):
            at = played % len(self._ten_seconds)
            rest = memoryview(self._ten_seconds[at : at + step].tobytes())
            while rest and not over.is_set():
                with suppress(BlockingIOError):
                    rest = rest[os.write(pipe, rest) :]
            played += step
        os.close(pipe)


@pytest.fixture
def recorder(tape: Tape, tmp_path: Path) -> Iterator[RecorderProcess]:
    started = RecorderProcess(tape.env, tmp_path, ("--channel=1",))
    yield started
    started.close()
    shutil.rmtree(tmp_path / "recordings")  # hundreds of MB


@pytest.fixture
def tape(tmp_path: Path, speak: Callable[..., Path]) -> Tape:
    return Tape(tmp_path, speak("Every sentence of this talk is as long as it has to be, and then it ends."))


def test_an_hour_takes_no_more_memory_than_its_first_minute(
    tape: Tape, recorder: RecorderProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:  # fmt: skip
    monkeypatch.setenv("SOTTOVOCE_FAKE", json.dumps({"text": "Words."}))
    file: list[Path] = []
    heard = 0  # by the worker, in ms

    def taken() -> float:
        return min(wav_facts(file[0]).frames / RATE, heard / 1000 + WORKER_BEHIND_S) if file else 0.0

    over = threading.Event()
    player = threading.Thread(target=tape.play, args=(taken, over))
    player.start()
    engine, segments, sizes = EngineProcess(tmp_path), 0, list[dict[str, int]]()
    try:
        file.append(recorder.folder() / "audio.wav")
        for event in engine.events(Listen(1, os.fsencode(recorder.folder()), Options(backend="fake", language="en"))):
            segments += isinstance(event, SegmentEvent)
            heard = event.done if isinstance(event, Progress) else heard
            if len(sizes) < 2 and heard > SIZES_AT[len(sizes)] * 60_000:
                sizes.append(memory_by_process())
                if len(sizes) == 2:
                    recorder.tell(Stop())
    finally:
        over.set()
        player.join()
    engine.close()
    early, late = sizes
    assert set(early) == {"recorder", "microphone", "worker"}
    growth = {name: late.get(name, 0) - early[name] for name in early}
    for name, size in early.items():
        record_property("memory", f"{name}: {size / 1e6:.0f} MB, {growth[name] / 1e6:+.1f} MB in {MINUTES} minutes")
    assert max(growth.values()) <= MOST_GROWTH, growth
    assert segments >= MINUTES * 6 - 1
    assert not recorder.of(Overflow)
    assert read_facts(recorder.folder()).gaps == ()


def memory_by_process() -> dict[str, int]:
    """Of our children and theirs, by their verb, in bytes."""
    family = psutil.Process().children(recursive=True)
    return {
        verb: child.memory_info().rss
        for child in family
        for verb in ("recorder", "microphone", "worker")
        if verb in child.cmdline()
    }
