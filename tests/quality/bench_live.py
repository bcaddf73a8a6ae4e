"""`make bench-live`: how long after they are spoken words show, and how long after an utterance its final text comes.

A recording is written to a folder as fast as it was spoken, as the recorder does, and a worker listens. A provisional
word counts from its end in the file (forced alignment) to the first event that shows it and after which it stays; the
final text from the end of an utterance's last word to the event that settles it.

Exits with 1 when a median is above its limit.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

import numpy as np
from forced_alignment import aligned_recording, samples_of
from recordings import Recording, recordings
from timed import Timed, words_of

from engine.audio.wav import WavWriter
from engine.child import EngineProcess
from engine.folders import data_folder, models_folder
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore
from engine.protocol import Event, Failed, Listen, Partial, Progress, SegmentEvent
from engine.recording import Part, RecordingFacts, State, write_facts
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS, Options

_STEP_MS = 100  # as often as the recorder writes
_SILENCE_MS = 1_500  # behind the recording, so that its last pause is one
_LIMITS = {"onnx": (1.0, 1.2), "tract": (1.0, 1.2), "whispercpp": (2.5, 3.0)}  # seconds: provisional, final
_DEFAULT = ("en_LJ001-0001.wav", "en_librispeech_mrquilter.wav", "en_jfk_44k_stereo.flac")


@dataclass(frozen=True, slots=True)
class Shown:
    """What is on the screen after an event: final words and, behind them, provisional ones."""

    at: float  # s after the first sample was spoken
    words: list[str]
    settled: int  # how many of the words are final


@dataclass(slots=True)
class Delays:
    """In seconds."""

    provisional: list[float] = field(default_factory=list[float])
    final: list[float] = field(default_factory=list[float])
    found: int = 0
    words: int = 0


def main() -> int:
    """Print the delays of each recording and of all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="onnx", choices=_LIMITS)
    parser.add_argument("--model", default="base")
    parser.add_argument("--language", default="en", help="auto: the first words wait until it is found")
    parser.add_argument("files", nargs="*", default=_DEFAULT, help="of ../shared/audio/speech; English ones")
    arguments = parser.parse_args()
    data = data_folder()
    ensure_starter(ModelStore(models_folder(data)))
    options = Options(model=arguments.model, backend=arguments.backend, language=arguments.language)
    chosen = [recording for recording in recordings() if recording.path.name in arguments.files]
    engine, pooled = EngineProcess(data), Delays()
    print(f"{arguments.model}, {arguments.backend}{'':<22}words   provisional: median, 9 in 10   final: the same")
    try:
        for recording in chosen:
            delays = _delays(_heard(engine, recording, options), aligned_recording(recording))
            _print(recording.path.name, delays)
            pooled.provisional += delays.provisional
            pooled.final += delays.final
            pooled.found += delays.found
            pooled.words += delays.words
    finally:
        engine.close()
    _print("all", pooled)
    limits = _LIMITS[arguments.backend]
    medians = (median(pooled.provisional), median(pooled.final))
    for name, limit, found in zip(("provisional", "final"), limits, medians, strict=True):
        print(f"{name}: median {found:.2f} s of at most {limit} s: {'holds' if found <= limit else 'NO'}")
    return 0 if all(found <= limit for found, limit in zip(medians, limits, strict=True)) else 1


def _heard(engine: EngineProcess, recording: Recording, options: Options) -> list[Shown]:
    """What was on the screen, event by event, while the recording was spoken."""
    sound = np.pad(samples_of(recording.path), (0, _SILENCE_MS * SAMPLES_PER_MS))
    with tempfile.TemporaryDirectory() as folder:
        list(engine.events(_warm_up(Path(folder) / "first", options)))  # the model is in memory when Record is pressed
        target = Path(folder) / "recording"
        wav = _begun(target)
        began = time.monotonic()
        writer = threading.Thread(target=_write, args=[wav, sound, began])
        writer.start()
        arrived: list[tuple[float, Event]] = []
        for event in engine.events(Listen(2, os.fsencode(target), options)):
            arrived.append((time.monotonic() - began, event))
            if isinstance(event, Failed):
                raise SystemExit(f"{recording.path.name}: {event.code} {event.detail}")
        writer.join()
    return _screens(arrived)


def _screens(arrived: Sequence[tuple[float, Event]]) -> list[Shown]:
    screens: list[Shown] = []
    final: list[str] = []
    for at, event in arrived:
        match event:
            case SegmentEvent():
                final += words_of(event.segment.text)
            case Partial():
                screens.append(Shown(at, final + words_of(event.firm + event.text), len(final)))
            case Progress(stage="transcribing"):
                screens.append(Shown(at, list(final), len(final)))
            case _:
                pass
    return screens


def _delays(screens: Sequence[Shown], truth: Sequence[Timed]) -> Delays:
    """The delays of the words that are in the final text and whose place is known."""
    texts = [word.text for word in truth]
    matches = [_matches(texts, screen.words) for screen in screens]
    delays = Delays(found=len(matches[-1]), words=len(truth))
    for place in matches[-1]:
        shown = len(screens)
        while shown and place in matches[shown - 1]:
            shown -= 1
        if truth[place].known:
            delays.provisional.append(screens[shown].at - truth[place].end / 1000)
    before = 0
    for screen in screens:
        settled = [place for place, at in matches[-1].items() if before <= at < screen.settled]
        before = screen.settled
        if settled and truth[max(settled)].known:
            delays.final.append(screen.at - truth[max(settled)].end / 1000)
    return delays


def _matches(truth: list[str], shown: list[str]) -> dict[int, int]:
    """Of each true word that is shown, its place in the truth and its place among what is shown."""
    blocks = difflib.SequenceMatcher(None, truth, shown, autojunk=False).get_matching_blocks()
    return {block.a + i: block.b + i for block in blocks for i in range(block.size)}


def _warm_up(folder: Path, options: Options) -> Listen:
    wav = _begun(folder)
    _write(wav, np.zeros(SAMPLE_RATE, np.float32), 0.0)
    return Listen(1, os.fsencode(folder), options)


def _begun(folder: Path) -> WavWriter:
    folder.mkdir()
    _say(folder, "recording")
    return WavWriter(folder / "audio.wav", SAMPLE_RATE, 1)


def _write(wav: WavWriter, sound: np.ndarray, began: float) -> None:
    """Write each step when it has been spoken."""
    step = _STEP_MS * SAMPLES_PER_MS
    pcm = np.round(np.clip(sound, -1, 1) * 32767).astype(np.int16)[:, None]
    for at in range(0, len(pcm), step):
        time.sleep(max(0.0, began + (at + step) / SAMPLE_RATE - time.monotonic()))
        wav.append(pcm[at : at + step])
    wav.close()
    _say(wav.path.parent, "stopped")


def _say(folder: Path, state: State) -> None:
    write_facts(folder, RecordingFacts("bench", 0, "bench", state, (Part("audio.wav", SAMPLE_RATE, 1, 0),)))


def _print(name: str, delays: Delays) -> None:
    def figures(seconds: list[float]) -> str:
        nine = quantiles(seconds, n=10)[-1] if len(seconds) > 1 else seconds[0]
        return f"{median(seconds):.2f} s, {nine:.2f} s ({len(seconds)})"

    print(
        f"{name:<34} {delays.found:>3}/{delays.words:<3}  {figures(delays.provisional):<26}  {figures(delays.final)}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
