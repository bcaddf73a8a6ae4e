"""A window cut into turns keeps all its audio, each sample at its own time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.speech.turns import turns
from engine.speech.windows import Piece, Window
from engine.types import SAMPLES_PER_MS, SpeechSpan


def window_of(*spoken: tuple[int, int], pieces: tuple[Piece, ...] = ()) -> Window:
    """A window from 0 to a second after the last span; each sample holds its place in the window."""
    end = spoken[-1][1] + 1_000
    pieces = pieces or (Piece(0, 0, end),)
    length = pieces[-1].at + pieces[-1].length
    samples = np.arange(length * SAMPLES_PER_MS, dtype=np.float32)
    return Window(0, end, samples, pieces, tuple(SpeechSpan(*span) for span in spoken))


def test_a_pause_behind_a_long_turn_is_a_place_to_cut() -> None:
    first, second = turns(window_of((500, 6_000), (7_000, 13_000)))
    assert (first.start, first.end, second.start, second.end) == (0, 6_500, 6_500, 14_000)
    assert (first.speech, second.speech) == ((SpeechSpan(500, 6_000),), (SpeechSpan(7_000, 13_000),))
    assert second.samples[0] == 6_500 * SAMPLES_PER_MS
    assert second.to_file(100) == 6_600


def test_short_pauses_and_short_turns_stay_together() -> None:
    assert len(turns(window_of((500, 6_000), (6_500, 13_000)))) == 1
    assert len(turns(window_of((500, 3_000), (4_000, 7_000)))) == 1
    assert [turn.speech[0].start for turn in turns(window_of((0, 6_000), (7_000, 12_500), (13_500, 14_500)))] == [
        0,
        7_000,
    ]


def test_a_cut_in_a_silence_that_was_left_out_loses_nothing() -> None:
    pieces = (Piece(0, 0, 7_000), Piece(7_000, 29_000, 8_000))
    first, second = turns(window_of((0, 6_000), (30_000, 36_000), pieces=pieces))
    assert first.pieces == (Piece(0, 0, 7_000),)
    assert second.pieces == (Piece(0, 29_000, 8_000),)
    assert second.samples[0] == 7_000 * SAMPLES_PER_MS


@given(st.lists(st.tuples(st.integers(300, 9_000), st.integers(100, 3_000)), min_size=1, max_size=8))
def test_turns_are_the_window_again_one_after_the_other(lengths: list[tuple[int, int]]) -> None:
    spoken, at = list[tuple[int, int]](), 200
    for speech, pause in lengths:
        spoken.append((at, at + speech))
        at += speech + pause
    window = window_of(*spoken)
    cut = turns(window)
    assert np.array_equal(np.concatenate([turn.samples for turn in cut]), window.samples)
    assert [span for turn in cut for span in turn.speech] == list(window.speech)
    assert all(before.end == after.start for before, after in pairwise(cut))
    assert all(turn.start <= turn.speech[0].start and turn.speech[-1].end <= turn.end for turn in cut)
