"""SIGKILL of each process that has to do with a recording, at random times: the sound is there, and it is offered.

`make torture` kills each of them 50 times; an ordinary run six in all.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from engine.audio.wav import WAV_HEADER_BYTES
from engine.errors import EngineError
from engine.folders import library_file, models_folder
from engine.library import Entry, Library
from engine.recording import RecordingFacts, is_living, read_facts, recordings_folder
from tests.ear import RATE, Ear
from tests.torture.conftest import KILLS, VICTIMS
from tests.virtual_mic import VirtualMicrophone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the virtual microphone is PulseAudio's")

# Of a killed microphone all is missing until another one has started: a fifth of a second, unless the machine is busy.
MOST_MISSING_S = {"window": 0.5, "recorder": 0.5, "worker": 0.5, "microphone": 1.5}
MOST_SHIFT_S = 0.25  # between what was said before a gap and behind it
PIECE = RATE // 20

# The real program, which records as if somebody had clicked as soon as the window is there.
RECORD = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.__main__ import main
from app.main_window import MainWindow
run = QApplication.exec
def record():
    next(w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)).desk.toggle()
def run_and_record(*_):
    QTimer.singleShot(0, record)
    return run()
QApplication.exec = run_and_record
sys.exit(main(sys.argv[1:]))
"""


class Session:
    """A window that records what is said, with scripted words."""

    def __init__(self, data: Path, microphone: VirtualMicrophone) -> None:
        self.data = data
        (models_folder(data) / "ggml-none.bin").write_bytes(b"x")  # as if a model were there
        (data / "settings.json").write_text(json.dumps({"backend": "fake"}))
        environment = {"QT_QPA_PLATFORM": "offscreen", "SOTTOVOCE_FAKE": json.dumps({"text": "Words."})}
        self.env = os.environ | microphone.env | environment
        self.window = self.start("-c", RECORD)
        self._family: list[psutil.Process] = []

    def start(self, *how: str) -> subprocess.Popen[bytes]:
        """A window of this data folder."""
        nowhere = subprocess.DEVNULL
        command = [sys.executable, *how, "--data-dir", str(self.data)]
        return subprocess.Popen(command, stdout=nowhere, stderr=nowhere, env=self.env)

    @property
    def folder(self) -> Path:
        """The one recording."""
        [folder] = recordings_folder(self.data).iterdir()
        return folder

    @property
    def facts(self) -> RecordingFacts:
        return read_facts(self.folder)

    def wait_for_sound(self) -> None:
        """Until there is more in the file than its header."""

        def is_there() -> bool:
            files = list(recordings_folder(self.data).glob("*/audio.wav"))
            return bool(files) and files[0].stat().st_size > WAV_HEADER_BYTES

        wait_until(is_there)

    def processes(self, word: str) -> list[psutil.Process]:
        """Those of the window's children, and theirs, that serve this verb."""
        family = psutil.Process(self.window.pid).children(recursive=True)
        self._family = list({*self._family, *family})
        found: list[psutil.Process] = []
        for process in family:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                found += [process] if word in process.cmdline() else []
        return found

    def kill(self, victim: str) -> None:
        victims = self.processes(victim) if victim != "window" else [psutil.Process(self.window.pid)]
        assert victims
        for process in victims:
            process.kill()

    def stop(self) -> None:
        """Let the recorder close the recording."""
        for process in self.processes("recorder"):
            process.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_living(self.folder))

    def entry(self) -> Entry | None:
        """What the library has of it."""
        try:
            library = Library.open(library_file(self.data), writable=False)
        except EngineError:
            return None
        found = [entry for entry in library.entries() if entry.source == os.fsencode(self.folder)]
        library.close()
        return found[0] if found else None

    def close(self) -> None:
        """Kill the window; its children end by themselves."""
        if self.window.poll() is None:
            self.processes("recorder")
            self.window.kill()
        self.window.wait()
        _gone, alive = psutil.wait_procs(self._family, timeout=10)
        assert not alive, "they outlived the window"


@pytest.fixture
def session(tmp_path: Path, microphone: VirtualMicrophone, ear: Ear) -> Iterator[Session]:
    session = Session(tmp_path / "data", microphone)
    yield session
    session.close()


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_process_costs_a_moment_of_sound_at_most(
    session: Session, ear: Ear, number: int, record_property: Callable[[str, object], None]
) -> None:
    victim = VICTIMS[number % len(VICTIMS)]
    session.wait_for_sound()
    time.sleep(float(np.random.default_rng().uniform(0, 2.5)))
    audible_until = len(ear.heard())
    session.kill(victim)
    if victim in ("worker", "microphone"):
        time.sleep(1.5)
        audible_until = len(ear.heard())
        session.stop()
    if victim == "worker":  # what it had not written down, its successor does
        wait_until(lambda: (entry := session.entry()) is not None and entry.state == "done")
    wait_until(lambda: not is_living(session.folder))
    session.close()
    assert is_offered_at_the_next_start(session)
    assert session.facts.state in ("stopped", "recovered")
    assert [gap.why for gap in session.facts.gaps] == (["lost"] if victim == "microphone" else [])
    missing = missing_seconds(whole(session), ear.heard(), audible_until)
    record_property(victim, missing)
    assert missing <= MOST_MISSING_S[victim]


def is_offered_at_the_next_start(session: Session) -> bool:
    """With its words, or to be transcribed on a click."""
    window = session.start("-m", "app")
    try:
        wait_until(lambda: (entry := session.entry()) is not None and entry.state in ("interrupted", "done"))
    finally:
        window.kill()
        window.wait()
    return True


def whole(session: Session) -> np.ndarray:
    """What a program that knows nothing of us reads from the file."""
    [part] = session.facts.parts
    with wave.open(str(session.folder / part.file), "rb") as file:
        assert file.getframerate() == RATE
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
    return sound.astype(np.float64).mean(axis=1)


def missing_seconds(recorded: np.ndarray, heard: np.ndarray, until: int) -> float:
    """What was audible from the first recorded moment until then, and is not in the recording at its place."""
    places: dict[int, int] = {}  # where pieces of the recording were heard
    ahead = 0
    for start in range(0, len(recorded) - PIECE, PIECE):
        place = place_of(recorded[start : start + PIECE], heard, start + ahead)
        if place is not None:
            places[start], ahead = place, place - start
    assert places, "nothing of what was said"
    shifts = [place - start for start, place in places.items()]
    assert max(shifts) - min(shifts) <= MOST_SHIFT_S * RATE, "later sound is not at its place"
    recorded_until_then = sum(PIECE for place in places.values() if place + PIECE <= until)
    return (until - min(places.values()) - recorded_until_then) / RATE


def place_of(piece: np.ndarray, heard: np.ndarray, likely: int) -> int | None:
    """Where this was heard."""
    if not piece.any():
        return None
    size = len(piece) + len(heard)
    if is_there(piece, heard, likely):
        return likely
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(piece, size)), size)
    best = int(np.argmax(product[: len(heard) - len(piece)]))
    return best if is_there(piece, heard, best) else None


def is_there(piece: np.ndarray, heard: np.ndarray, place: int) -> bool:
    there = heard[max(0, place) : place + len(piece)]
    return len(there) == len(piece) and bool(there.any()) and float(np.corrcoef(there, piece)[0, 1]) > 0.9


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
