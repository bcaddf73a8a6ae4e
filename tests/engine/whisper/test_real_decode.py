"""Decoding real speech with tiny.en: together or alone, by one beam or five."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.graphs.onnx_runtime import Cache, OnnxGraphs
from engine.models.ggml import GgmlModel
from engine.types import Precision
from engine.whisper.decode import Decoder, Hypothesis, Prompt
from engine.whisper.mel import log_mel
from engine.whisper.rules import Extent
from engine.whisper.vocabulary import Vocabulary

pytestmark = pytest.mark.real

FRAMES = 1700  # 17 s: the longest of these and the silence behind it
CLIPS = ["en_LJ001-0001.wav", "en_jfk_44k_stereo.flac", "en_arctic_aew_a0001.wav", "en_fleurs_000.ogg"]
TIE = 1e-3


class Speech:
    """Recordings of at most 12 s, as log-mel, and a decoder that hears them."""

    def __init__(self, files: Sequence[Path], model: GgmlModel, graphs: OnnxGraphs) -> None:
        self._graphs = graphs
        self.vocabulary = Vocabulary.of(model)
        self.decoder = Decoder(graphs, self.vocabulary)
        self.prompt = Prompt((), self.vocabulary.prompt("en", "transcribe"))
        sounds = [_sound(file)[: 12 * 16_000] for file in files]
        self.extents = [Extent(len(sound) // 16) for sound in sounds]
        self._mel = np.stack([log_mel(sound, model.filters, FRAMES) for sound in sounds])

    def heard(self, *rows: int) -> Cache:
        return self._graphs.cross([self._graphs.encode(self._mel[row][None]) for row in rows])

    def greedy(self, *rows: int) -> list[Hypothesis]:
        return self.decoder.sample(self.heard(*rows), self.prompt, [self.extents[row] for row in rows], 0)

    def margin(self, row: int, said: Sequence[int]) -> float:
        """How much likelier the best token after `said` is than the second."""
        tokens = np.array([[*self.prompt.start, *said]], np.int64)
        second, best = np.sort(self._graphs.step(tokens, self.heard(row)).logits[0])[-2:]
        return float(best - second)


def _sound(file: Path) -> NDArray[np.float32]:
    with open_media(file) as media:
        return np.concatenate([block.samples for block in media.blocks()])


@pytest.fixture(scope="module")
def speech(shared_audio: Path, tiny: GgmlModel, tiny_graphs: Callable[[Precision], OnnxGraphs]) -> Speech:
    return Speech([shared_audio / "speech" / clip for clip in CLIPS], tiny, tiny_graphs("fp32"))


def test_windows_together_say_what_each_says_alone(speech: Speech) -> None:
    for row, together in enumerate(speech.greedy(0, 1, 2, 3)):
        (alone,) = speech.greedy(row)
        if together.tokens != alone.tokens:
            same = next(i for i, (a, b) in enumerate(zip(together.tokens, alone.tokens, strict=False)) if a != b)
            assert speech.margin(row, alone.tokens[:same]) < TIE, CLIPS[row]
        else:
            assert together.avg_logprob == pytest.approx(alone.avg_logprob, abs=TIE)


def test_what_is_said_is_what_was_said(speech: Speech) -> None:
    (kennedy,) = speech.greedy(1)
    text = speech.vocabulary.text(kennedy.tokens).decode().lower()
    assert "ask not what your country can do for you" in text
    assert kennedy.tokens[0] >= speech.vocabulary.first_timestamp
    assert kennedy.ended


@pytest.mark.parametrize("row", range(len(CLIPS)), ids=CLIPS)
def test_five_beams_are_no_less_likely_than_greedy(speech: Speech, row: int) -> None:
    (greedy,) = speech.greedy(row)
    beam = speech.decoder.beam(speech.heard(row), speech.prompt, speech.extents[row], 5)
    assert beam.avg_logprob >= greedy.avg_logprob - TIE
    assert beam.ended


def test_sampling_is_the_same_for_a_seed(speech: Speech) -> None:
    def run(seed: int) -> list[list[int]]:
        cache = speech.heard(2).take([0] * 3)
        rows = speech.decoder.sample(cache, speech.prompt, [speech.extents[2]] * 3, 0.8, seed)
        return [row.tokens for row in rows]

    assert run(7) == run(7)
