"""Word beginnings from attention: one position a token, in order, where the attention is the highest in all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.whisper.align import MS_PER_POSITION
from engine.whisper.onsets import token_onsets

Floats = NDArray[np.float32]


def peaks(places: list[int], lags: list[int], positions: int = 80, blur: float = 0.01) -> Floats:
    """Attention of heads that look at these positions, each so many positions late, and a little at all others."""
    attention = np.random.default_rng(0).random((len(lags), len(places), positions)).astype(np.float32) * blur
    for head, lag in enumerate(lags):
        attention[head, np.arange(len(places)), np.array(places) + lag] = 0.5
    return attention


@pytest.mark.parametrize("lags", [[0], [3], [-1, 3], [3, 0, 3]])
def test_a_head_that_looks_behind_the_beginning_still_tells_the_beginning(lags: list[int]) -> None:
    places = [4, 9, 25, 26, 40, 70]
    found = token_onsets(peaks(places, lags), lags)
    np.testing.assert_allclose(found[:-1], np.array(places) * MS_PER_POSITION, atol=5)
    assert found[-1] == 80 * MS_PER_POSITION


def test_a_long_word_begins_no_earlier_than_a_short_one() -> None:
    long, short = token_onsets(peaks([10, 60], [0]), [0]), token_onsets(peaks([10, 14], [0]), [0])
    assert abs(int(long[1]) - 60 * MS_PER_POSITION) <= 5
    assert abs(int(short[1]) - 14 * MS_PER_POSITION) <= 5


def test_one_head_of_three_that_looks_elsewhere_is_outvoted() -> None:
    places = [5, 20, 33, 50]
    attention = peaks(places, [0, 0, 0])
    attention[2] = attention[2, ::-1]
    np.testing.assert_allclose(token_onsets(attention, [0, 0, 0])[:-1], np.array(places) * MS_PER_POSITION, atol=5)


@settings(max_examples=100)
@given(tokens=st.integers(1, 4), positions=st.integers(4, 7), seed=st.integers(0, 2**32))
def test_no_other_positions_in_order_have_more_attention(tokens: int, positions: int, seed: int) -> None:
    attention = np.random.default_rng(seed).random((1, tokens, positions)).astype(np.float32) + np.float32(0.01)
    found = np.rint(token_onsets(attention, [0])[:-1] / MS_PER_POSITION).astype(int)
    logs = np.log(attention[0].astype(np.float64))
    best = max(itertools.combinations(range(positions), tokens), key=lambda path: logs[range(tokens), path].sum())
    assert (np.abs(found - np.array(best)) <= 1).all()  # finer than a position: it leans to the higher neighbour


@settings(max_examples=100)
@given(heads=st.integers(1, 3), tokens=st.integers(0, 12), positions=st.integers(0, 30), seed=st.integers(0, 2**32))
def test_times_never_go_back_and_stay_in_the_sound(heads: int, tokens: int, positions: int, seed: int) -> None:
    numbers = np.random.default_rng(seed)
    attention = numbers.random((heads, tokens, positions)).astype(np.float32)
    found = token_onsets(attention, numbers.integers(-2, 4, heads).tolist())
    assert len(found) == tokens + 1
    assert (np.diff(found) >= 0).all()
    assert found[0] >= 0
    assert found[-1] == (positions * MS_PER_POSITION if tokens else 0)


@pytest.mark.parametrize("value", [0.0, 0.01])
def test_attention_that_says_nothing_is_no_error(value: float) -> None:
    found = token_onsets(np.full((2, 5, 20), value, np.float32), [0, 3])
    assert (np.diff(found) >= 0).all()
