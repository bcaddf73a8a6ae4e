"""When each token is said: dynamic time warping over the cross attention (openai/whisper, timing.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

MS_PER_POSITION = 20  # of the encoder's output
_MEDIAN_WIDTH = 7
_FROM_ABOVE, _FROM_LEFT = 1, 2  # in the order of `choices`


def token_starts(attention: Floats) -> NDArray[np.int64]:
    """Where each token begins, in ms, and where the last one ends: (tokens + 1,).

    `attention` is (heads, tokens, positions), the weights with which each token was predicted, over the positions
    that hold sound.
    """
    heads, tokens, positions = attention.shape
    if not tokens or not positions:
        return np.zeros((tokens + 1,), np.int64)
    spread = attention.std(axis=1, keepdims=True)
    centred = (attention - attention.mean(axis=1, keepdims=True)) / np.maximum(spread, np.float32(1e-9))
    matrix = _median(centred.reshape(heads * tokens, positions)).reshape(heads, tokens, positions).mean(axis=0)
    rows, columns = warped(-matrix)
    firsts: NDArray[np.int64] = np.searchsorted(rows, np.arange(tokens, dtype=np.int64))
    bounds: NDArray[np.int64] = np.append(columns[firsts], columns[-1] + 1)
    return np.multiply(bounds, MS_PER_POSITION, dtype=np.int64)


def warped(cost: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cheapest monotone path through `cost` (n, m) from corner to corner: row and column of each step.

    Computed a diagonal at a time: every cell of a diagonal needs only the two diagonals before.
    """
    n, m = cost.shape
    total = np.full((n + 1, m + 1), np.inf)
    total[0, 0] = 0.0
    came_from = np.zeros((n + 1, m + 1), np.int8)
    for diagonal in range(2, n + m + 1):
        i: NDArray[np.int64] = np.arange(max(1, diagonal - m), min(n, diagonal - 1) + 1, dtype=np.int64)
        j = np.int64(diagonal) - i
        choices = np.stack([total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]])
        best = choices.argmin(axis=0)
        came_from[i, j] = best
        total[i, j] = cost[i - 1, j - 1] + np.take_along_axis(choices, best[None], axis=0)[0]
    return _path(came_from, n, m)


def _path(came_from: NDArray[np.int8], i: int, j: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    steps: list[tuple[int, int]] = []
    moves: list[list[int]] = came_from.tolist()
    while i > 0 and j > 0:
        steps.append((i - 1, j - 1))
        move = moves[i][j]
        i -= int(move != _FROM_LEFT)
        j -= int(move != _FROM_ABOVE)
    path = np.array(steps[::-1], np.int64)
    return path[:, 0], path[:, 1]


def _median(rows: Floats) -> Floats:
    """Median filter along each row, mirrored at the ends."""
    half = _MEDIAN_WIDTH // 2
    if rows.shape[1] <= half:
        return rows
    padded = np.pad(rows, ((0, 0), (half, half)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, _MEDIAN_WIDTH, axis=1)
    return np.partition(windows, half, axis=2)[:, :, half]
