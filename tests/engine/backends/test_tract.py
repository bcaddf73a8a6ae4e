"""tract says the same as ONNX Runtime, from the same files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.backends.graph_whisper import GraphWhisper, Runtime
from engine.backends.select import load_backend
from engine.errors import Code, EngineError
from engine.folders import models_folder
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.store import ModelStore, digest_of
from engine.types import Options
from engine.whisper.decode import Decoder, Prompt
from engine.whisper.mel import log_mel
from engine.whisper.rules import Extent
from engine.whisper.vocabulary import Vocabulary

pytest.importorskip("tract", reason="tract is not installed (it has no wheel for Linux on arm64)")
from engine.graphs.tract_runtime import TractGraphs

Floats = NDArray[np.float32]
Pair = Callable[[str], tuple[GraphWhisper, GraphWhisper]]
SENTENCE = "Good morning everyone, and welcome to the first meeting of the year."
TIE = 1e-3  # logits this near are one and the same
FRAMES = 1600


@pytest.fixture(scope="module")
def folder(data_with_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the models, whose graphs are thrown away with this module."""
    data = tmp_path_factory.mktemp("tract")
    (data / "models").symlink_to(models_folder(data_with_models), target_is_directory=True)
    return data


def loaded(folder: Path, model: str, backend: str, **more: object) -> GraphWhisper:
    options = Options(backend=backend, **{"precision": "fp32", **more})  # type: ignore[arg-type]
    choice = load_backend(options, model_path(folder, model), folder, lambda _done, _of: None)
    assert isinstance(choice.backend, GraphWhisper)
    return choice.backend


def model_path(folder: Path, model: str) -> Path:
    return ModelStore(models_folder(folder)).path(model)


def samples_of(file: Path) -> Floats:
    with open_media(file) as media:
        return np.concatenate([block.samples for block in media.blocks()])


def choices(runtime: Runtime, mel: Floats, tokens: Sequence[int]) -> Floats:
    """The logits (n, vocab) behind each of the tokens."""
    cache = runtime.cross([runtime.encode(mel)])
    return np.stack([runtime.step(np.array([[token]], np.int64), cache).logits[0] for token in tokens])


@pytest.mark.parametrize("beam", [1, 3])
def test_a_sentence_has_the_same_words_and_times(folder: Path, speak: Callable[..., Path], beam: int) -> None:
    window = samples_of(speak(SENTENCE))
    options = Options(language="en", words=True, beam=beam)
    found, right = (loaded(folder, "tiny.en", name).decode([window], options)[0] for name in ("tract", "onnx"))
    assert [(s.start, s.end, s.text) for s in found] == [(s.start, s.end, s.text) for s in right]
    assert [(w.start, w.end, w.text) for s in found for w in s.words] == [
        (w.start, w.end, w.text) for s in right for w in s.words
    ]
    assert "welcome to the first meeting" in found[0].text.lower()


@pytest.mark.real
@pytest.mark.parametrize("model", ["tiny.en", "base"])
def test_every_token_of_a_real_recording_is_the_same_or_a_tie(folder: Path, shared_audio: Path, model: str) -> None:
    file = model_path(folder, model)
    graphs, read = graphs_for(file, digest_of(file), "fp32", folder / "cache", lambda _done, _of: None)
    window = samples_of(shared_audio / "speech" / "en_jfk_44k_stereo.flac")
    mel = log_mel(window, read.filters, FRAMES)[None]
    vocabulary, onnx, tract = Vocabulary.of(read), OnnxGraphs(graphs, 1), TractGraphs(graphs)
    start = vocabulary.prompt("en", "transcribe")
    cache = onnx.cross([onnx.encode(mel)])
    heard = Decoder(onnx, vocabulary).sample(cache, Prompt((), start), [Extent(len(window) // 16)], 0)[0]
    assert b"ask not what your country can do for you" in vocabulary.text(heard.tokens)
    right, found = (choices(runtime, mel, [*start, *heard.tokens]) for runtime in (onnx, tract))
    rows = np.arange(len(right))
    assert (right.max(axis=1) - right[rows, found.argmax(axis=1)]).max() <= TIE
    assert np.abs(found - right).max() <= TIE


def test_rows_can_be_dropped_from_a_batch(folder: Path) -> None:
    file = model_path(folder, "tiny.en")
    graphs, _ = graphs_for(file, digest_of(file), "fp32", folder / "cache", lambda _done, _of: None)
    runtime = TractGraphs(graphs)
    mel = np.random.default_rng(0).normal(size=(3, 80, 100)).astype(np.float32)
    tokens = np.array([[50257, 7], [50257, 8], [50257, 9]], np.int64)
    together, alone = (
        runtime.cross([runtime.encode(row[None]) for row in mel]),
        runtime.cross([runtime.encode(mel[2:])]),
    )
    runtime.step(tokens, together)
    runtime.step(tokens[2:], alone)
    kept = together.take([2, 0])
    assert (kept.rows, kept.length) == (2, 2)
    found = runtime.step(np.array([[11], [12]], np.int64), kept).logits[0]
    np.testing.assert_allclose(found, runtime.step(np.array([[11]], np.int64), alone).logits[0], atol=TIE)


def test_more_tokens_than_the_context_holds_are_an_error_and_no_death(folder: Path) -> None:
    file = model_path(folder, "tiny.en")
    graphs, _ = graphs_for(file, digest_of(file), "fp32", folder / "cache", lambda _done, _of: None)
    runtime = TractGraphs(graphs)
    cache = runtime.cross([runtime.encode(np.zeros((1, 80, 100), np.float32))])
    runtime.step(np.full((1, 448), 440, np.int64), cache)
    with pytest.raises(EngineError) as caught:
        runtime.step(np.array([[440]], np.int64), cache)
    assert caught.value.code is Code.BACKEND_FAILED


def test_int8_asked_for_says_that_it_is_fp32(folder: Path) -> None:
    options = Options(backend="tract", precision="int8")
    choice = load_backend(options, model_path(folder, "tiny.en"), folder, lambda _done, _of: None)
    assert (choice.backend.name, choice.backend.device) == ("tract", "CPU (tract fp32)")
    assert "fp32" in choice.reason


def test_a_graph_that_tract_cannot_read_is_an_error_in_one_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(b"no graph")
    with pytest.raises(EngineError) as caught:
        TractGraphs(tmp_path)
    assert caught.value.code is Code.BACKEND_FAILED
    assert "encoder.onnx" in caught.value.detail
    assert "\n" not in caught.value.detail


def test_without_the_package_one_is_told_what_to_type(folder: Path) -> None:
    code = (
        "import sys; sys.modules['tract'] = None\n"
        "from pathlib import Path\n"
        "from engine.backends.select import load_backend\n"
        "from engine.errors import EngineError\n"
        "from engine.types import Options\n"
        "try: load_backend(Options(backend='tract'), Path(sys.argv[1]), Path(sys.argv[2]), print)\n"
        "except EngineError as error: print(error.code, error.detail)\n"
    )
    command = [sys.executable, "-c", code, model_path(folder, "tiny.en"), folder]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert said.startswith("backend_missing")
    assert "pip install" in said


@pytest.mark.parametrize("backend", ["onnx", "tract"])
def test_the_most_expensive_operators_are_told(folder: Path, speak: Callable[..., Path], backend: str) -> None:
    model = loaded(folder, "tiny.en", backend, profile=True)
    model.decode([samples_of(speak("Good morning."))], Options(language="en"))
    times = model.operators()
    assert {time.graph for time in times} == {"encoder", "cross", "decoder"}
    longest = max(times, key=lambda time: time.ms)
    assert any(name in longest.operator for name in ("MatMul", "Gemm")), longest
    assert longest.ms > 1
    assert longest.runs > 1


def test_nothing_is_measured_unasked(folder: Path, speak: Callable[..., Path]) -> None:
    for backend in ("onnx", "tract"):
        model = loaded(folder, "tiny.en", backend)
        model.decode([samples_of(speak("Good morning."))], Options(language="en"))
        assert model.operators() == ()
