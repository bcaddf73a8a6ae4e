"""Words and pauses: a word ends where its sound does, and begins where its sound begins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.speech.placing import placed
from engine.speech.windows import Piece, Window
from engine.speech.word_snapping import fitted
from engine.types import SAMPLES_PER_MS, Segment, SpeechSpan, Word


def window(*sounds: tuple[int, int], length: int = 5_000, noise: float = 0.001, start: int = 0) -> Window:
    """A window with sound from … to … (ms), a little noise elsewhere; voice detection took all of it for speech."""
    samples = np.random.default_rng(0).normal(0, noise, length * SAMPLES_PER_MS)
    for first, last in sounds:
        samples[first * SAMPLES_PER_MS : last * SAMPLES_PER_MS] *= 0.1 / noise
    spans = (SpeechSpan(start, start + length),)
    return Window(start, start + length, samples.astype(np.float32), (Piece(0, start, length),), spans)


def segment(*times: tuple[int, int]) -> Segment:
    words = tuple(Word(start, end, f" {number}") for number, (start, end) in enumerate(times))
    return Segment(times[0][0], times[-1][1], "text", words)


def times(found: Segment) -> list[tuple[int, int]]:
    return [(word.start, word.end) for word in found.words]


def test_a_word_before_a_pause_does_not_run_through_it() -> None:
    [found] = fitted([segment((1000, 3000), (3000, 4000))], window((1000, 1400), (3000, 4000)))
    assert times(found) == [(1000, 1420), (3000, 4000)]


def test_a_word_does_not_begin_in_the_pause_before_it() -> None:
    [found] = fitted([segment((1000, 2000), (2000, 3400))], window((1000, 2000), (3000, 3400)))
    assert times(found) == [(1000, 2000), (2980, 3400)]


def test_the_first_sound_of_the_next_word_does_not_hold_a_word_in_the_pause() -> None:
    [found] = fitted([segment((1000, 3040), (3040, 4000))], window((1000, 1400), (3000, 4000)))
    assert times(found) == [(1000, 1420), (3040, 4000)]


def test_the_last_sound_of_the_word_before_does_not_hold_a_word_in_the_pause() -> None:
    [found] = fitted([segment((1000, 1960), (1960, 3400))], window((1000, 2000), (3000, 3400)))
    assert times(found) == [(1000, 1960), (2980, 3400)]


def test_a_closure_within_a_word_is_no_pause() -> None:
    [found] = fitted([segment((1000, 1300), (1300, 1800))], window((1000, 1220), (1300, 1500), (1560, 1720)))
    assert times(found) == [(1000, 1300), (1300, 1800)]


def test_a_segment_is_as_long_as_its_words() -> None:
    [found] = fitted([segment((500, 2000), (2000, 4800))], window((1000, 2000), (2000, 2600)))
    assert (found.start, found.end) == (980, 2620)


def test_a_first_word_put_too_late_does_not_take_the_segment_along() -> None:
    given_late = Segment(500, 4800, "text", (Word(2900, 4800, " 0"),))
    [found] = fitted([given_late], window((1000, 4800)))
    assert (found.start, found.end) == (980, 4800)


def test_where_voice_detection_heard_nobody_a_noise_is_no_part_of_a_word() -> None:
    whole = window((1000, 1400), (2000, 2300))
    heard = Window(0, 5_000, whole.samples, whole.pieces, (SpeechSpan(1000, 1400), SpeechSpan(3000, 3500)))
    [found] = fitted([segment((1000, 3000))], heard)
    assert times(found) == [(1000, 1420)]


def test_in_even_noise_and_in_silence_words_keep_their_times() -> None:
    given = segment((1000, 2000), (2000, 3400))
    assert list(fitted([given], window((0, 5_000)))) == [given]
    silent = window()
    silent.samples[:] = 0
    assert list(fitted([given], silent)) == [given]


def test_a_segment_without_words_is_left_as_it_is() -> None:
    given = Segment(100, 4900, "text")
    assert list(fitted([given], window((1000, 1400)))) == [given]


@settings(max_examples=60, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 5_000), min_size=2, max_size=12).map(sorted),
    sounds=st.lists(st.integers(0, 5_000), max_size=8).map(sorted),
)
def test_words_stay_in_order_inside_their_segment(cuts: list[int], sounds: list[int]) -> None:
    given_words = segment(*pairwise(cuts))
    heard = window(*zip(sounds[::2], sounds[1::2], strict=False), start=60_000)
    for found in placed([given_words], heard):
        flat = [time for pair in times(found) for time in pair]
        assert flat == sorted(flat)
        assert found.start <= flat[0]
        assert flat[-1] <= found.end
        assert found.start >= 60_000
