"""Word times from attention: the path is the cheapest there is, and a clear diagonal gives clear times."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.whisper.align import MS_PER_POSITION, token_starts, warped

sizes = st.tuples(st.integers(1, 12), st.integers(1, 16))


def cheapest(cost: NDArray[np.float32]) -> float:
    """The cost of the best path, a cell after the other."""
    n, m = cost.shape
    total = np.full((n + 1, m + 1), np.inf)
    total[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            total[i, j] = cost[i - 1, j - 1] + min(total[i - 1, j - 1], total[i - 1, j], total[i, j - 1])
    return float(total[n, m])


@settings(max_examples=150)
@given(size=sizes, seed=st.integers(0, 2**32), steps=st.booleans())
def test_the_path_is_the_cheapest_from_corner_to_corner(size: tuple[int, int], seed: int, steps: bool) -> None:
    cost = np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)
    cost = np.rint(cost) if steps else cost  # with ties
    rows, columns = warped(cost)
    assert (rows[0], columns[0]) == (0, 0)
    assert (rows[-1], columns[-1]) == (size[0] - 1, size[1] - 1)
    moves = set(zip(np.diff(rows).tolist(), np.diff(columns).tolist(), strict=True))
    assert moves <= {(0, 1), (1, 0), (1, 1)}
    assert float(cost.astype(np.float64)[rows, columns].sum()) == pytest.approx(cheapest(cost), abs=1e-9)


@settings(max_examples=100)
@given(heads=st.integers(1, 3), tokens=st.integers(0, 12), positions=st.integers(0, 30), seed=st.integers(0, 2**32))
def test_times_never_go_back_and_stay_in_the_sound(heads: int, tokens: int, positions: int, seed: int) -> None:
    attention = np.random.default_rng(seed).random((heads, tokens, positions)).astype(np.float32)
    starts = token_starts(attention)
    assert len(starts) == tokens + 1
    assert (np.diff(starts) >= 0).all()
    assert starts[0] == 0
    assert starts[-1] == (positions * MS_PER_POSITION if tokens else 0)


@pytest.mark.parametrize("value", [0.0, 0.01])
def test_attention_that_says_nothing_is_no_error(value: float) -> None:
    starts = token_starts(np.full((2, 5, 20), value, np.float32))
    assert np.isfinite(starts).all()
    assert (np.diff(starts) >= 0).all()


def diagonal(bounds: list[int], heads: int = 2, blur: float = 0.02) -> NDArray[np.float32]:
    """Attention of tokens that each look at their own positions, and a little at all others."""
    tokens, positions = len(bounds) - 1, bounds[-1]
    attention = np.random.default_rng(0).random((heads, tokens, positions)).astype(np.float32) * blur
    for token, (start, end) in enumerate(itertools.pairwise(bounds)):
        attention[:, token, start:end] += 1 / (end - start)
    return attention / attention.sum(axis=2, keepdims=True)


def test_a_clear_diagonal_gives_its_times() -> None:
    bounds = [0, 10, 25, 33, 60, 75]
    np.testing.assert_allclose(token_starts(diagonal(bounds)), np.array(bounds) * MS_PER_POSITION, atol=40)


def test_a_head_that_looks_elsewhere_does_not_spoil_the_others() -> None:
    bounds = [0, 12, 30, 44, 60]
    attention = diagonal(bounds, heads=4)
    attention[3] = attention[3, ::-1]
    np.testing.assert_allclose(token_starts(attention), np.array(bounds) * MS_PER_POSITION, atol=60)


def test_one_token_has_all_the_sound() -> None:
    assert token_starts(diagonal([0, 50])).tolist() == [0, 1000]
