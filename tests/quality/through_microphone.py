"""Recordings through a virtual microphone and the real recorder into a worker that listens; what that costs in words.

`make mic-errors` plays all of ../shared/audio/speech (in real time: some 15 minutes) and compares the words with those
of the same files from the disk. Exits with 1 when the pooled error rate is more than a point higher, or when a first
or last word is missing that is there from the disk.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
import wave
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Self

import numpy as np
import psutil
from forced_alignment import samples_of
from live_report import MicErrors, keep
from machine import this_machine
from recordings import Recording, recordings
from runs import ours
from score import Score, score, units

from engine.child import EngineProcess
from engine.folders import data_folder, models_folder
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore
from engine.protocol import Event, Failed, Listen, Partial, Progress, SegmentEvent
from engine.recorder_protocol import Level, Stop
from engine.types import SAMPLE_RATE, Options
from tests.engine.recorder_process import RecorderProcess
from tests.virtual_mic import VirtualMicrophone

_SILENCE_S = 1.5  # behind the recording, so that its last pause is one
_WORSE = 0.01  # so much may the error rate be above that from the disk
_PULSE_S = 0.05
_EDGE_WORDS = 3
_ALIKE = 0.7  # difflib's ratio


@dataclass
class Heard:
    """What came of one recording."""

    events: list[tuple[float, Event]] = field(default_factory=list[tuple[float, Event]])  # s since the player's start
    recorded: int = 0  # ms

    @property
    def text(self) -> str:
        """All stored words."""
        return " ".join(event.segment.text for _, event in self.events if isinstance(event, SegmentEvent))

    @property
    def unheard(self) -> int:
        """How much of the recording was not settled at the end, in ms."""
        settled = [e.done for _, e in self.events if isinstance(e, Progress) and e.stage == "transcribing"]
        return max(0, self.recorded - max(settled, default=0))

    @property
    def drafts(self) -> int:
        """How often provisional words came."""
        return sum(isinstance(event, Partial) for _, event in self.events)

    @property
    def most_behind(self) -> int:
        """How far the words were behind the sound at most, in ms."""
        listening = [e for _, e in self.events if isinstance(e, Progress) and e.stage == "listening"]
        return max((e.total - e.done for e in listening if e.total is not None), default=0)


class Booth:
    """A microphone, and a worker that is warm."""

    def __init__(self, options: Options, slower: int = 1) -> None:
        self._data = data_folder()
        ensure_starter(ModelStore(models_folder(self._data)))
        self._options = options
        self._folder = tempfile.TemporaryDirectory()
        self._microphone = VirtualMicrophone()
        self.engine = EngineProcess(self._data)
        self._over = threading.Event()
        self._brake = threading.Thread(target=self._hold_up, args=[slower])

    def __enter__(self) -> Self:
        self._play(np.zeros(SAMPLE_RATE, np.float32))  # the model is in memory when Record is pressed
        self._brake.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._brake.join()
        self.engine.close()
        self._microphone.close()
        self._folder.cleanup()

    def play(self, path: Path) -> Heard:
        """A whole recording, and what was heard of it."""
        return self._play(samples_of(path))

    def _play(self, sound: np.ndarray) -> Heard:
        file = Path(self._folder.name) / "played.wav"
        _write(file, sound)
        recorder = RecorderProcess(self._microphone.env, Path(self._folder.name))
        folder = recorder.folder()
        recorder.wait_for(Level)
        heard, began = Heard(), time.monotonic()
        player = self._microphone.play(file)

        def stop() -> None:
            player.wait()
            time.sleep(_SILENCE_S)
            recorder.tell(Stop())

        stopper = threading.Thread(target=stop)
        stopper.start()
        for event in self.engine.events(Listen(1, os.fsencode(folder), self._options)):
            heard.events.append((time.monotonic() - began, event))
            if isinstance(event, Failed):
                raise SystemExit(f"{event.code} {event.detail}")
        stopper.join()
        heard.recorded = recorder.end().ms
        recorder.close()
        return heard

    def _hold_up(self, slower: int) -> None:
        """Let the worker run one pulse in `slower`."""
        while slower > 1 and not self._over.wait(_PULSE_S):
            with suppress(psutil.NoSuchProcess):  # one that has just ended
                for worker in (child for child in psutil.Process().children() if "worker" in child.cmdline()):
                    worker.send_signal(signal.SIGSTOP)
                    time.sleep(_PULSE_S * (slower - 1))
                    worker.send_signal(signal.SIGCONT)


def _write(file: Path, sound: np.ndarray) -> None:
    with wave.open(str(file), "wb") as wav:
        wav.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        wav.writeframes(np.round(np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())


def main() -> int:
    """Print the errors of each recording both ways, and of all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="onnx")
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--longest", type=float, default=300.0, help="leave out what is longer, in seconds")
    arguments = parser.parse_args()
    options = Options(model="base", backend=arguments.backend)
    chosen = [one for one in recordings() if arguments.only in one.path.name and one.seconds <= arguments.longest]
    disk, microphone, missing, machine = Score(), Score(), list[str](), this_machine()
    with Booth(options) as booth:
        for recording in chosen:
            texts = ours(booth.engine, recording.path, options).text, booth.play(recording.path).text
            one, other = (score(text, recording.reference, recording.scored_as) for text in texts)
            lost = _lost_edges(recording, *texts)
            missing += [f"“{word}” of {recording.path.name}" for word in lost]
            disk, microphone = disk + one, microphone + other
            print(
                f"{recording.path.name:<44}{one.errors:>4}{other.errors:>5} of {one.units:<5}{lost or ''}", flush=True
            )
    more = microphone.rate - disk.rate
    print(f"{'all':<44}{disk.errors:>4}{microphone.errors:>5} of {disk.units}: {more * 100:+.2f} points (at most +1.0)")
    print(f"first and last words that are missing: {', '.join(missing) or 'none'}")
    if not arguments.only and len(chosen) == len(recordings()):
        keep(arguments.backend, MicErrors(machine, len(chosen), disk, microphone, missing))
    return 1 if more > _WORSE or missing else 0


def _lost_edges(recording: Recording, disk: str, microphone: str) -> list[str]:
    """The first or last word of the reference, where it is said from the disk and not through the microphone.

    It is there when it stands, spelt nearly so, among the first or last words.
    """
    wanted, whole, heard = (units(text, recording.scored_as) for text in (recording.reference, disk, microphone))
    edges = ((wanted[:1], whole[:1], heard[:_EDGE_WORDS]), (wanted[-1:], whole[-1:], heard[-_EDGE_WORDS:]))
    return [
        word[0]
        for word, before, now in edges
        if word and before == word and not get_close_matches(word[0], now, cutoff=_ALIKE)
    ]


if __name__ == "__main__":
    sys.exit(main())
