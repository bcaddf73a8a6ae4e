"""Text for speech that is still going on: words firm up from the left, and none is taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.audio.media import open_media
from engine.backends.base import Backend
from engine.backends.fake import Fake
from engine.backends.select import load_backend
from engine.folders import models_folder
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.store import ModelStore
from engine.speech.vad import SpeechDetector
from engine.speech.windows import windows
from engine.types import SAMPLE_RATE, Options, Segment
from engine.utterance import Draft, Utterance

SENTENCE = "The quick brown fox jumps over the lazy dog, and the small grey cat looks on from the garden wall."


class Scripted(Fake):
    """Says one text after another."""

    def __init__(self, *texts: str) -> None:
        super().__init__(use_gpu=False)
        self._texts = iter(texts)

    def draft(self, samples: np.ndarray, options: Options) -> list[Segment]:
        return [Segment(0, 1000, next(self._texts))]


def drafts(*texts: str, language: str = "en") -> Iterator[Draft]:
    utterance = Utterance(Scripted(*texts), Options(language=language))
    return (utterance.draft(np.zeros(SAMPLE_RATE, np.float32)) for _ in texts)


def test_words_are_firm_once_two_drafts_agree_on_them() -> None:
    assert list(drafts("The quick", "The quick brow", "The quick brown fox")) == [
        Draft("", "The quick"),
        Draft("The quick", " brow"),
        Draft("The quick", " brown fox"),
    ]


def test_case_and_punctuation_do_not_count() -> None:
    assert list(drafts("Hello, world", "hello world. Again"))[-1] == Draft("hello world.", " Again")


def test_firm_words_are_not_taken_back() -> None:
    *_, last = drafts("one two three", "one two three", "one too", "one too four five")
    assert last == Draft("one two three", " five")


def test_a_draft_that_goes_round_changes_nothing() -> None:
    *_, last = drafts("one two", "one two three", " ".join(["no"] * 40))
    assert last == Draft("one two", " three")


def test_a_sound_is_no_word() -> None:
    assert list(drafts("[music]")) == [Draft("", "")]


def test_languages_without_spaces_firm_up_by_characters() -> None:
    assert list(drafts("今日は", "今日はい", language="ja"))[-1] == Draft("今日は", "い")


@pytest.fixture
def backend(data_with_models: Path) -> Iterator[Backend]:
    options = Options(model="tiny.en", backend="onnx")
    model = ModelStore(models_folder(data_with_models)).path("tiny.en")
    backend = load_backend(options, model, data_with_models, lambda _done, _of: None).backend
    yield backend
    backend.close()


def test_a_real_sentence_grows_into_its_final_segments(backend: Backend, speak: Callable[..., Path]) -> None:
    with open_media(speak(SENTENCE)) as media:
        samples = np.concatenate([block.samples for block in media.blocks()])
    with open_media(speak(SENTENCE)) as media:
        (window,) = (window for window in windows(media.blocks(), SpeechDetector()) if window)
    utterance = Utterance(backend, Options(model="tiny.en", language="en"))
    firm = ""
    for end in range(SAMPLE_RATE, len(samples), SAMPLE_RATE):
        draft = utterance.draft(samples[:end])
        assert draft.firm.startswith(firm)
        firm = draft.firm
    assert "lazy dog" in firm
    final = " ".join(segment.text for segment in utterance.final(window))
    assert "lazy dog" in final
    assert "garden wall" in final


def test_a_draft_of_three_seconds_is_encoded_as_eight_and_not_as_thirty(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode, frames = OnnxGraphs.encode, list[int]()

    def noted(graphs: OnnxGraphs, mel: np.ndarray) -> object:
        frames.append(mel.shape[2])
        return encode(graphs, mel)

    monkeypatch.setattr(OnnxGraphs, "encode", noted)
    Utterance(backend, Options(language="en")).draft(np.zeros(3 * SAMPLE_RATE, np.float32))
    assert frames == [800]
