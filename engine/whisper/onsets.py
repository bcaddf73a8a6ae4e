"""When each token begins, from heads whose attention peaks where a word begins.

Dynamic time warping (`align.py`) gives each token a stretch of the sound. These heads do not look at a stretch: while
a token is being predicted they look at its first sound, or a fixed moment behind it, however long the word is. So each
token gets one position, the positions in order, such that the attention is the highest in all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.whisper.align import MS_PER_POSITION

Floats = NDArray[np.float32]

_NOTHING = 1e-4  # attention below this counts as this: a head that looks elsewhere has no veto


def token_onsets(attention: Floats, lags: Sequence[int]) -> NDArray[np.int64]:
    """Where each token begins, in ms, and where the last one ends: (tokens + 1,).

    `attention` is (heads, tokens, positions), the weights with which each token was predicted, over the positions that
    hold sound. `lags` says how many positions behind the beginning each head looks.
    """
    _, tokens, positions = attention.shape
    if not tokens or not positions:
        return np.zeros((tokens + 1,), np.int64)
    closeness = _closeness(attention, lags)
    places = _best_in_order(closeness)
    times = np.maximum.accumulate(_between(closeness, places)) * MS_PER_POSITION
    return np.append(np.rint(times).astype(np.int64), positions * MS_PER_POSITION)


def _closeness(attention: Floats, lags: Sequence[int]) -> Floats:
    """The heads' mean logarithm at each position (tokens, positions), after each head's lag was taken out."""
    positions = attention.shape[2]
    total = np.zeros(attention.shape[1:], np.float32)
    for weights, lag in zip(attention, lags, strict=True):
        seen = np.full_like(total, _NOTHING)
        both = max(0, positions - abs(lag))
        seen[:, max(0, -lag) :][:, :both] = weights[:, max(0, lag) :][:, :both]
        total += np.log(np.maximum(seen, _NOTHING))
    return total / np.float32(len(lags))


def _best_in_order(closeness: Floats) -> NDArray[np.int64]:
    """A position for each token, each behind the one before (or at it, with more tokens than positions)."""
    tokens, positions = closeness.shape
    gap, numbers = int(positions >= tokens), np.arange(positions, dtype=np.int64)
    total, came_from = closeness[0].astype(np.float64), list[NDArray[np.int64]]()
    for row in closeness[1:]:
        best = np.maximum.accumulate(total)
        where = np.maximum.accumulate(np.where(total == best, numbers, np.int64(0)))
        total = row + np.append(np.full(gap, -np.inf), best)[:positions]
        came_from.append(np.append(np.zeros(gap, np.int64), where)[:positions])
    places = [int(total.argmax())]
    for where in reversed(came_from):
        places.append(int(where[places[-1]]))
    return np.array(places[::-1], np.int64)


def _between(closeness: Floats, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """The same places, finer than a position: the balance point of each peak and its neighbours."""
    around = places[:, None] + np.array([-1, 0, 1])
    inside = (around >= 0) & (around < closeness.shape[1])
    near = np.take_along_axis(closeness, np.clip(around, 0, closeness.shape[1] - 1), axis=1)
    weights = np.where(inside, np.exp(near), 0.0)
    return (weights * around).sum(axis=1) / weights.sum(axis=1)
