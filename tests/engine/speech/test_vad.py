"""The voice detector: the same numbers as the graph it was made from, however the audio comes, and only voices."""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.errors import Code, EngineError
from engine.speech import silero_graph
from engine.speech.silero_graph import CONTEXT, FRAME, STATE, read_weights, weights_file, whole_sequence_graph
from engine.speech.vad import LEVELS, SpeechDetector

if TYPE_CHECKING:
    from engine.types import Samples


def stepwise(samples: Samples) -> NDArray[np.float32]:
    """What the wheel's own graph says, frame by frame."""
    session = ort.InferenceSession(str(weights_file()), providers=["CPUExecutionProvider"])
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), samples])
    state, said = np.zeros((2, 1, STATE), np.float32), []
    for start in range(0, len(samples) - FRAME + 1, FRAME):
        frame = padded[None, start : start + CONTEXT + FRAME]
        output, state = session.run(None, {"input": frame, "state": state, "sr": np.array(16_000)})
        said.append(output[0, 0])
    return np.array(said, np.float32)


def at_all_levels(samples: Samples) -> NDArray[np.float32]:
    return np.max([stepwise(samples * np.float32(level)) for level in LEVELS], axis=0)


def test_the_whole_sequence_says_what_the_stepwise_graph_says(spoken: Samples) -> None:
    said = SpeechDetector().probabilities(spoken)
    assert len(said) == len(spoken) // FRAME
    assert np.abs(said - at_all_levels(spoken)).max() < 1e-4
    assert said.max() > 0.9
    assert said[:8].max() < 0.1


@pytest.mark.real
@pytest.mark.parametrize("name", ["speech/en_noise_dishes_5dB.wav", "odd/level_very_quiet.wav"])
def test_it_says_the_same_on_real_recordings(real: Callable[[str], Samples], name: str) -> None:
    samples = real(name)
    assert np.abs(SpeechDetector().probabilities(samples) - at_all_levels(samples)).max() < 1e-4


def test_one_level_alone_is_the_stepwise_graph(spoken: Samples) -> None:
    graph = whole_sequence_graph(read_weights(weights_file()), [1.0])
    session = ort.InferenceSession(graph, providers=["CPUExecutionProvider"])
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), spoken])
    frames = np.lib.stride_tricks.sliding_window_view(padded, CONTEXT + FRAME)[::FRAME]
    state = np.zeros((1, 1, STATE), np.float32)
    said = session.run(["probability"], {"frames": np.ascontiguousarray(frames), "h": state, "c": state})[0]
    assert np.abs(said - stepwise(spoken)).max() < 1e-4


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(0, 9_000), min_size=1, max_size=30))
def test_pieces_of_any_length_give_the_same_numbers(spoken: Samples, lengths: list[int]) -> None:
    detector = SpeechDetector()
    places = np.minimum(np.cumsum(lengths), len(spoken))
    said = np.concatenate([detector.probabilities(piece) for piece in np.split(spoken, places)])
    np.testing.assert_allclose(said, SpeechDetector().probabilities(spoken), atol=1e-6)


def test_less_than_a_frame_waits_for_the_rest() -> None:
    detector = SpeechDetector()
    assert len(detector.probabilities(np.zeros(0, np.float32))) == 0
    assert len(detector.probabilities(np.zeros(FRAME - 1, np.float32))) == 0
    assert len(detector.probabilities(np.zeros(1, np.float32))) == 1


@pytest.mark.parametrize("level", [1e-3, 0.1, 1.0])
def test_noise_is_not_a_voice(level: float) -> None:
    noise = np.random.default_rng(2).normal(0, 0.2 * level, 10 * 16_000).astype(np.float32)
    assert SpeechDetector().probabilities(noise).max() < 0.3


def test_a_detector_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silero_graph, "find_spec", lambda name: PathFinder.find_spec(name, path=[]))
    with pytest.raises(EngineError) as caught:
        SpeechDetector()
    assert caught.value.code is Code.BACKEND_MISSING


def damaged(content: bytes) -> list[bytes]:
    """The file in states a disk or a careless installer leaves."""
    return [b"", b"not a graph", content[:1000], content[: len(content) // 2], content.replace(b"rnn", b"run")]


def test_a_damaged_file_is_an_error_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "weights.onnx"
    for content in damaged(weights_file().read_bytes()):
        path.write_bytes(content)
        with pytest.raises(EngineError, match=r"weights\.onnx") as caught:
            read_weights(path)
        assert caught.value.code is Code.BACKEND_MISSING


def test_a_missing_file_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"nowhere\.onnx") as caught:
        read_weights(tmp_path / "nowhere.onnx")
    assert caught.value.code is Code.BACKEND_MISSING
