"""A recording that is written down while it grows: every word once, whatever the pace."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from engine.audio.media import open_media
from engine.backends.fake import VARIABLE, Fake
from engine.child import EngineProcess
from engine.errors import Code, EngineError
from engine.live import live
from engine.protocol import Done, Event, Language, Listen, Partial, Progress, SegmentEvent
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS, Options
from engine.warm_model import WarmModel
from tests.engine.recorders import ScriptedRecorder

FIRST = "People are sitting at the table in the kitchen this morning."
SECOND = "Nobody has seen the green bicycle since yesterday evening."
TINY = Options(model="tiny.en", backend="onnx", words=True)
FAKE = Options(backend="fake")

_T = TypeVar("_T")


def of(events: Sequence[Event], kind: type[_T]) -> list[_T]:
    return [event for event in events if isinstance(event, kind)]


def text_of(events: Sequence[Event]) -> str:
    text = " ".join(event.segment.text for event in of(events, SegmentEvent)).lower()
    return " ".join(re.findall(r"[a-z']+", text))


def asked(folder: Path, options: Options, resume_at: int = 0) -> Listen:
    return Listen(1, os.fsencode(folder), options, resume_at)


@pytest.fixture(scope="module")
def two(speak: Callable[..., Path]) -> np.ndarray:
    """Two sentences with 1.5 s between them, and silence around."""

    def samples(sentence: str) -> np.ndarray:
        with open_media(speak(sentence)) as media:
            return np.concatenate([block.samples for block in media.blocks()])

    def pause(seconds: float) -> np.ndarray:
        return np.random.default_rng(0).normal(0, 1e-3, int(seconds * SAMPLE_RATE)).astype(np.float32)

    return np.concatenate([pause(1), samples(FIRST), pause(1.5), samples(SECOND), pause(1)])


@pytest.fixture(scope="module")
def model(data_with_models: Path) -> Iterator[WarmModel]:
    model = WarmModel(data_with_models)
    list(model.load(0, TINY))
    yield model
    model.close()


@pytest.fixture
def recorder(tmp_path: Path) -> ScriptedRecorder:
    return ScriptedRecorder(tmp_path / "recording", SAMPLE_RATE)


@pytest.fixture(scope="module")
def spoken(two: np.ndarray, model: WarmModel, tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """What is said of the two sentences as they are spoken."""
    recorder = ScriptedRecorder(tmp_path_factory.mktemp("live") / "recording", SAMPLE_RATE)
    thread = recorder.in_background(two, 1.0)
    events = list(live(asked(recorder.folder, TINY), model))
    thread.join()
    return events


def test_all_words_of_a_growing_recording_come_once(spoken: list[Event]) -> None:
    text = text_of(spoken)
    assert text.startswith("people")
    assert text.endswith("evening")
    assert [text.count(word) for word in ("people", "kitchen", "nobody", "bicycle", "evening")] == [1] * 5


def test_words_show_before_their_sentence_is_over(spoken: list[Event]) -> None:
    first_segment = next(i for i, event in enumerate(spoken) if isinstance(event, SegmentEvent))
    before = [f"{event.firm} {event.text}".lower() for event in of(spoken[:first_segment], Partial)]
    assert any("table" in words for words in before)


def test_firm_words_are_never_taken_back(spoken: list[Event]) -> None:
    firm: dict[int, str] = {}
    for event in of(spoken, Partial):
        assert event.firm.startswith(firm.get(event.start, ""))
        firm[event.start] = event.firm
    assert len(firm) == 2
    assert all(len(words.split()) >= 4 for words in firm.values())


def test_times_are_those_of_the_recording(spoken: list[Event], two: np.ndarray) -> None:
    first, *_, last = of(spoken, SegmentEvent)
    length = len(two) // SAMPLES_PER_MS
    assert 800 <= first.segment.start <= 1300
    assert length - 2000 <= last.segment.end <= length
    starts = [word.start for event in of(spoken, SegmentEvent) for word in event.segment.words]
    assert starts == sorted(starts)
    assert len(starts) >= 18


def test_it_ends_with_all_of_the_recording(spoken: list[Event], two: np.ndarray) -> None:
    done = spoken[-1]
    assert isinstance(done, Done)
    assert (done.outcome, done.duration) == ("text", len(two) // SAMPLES_PER_MS)
    *_, settled = [event for event in of(spoken, Progress) if event.stage == "transcribing"]
    assert settled.done == settled.total == done.duration


def test_the_last_words_before_the_stop_are_written_down(
    two: np.ndarray, model: WarmModel, recorder: ScriptedRecorder
) -> None:
    recorder.write(two[: len(two) - int(1.15 * SAMPLE_RATE)])  # espeak's own silence goes, too
    recorder.stop()
    events = list(live(asked(recorder.folder, TINY), model))
    assert text_of(events).endswith("evening")


def test_silence_and_noise_give_no_text(model: WarmModel, recorder: ScriptedRecorder) -> None:
    noise = np.random.default_rng(1).normal(0, 0.01, 20 * SAMPLE_RATE)
    recorder.write(np.concatenate([np.zeros(10 * SAMPLE_RATE), noise]))
    recorder.stop()
    events = list(live(asked(recorder.folder, TINY), model))
    assert not of(events, SegmentEvent)
    assert not of(events, Partial)
    assert isinstance(events[-1], Done)
    assert events[-1].outcome == "no_speech"


def test_a_job_that_goes_on_starts_behind_what_is_settled(
    two: np.ndarray, model: WarmModel, recorder: ScriptedRecorder
) -> None:
    recorder.write(two)
    recorder.stop()
    whole = list(live(asked(recorder.folder, TINY), model))
    settled = next(event.done for event in of(whole, Progress) if event.stage == "transcribing")
    rest = list(live(asked(recorder.folder, TINY, settled), model))
    cut = [event.segment for event in of(whole, SegmentEvent) if event.segment.start >= settled]
    assert [event.segment.text for event in of(rest, SegmentEvent)] == [segment.text for segment in cut]
    assert all(abs(e.segment.start - s.start) < 100 for e, s in zip(of(rest, SegmentEvent), cut, strict=True))


def test_speech_without_a_pause_is_cut_before_thirty_seconds_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recorder: ScriptedRecorder
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps({"text": "w"}))
    recorder.write(np.random.default_rng(2).normal(0, 0.1, 100 * SAMPLE_RATE))
    recorder.stop()
    events = list(live(asked(recorder.folder, Options(backend="fake", vad=False)), WarmModel(tmp_path)))
    segments = [event.segment for event in of(events, SegmentEvent)]
    assert all(segment.end - segment.start <= 30_000 for segment in segments)
    assert (segments[0].start, segments[-1].end) == (0, 100_000)
    assert all(a.end == b.start for a, b in pairwise(segments))


def test_a_slow_engine_says_how_far_it_is_behind_and_makes_no_drafts_meanwhile(
    monkeypatch: pytest.MonkeyPatch, two: np.ndarray, tmp_path: Path, recorder: ScriptedRecorder
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps({"window_ms": 1200, "text": "w{window}"}))
    sound = np.tile(two, 3)
    thread = recorder.in_background(sound, 8.0)
    events = list(live(asked(recorder.folder, FAKE), WarmModel(tmp_path)))
    thread.join()
    behind = [event.total - event.done for event in of(events, Progress) if event.stage == "listening" and event.total]
    assert max(behind) > 5_000
    assert len(of(events, SegmentEvent)) == 6
    assert len(of(events, Partial)) <= 6
    assert isinstance(events[-1], Done)
    assert events[-1].duration == len(sound) // SAMPLES_PER_MS


def test_drafts_come_at_most_every_300_ms_and_fewer_when_one_takes_longer(
    monkeypatch: pytest.MonkeyPatch, two: np.ndarray, tmp_path: Path
) -> None:
    def pace(name: str, window_ms: int) -> float:
        monkeypatch.setenv(VARIABLE, json.dumps({"window_ms": window_ms, "text": "w{window}"}))
        recorder = ScriptedRecorder(tmp_path / name, SAMPLE_RATE)
        thread = recorder.in_background(two[: 4 * SAMPLE_RATE], 1.0)
        came = [
            time.monotonic()
            for event in live(asked(recorder.folder, Options(backend="fake", language="en")), WarmModel(tmp_path))
            if isinstance(event, Partial)
        ]
        thread.join()
        assert len(came) > 2
        return float(np.median(np.diff(came)))

    assert 0.29 <= pace("fast", 0) <= 0.45
    assert 0.59 <= pace("slow", 600) <= 0.8


def test_the_language_is_found_once(
    monkeypatch: pytest.MonkeyPatch, two: np.ndarray, tmp_path: Path, recorder: ScriptedRecorder
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps({}))
    recorder.write(two)
    recorder.stop()
    events = list(live(asked(recorder.folder, FAKE), WarmModel(tmp_path)))
    assert of(events, Language) == [Language(1, "en", 1.0)]
    assert len(of(events, SegmentEvent)) == 2


def test_who_changes_the_language_clearly_is_followed(
    monkeypatch: pytest.MonkeyPatch, two: np.ndarray, tmp_path: Path, recorder: ScriptedRecorder
) -> None:
    found = iter([("en", 0.6), ("de", 0.9), ("fr", 0.5), ("en", 0.9)])
    monkeypatch.setattr(Fake, "detect_language", lambda *_: next(found))
    recorder.write(np.tile(two, 2))
    recorder.stop()
    events = list(live(asked(recorder.folder, FAKE), WarmModel(tmp_path)))
    assert [event.segment.language for event in of(events, SegmentEvent)] == ["en", "de", "de", "en"]
    assert of(events, Language) == [Language(1, "en", 0.6)]


def test_a_folder_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as raised:
        list(live(asked(tmp_path, FAKE), WarmModel(tmp_path)))
    assert raised.value.code is Code.NOT_FOUND


def test_a_worker_listens(two: np.ndarray, tmp_path: Path, recorder: ScriptedRecorder) -> None:
    thread = recorder.in_background(two, 4.0)
    engine = EngineProcess(tmp_path)
    try:
        events = list(engine.events(asked(recorder.folder, FAKE)))
    finally:
        engine.close()
        thread.join()
    assert len(of(events, SegmentEvent)) == 2
    assert isinstance(events[-1], Done)
