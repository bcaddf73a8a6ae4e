"""Quiet speech is lifted, loud speech and silence are left alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.audio.level import normalised, peak_dbfs


def tone(dbfs, seconds=2.0):
    peak = 10 ** (dbfs / 20)
    return (peak * np.sin(2 * np.pi * 440 * np.arange(int(seconds * 16_000)) / 16_000)).astype(np.float32)


def word(dbfs):
    """One word in 30 s."""
    samples = np.zeros(480_000, np.float32)
    samples[200_000:205_000] = tone(dbfs, 0.3125)
    return samples


@pytest.mark.parametrize("dbfs", [-21, -30, -40, -49])
def test_quiet_sound_comes_to_3_below_full_scale(dbfs):
    assert peak_dbfs(normalised(tone(dbfs))) == pytest.approx(-3, abs=0.2)


def test_at_most_46_db_are_added():
    assert peak_dbfs(normalised(tone(-60))) == pytest.approx(-14, abs=0.2)


@pytest.mark.parametrize("dbfs", [-19, -6, 0, -91, -100])
def test_loud_sound_and_what_is_below_the_floor_are_left_alone(dbfs):
    samples = tone(dbfs)
    assert normalised(samples) is samples


def test_silence_is_left_alone():
    for samples in (np.zeros(16_000, np.float32), np.zeros(0, np.float32)):
        assert normalised(samples) is samples
        assert peak_dbfs(samples) is None


def test_one_word_is_lifted_as_much_as_a_sentence():
    assert peak_dbfs(normalised(word(-40))) == pytest.approx(-3, abs=0.3)


def test_a_click_does_not_keep_a_whisper_down():
    samples = tone(-50)
    samples[9_000:9_160] = 0.9
    lifted = normalised(samples)
    assert np.abs(lifted[12_000:]).max() == pytest.approx(10 ** (-4 / 20), rel=0.03)
    assert np.abs(lifted).max() <= 1


def test_a_short_stretch_goes_by_its_peak():
    assert peak_dbfs(normalised(tone(-40, 0.03))) == pytest.approx(-3, abs=0.2)


def test_the_peak_is_that_of_the_loudest_sample():
    assert peak_dbfs(np.array([0.1, -0.5, 0.2], np.float32)) == pytest.approx(-6.02, abs=0.01)
    assert peak_dbfs(np.array([0, -1], np.float32)) == 0


@given(st.floats(-120, 6), st.integers(0, 40_000))
def test_it_is_never_made_quieter_nor_above_full_scale(dbfs, length):
    samples = tone(dbfs, 2.5)[:length]
    before = samples.copy()
    lifted = normalised(samples)
    assert np.array_equal(samples, before)
    assert lifted.dtype == np.float32
    assert lifted.shape == samples.shape
    assert (np.abs(lifted) >= np.minimum(np.abs(samples), 1)).all()
    assert lifted is samples or np.abs(lifted).max(initial=0) <= 1
