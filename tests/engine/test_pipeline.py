"""The whole pipeline with a real model: words, times, languages, going on after a cut, and files that will not do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import Code, EngineError
from engine.protocol import (
    Done,
    Event,
    Language,
    Loaded,
    Notice,
    Progress,
    SegmentEvent,
    Started,
    TimingsEvent,
    Transcribe,
)
from engine.transcribe import transcribe
from engine.types import Options, Segment
from engine.warm_model import WarmModel

TINY = Options(model="tiny.en", language="en", words=True)
SENTENCE = "Good morning everyone, and welcome to the first meeting of the year."
LONG = " ".join(f"This is sentence number {number} of a rather long talk about boats." for number in range(1, 22))
BACKENDS = ("whispercpp", "onnx")
Run = Callable[..., list[Event]]


@pytest.fixture(scope="module")
def run(data_with_models: Path) -> Iterator[Run]:
    """Runs a file through the pipeline in this process; the model stays warm between tests."""
    model = WarmModel(data_with_models)

    def events(file: Path, options: Options = TINY, **more: object) -> list[Event]:
        return list(transcribe(Transcribe(1, os.fsencode(file), options, **more), model))  # type: ignore[arg-type]

    yield events
    model.close()


def segments(events: list[Event]) -> list[Segment]:
    return [event.segment for event in events if isinstance(event, SegmentEvent)]


def text(events: list[Event]) -> str:
    return " ".join(segment.text for segment in segments(events)).lower()


@pytest.mark.parametrize("backend", BACKENDS)
def test_spoken_words_are_written_down(run: Run, speak: Callable[..., Path], backend: str) -> None:
    events = run(speak(SENTENCE), replace(TINY, backend=backend))
    for word in ("everyone", "welcome to the first meeting", "year"):
        assert word in text(events)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_events_tell_the_story_in_order(run: Run, speak: Callable[..., Path], backend: str) -> None:
    events = run(speak(SENTENCE), replace(TINY, backend=backend))
    kinds = [type(event) for event in events]
    order = [Started, Loaded, Language, SegmentEvent, TimingsEvent, Done]
    assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)
    done = events[-1]
    assert isinstance(done, Done)
    assert done.outcome == "text"
    assert 1_000 < done.speech <= done.duration


@pytest.mark.parametrize("backend", BACKENDS)
def test_times_count_from_the_start_of_the_file_also_behind_a_silence(
    run: Run, speak: Callable[..., Path], backend: str
) -> None:
    found = segments(run(speak(SENTENCE, silence=70), replace(TINY, backend=backend)))
    assert found
    assert 69_500 <= found[0].start <= 71_000
    for segment in found:
        times = [time for word in segment.words for time in (word.start, word.end)]
        assert times == sorted(times)
        assert segment.start <= times[0]
        assert times[-1] <= segment.end


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_job_that_goes_on_gives_what_an_uncut_one_would(run: Run, speak: Callable[..., Path], backend: str) -> None:
    options = replace(TINY, backend=backend)
    file = speak(LONG)
    whole = run(file, options)
    settled = [e.done for e in whole if isinstance(e, Progress) and e.stage == "transcribing"]
    assert len(settled) > 1, "the talk must have several windows"
    rest = run(file, options, resume_at=settled[0])
    assert segments(rest) == [s for s in segments(whole) if s.start >= settled[0]]


def test_a_language_is_detected_once_and_on_speech(run: Run, speak: Callable[..., Path]) -> None:
    file = speak("Guten Morgen, meine Damen und Herren. Heute sprechen wir über das Wetter.", voice="de", silence=20)
    found = [event for event in run(file, Options(model="base")) if isinstance(event, Language)]
    assert [event.code for event in found] == ["de"]
    assert found[0].probability is not None
    assert found[0].probability > 0.5


@pytest.mark.real
def test_a_recording_in_five_languages_is_written_in_each_of_them(run: Run, shared_audio: Path) -> None:
    file = shared_audio / "speech" / "mixed_en-de-fr-es-pt_fleurs.opus"
    events = run(file, Options(model="base", backend="onnx"))
    found = segments(events)
    assert {segment.language for segment in found} == {"en", "de", "fr", "es", "pt"}
    settled = [e.done for e in events if isinstance(e, Progress) and e.stage == "transcribing"]
    rest = run(file, Options(model="base", backend="onnx"), resume_at=settled[0])
    assert segments(rest) == [segment for segment in found if segment.start >= settled[0]]
    asked = run(file, Options(model="base", backend="onnx", language="en"))
    assert {segment.language for segment in segments(asked)} == {"en"}


def test_a_language_that_was_given_is_not_guessed(run: Run, speak: Callable[..., Path]) -> None:
    found = [event for event in run(speak(SENTENCE)) if isinstance(event, Language)]
    assert found == [Language(1, "en", None)]


@pytest.mark.parametrize(
    "options", [replace(TINY, language="de"), replace(TINY, task="translate")], ids=["german", "translate"]
)
def test_an_english_model_says_what_it_cannot_do(run: Run, speak: Callable[..., Path], options: Options) -> None:
    with pytest.raises(EngineError) as caught:
        run(speak(SENTENCE), options)
    assert caught.value.code is Code.MODEL_CANNOT


def test_silence_is_an_outcome_and_no_words(run: Run, tmp_path: Path, speak: Callable[..., Path]) -> None:
    file = tmp_path / "silence.wav"
    file.write_bytes(speak("x").read_bytes()[:44] + bytes(22050 * 2 * 20))
    events = run(file)
    assert not segments(events)
    assert isinstance(events[-1], Done)
    assert events[-1].outcome == "no_speech"
    assert events[-1].peak_dbfs is None


@pytest.mark.parametrize("backend", BACKENDS)
def test_progress_moves_and_the_table_adds_up(run: Run, speak: Callable[..., Path], backend: str) -> None:
    events = run(speak(LONG), replace(TINY, backend=backend))
    done = [e.done for e in events if isinstance(e, Progress) and e.stage == "transcribing"]
    assert done == sorted(done)
    timings = [e.timings for e in events if isinstance(e, TimingsEvent)][-1]
    assert {"load", "media", "vad", "mel", "encode", "decode"} <= {phase.name for phase in timings.phases}
    beside = {"media", "vad"}  # what is read and heard ahead, while the model works
    assert sum(phase.ms for phase in timings.phases if phase.name not in beside) <= timings.total + 50
    assert sum(timings.buffers.values()) > 38_000_000, "as many bytes as tiny.en has weights"
    assert timings.peak_memory is not None


def test_quiet_speech_is_heard_and_said_to_be_quiet(run: Run, speak: Callable[..., Path], tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.flac"
    subprocess.run(
        [
            "ffmpeg",
            "-v",
            "error",
            "-i",
            speak(SENTENCE),
            "-af",
            "volume=-50dB:precision=float",
            "-sample_fmt",
            "s32",
            quiet,
        ],
        check=True,
    )
    events = run(quiet)
    assert "welcome to the first meeting" in text(events)
    assert any(isinstance(event, Notice) and event.code == "quiet" for event in events)


def test_without_voice_detection_everything_is_decoded(run: Run, speak: Callable[..., Path]) -> None:
    assert "first meeting of the year" in text(run(speak(SENTENCE), replace(TINY, vad=False)))


def test_an_unknown_model_is_an_error_and_nothing_is_downloaded(run: Run, speak: Callable[..., Path]) -> None:
    with pytest.raises(EngineError) as caught:
        run(speak(SENTENCE), replace(TINY, model="no-such-model"))
    assert caught.value.code is Code.MODEL_UNKNOWN


def test_a_text_file_as_a_model_is_refused_before_whispercpp_sees_it(
    run: Run, speak: Callable[..., Path], tmp_path: Path
) -> None:
    fake = tmp_path / "ggml-fake.bin"
    fake.write_text("this is not a model\n" * 1000)
    with pytest.raises(EngineError) as caught:
        run(speak(SENTENCE), replace(TINY, model=str(fake)))
    assert caught.value.code is Code.MODEL_DAMAGED
