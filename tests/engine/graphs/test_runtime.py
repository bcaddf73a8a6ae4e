"""The KV cache in ONNX Runtime: tokens at once or one by one, rows together or alone, give the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import Code, EngineError
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import Cache, OnnxGraphs
from engine.models.ggml import GgmlModel
from engine.types import Precision
from tests.engine.small_models import Small

MelOf = Callable[..., NDArray[np.float32]]
TinyGraphs = Callable[[Precision], OnnxGraphs]
TOKENS = np.array([[50257, 50363, 440, 1234, 318, 7]], np.int64)


@pytest.fixture(scope="module")
def graphs(tiny_graphs: TinyGraphs) -> OnnxGraphs:
    return tiny_graphs("fp32")


@pytest.fixture
def mel(tiny: GgmlModel, mel_of: MelOf) -> NDArray[np.float32]:
    return mel_of(tiny, 100, rows=3)


def cache_of(graphs: OnnxGraphs, mel: NDArray[np.float32]) -> Cache:
    return graphs.cross([graphs.encode(row[None]) for row in mel])


def near(found: NDArray[np.float32], right: NDArray[np.float32]) -> None:
    np.testing.assert_allclose(found, right, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("parts", [[1] * 6, [2, 3, 1], [5, 1]])
def test_tokens_in_parts_give_what_tokens_at_once_give(
    graphs: OnnxGraphs, mel: NDArray[np.float32], parts: list[int]
) -> None:
    at_once, in_parts = cache_of(graphs, mel[:1]), cache_of(graphs, mel[:1])
    right = graphs.step(TOKENS, at_once)
    pieces = np.split(TOKENS, np.cumsum(parts)[:-1], axis=1)
    steps = [graphs.step(piece, in_parts) for piece in pieces]
    near(steps[-1].logits, right.logits)
    near(np.concatenate([step.alignment for step in steps], axis=2), right.alignment)
    assert (at_once.length, in_parts.length) == (6, 6)


def test_three_windows_together_are_three_alone(graphs: OnnxGraphs, mel: NDArray[np.float32]) -> None:
    tokens = np.concatenate([TOKENS, TOKENS[:, ::-1], TOKENS + 1])
    together = graphs.step(tokens, cache_of(graphs, mel))
    for row in range(3):
        alone = graphs.step(tokens[row : row + 1], cache_of(graphs, mel[row : row + 1]))
        near(together.logits[row], alone.logits[0])
        near(together.alignment[row], alone.alignment[0])


def test_rows_of_a_cache_can_be_taken_in_any_order_and_twice(graphs: OnnxGraphs, mel: NDArray[np.float32]) -> None:
    cache = cache_of(graphs, mel)
    graphs.step(np.concatenate([TOKENS, TOKENS[:, ::-1], TOKENS + 1]), cache)
    taken = cache.take([2, 0, 2, 1])
    assert (taken.rows, taken.length) == (4, 6)
    following = np.array([[11], [12], [13], [14]], np.int64)
    found = graphs.step(following[[2, 0, 2, 1]], taken).logits
    right = graphs.step(following[:3], cache).logits
    near(found, right[[2, 0, 2, 1]])
    assert np.abs(right[0] - right[2]).max() > 0.1, "the rows were alike: nothing was tested"


def test_beams_of_a_window_share_what_they_hear_without_a_copy(graphs: OnnxGraphs, mel: NDArray[np.float32]) -> None:
    cache = cache_of(graphs, mel[:1])
    graphs.step(TOKENS, cache)
    beams = cache.take([0, 0, 0])
    assert beams.cross is cache.cross
    step = graphs.step(np.array([[11], [12], [13]], np.int64), beams)
    for row, token in enumerate([11, 12, 13]):
        alone = graphs.step(np.array([[token]], np.int64), cache.take([0]))
        near(step.logits[row], alone.logits[0])
        near(step.alignment[row], alone.alignment[0])


def test_a_taken_cache_grows_alone(graphs: OnnxGraphs, mel: NDArray[np.float32]) -> None:
    cache = cache_of(graphs, mel[:1])
    graphs.step(TOKENS, cache)
    twin = cache.take([0])
    graphs.step(TOKENS, twin)
    assert (cache.length, twin.length) == (6, 12)
    assert cache.past["key.0"].shape()[2] == 6


def test_the_future_is_hidden_from_every_token(graphs: OnnxGraphs, mel: NDArray[np.float32]) -> None:
    """Keys and values of the first tokens do not change with what follows them."""
    one, other = cache_of(graphs, mel[:1]), cache_of(graphs, mel[:1])
    graphs.step(TOKENS, one)
    graphs.step(np.concatenate([TOKENS[:, :3], TOKENS[:, :3]], axis=1), other)
    for name, value in one.past.items():
        np.testing.assert_allclose(value.numpy()[:, :, :3], other.past[name].numpy()[:, :, :3], atol=1e-5)


def test_more_tokens_than_the_context_holds_are_an_engine_error(graphs: OnnxGraphs, mel: NDArray[np.float32]) -> None:
    cache = cache_of(graphs, mel[:1])
    graphs.step(np.full((1, 448), 440, np.int64), cache)
    with pytest.raises(EngineError) as caught:
        graphs.step(TOKENS[:, :1], cache)
    assert caught.value.code is Code.BACKEND_FAILED


@pytest.mark.parametrize("spoil", ["encoder.onnx", "decoder.weights"])
def test_a_graph_that_cannot_be_loaded_is_an_engine_error(small: Small, tmp_path: Path, spoil: str) -> None:
    folder, _ = graphs_for(small.write(tmp_path / "model.bin"), "s", "int8", tmp_path, lambda _done, _of: None)
    (folder / spoil).write_bytes(b"nonsense")
    with pytest.raises(EngineError) as caught:
        OnnxGraphs(folder, 1)
    assert caught.value.code is Code.BACKEND_FAILED
    assert spoil.split(".", maxsplit=1)[0] in caught.value.detail
