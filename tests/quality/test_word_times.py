"""Word times of the real engine on words at known places."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from spliced import SENTENCES, VOICES, spliced
from timed import Errors, errors_of, in_order, timed

from engine.backends.graph_whisper import GraphWhisper
from engine.backends.onnx import load_onnx
from engine.decoding import decode_windows
from engine.folders import models_folder
from engine.models.store import ModelStore
from engine.speech.vad import SpeechDetector
from engine.speech.windows import windows
from engine.types import AudioBlock, Options, Segment

OPTIONS = Options(model="tiny.en", language="en", words=True)
CLOSE = 80  # ms; measured 38 at starts, 25 at ends
NINE_IN_TEN = 200
PAUSE = 800  # after a sentence there are 900 ms


@pytest.fixture(scope="module")
def whisper(data_with_models: Path, tmp_path_factory: pytest.TempPathFactory) -> GraphWhisper:
    model = ModelStore(models_folder(data_with_models)).path("tiny.en")
    return load_onnx(OPTIONS, model, "tiny", tmp_path_factory.mktemp("graphs"), lambda _done, _of: None)


@pytest.fixture(scope="module")
def heard(whisper: GraphWhisper) -> list[tuple[list[Segment], Errors]]:
    """Each sentence in each voice: its segments, and how far their words are from where they were put."""
    found: list[tuple[list[Segment], Errors]] = []
    for sentence, voice in zip(SENTENCES, VOICES, strict=True):
        samples, truth = spliced(sentence, voice)
        cut = [window for window in windows([AudioBlock(0, samples)], SpeechDetector()) if window]
        segments = [segment for part in decode_windows(whisper, cut, OPTIONS) for segment in part]
        found.append((segments, errors_of(timed(segments), truth)))
    return found


def test_words_are_where_they_were_put(heard: list[tuple[list[Segment], Errors]]) -> None:
    for ends in (False, True):
        off = sorted(abs(error) for _, errors in heard for error in (errors.ends if ends else errors.starts))
        assert len(off) > 35
        assert median(off) <= CLOSE
        assert off[len(off) * 9 // 10] <= NINE_IN_TEN


def test_every_word_is_inside_its_segment_and_in_order(heard: list[tuple[list[Segment], Errors]]) -> None:
    assert all(in_order(segments) for segments, _ in heard)


def test_no_word_runs_through_the_pause_after_a_sentence(heard: list[tuple[list[Segment], Errors]]) -> None:
    for segments, _ in heard:
        words = [word for segment in segments for word in segment.words]
        gaps = [after.start - before.end for before, after in pairwise(words)]
        assert max(gaps) >= PAUSE, words
