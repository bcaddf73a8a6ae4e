"""Which jumps of a file's clock are believed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from av.audio.frame import AudioFrame

from engine.audio.notices import MediaNotice, Notices
from engine.audio.timeline import Timeline

FRAME = 0.1  # s


def frame(time: float | None) -> AudioFrame:
    made = AudioFrame.from_ndarray(np.full((1, 1_600), 0.5, np.float32), format="flt", layout="mono")
    made.sample_rate = 16_000
    made.time_base = Fraction(1, 1000)
    made.pts = None if time is None else round(time * 1000)
    return made


def laid(times, *, starts=None, timed=True, end=None) -> tuple[float, list[MediaNotice]]:
    """How many seconds come out of frames of 0.1 s at these times, and the notices."""
    notices = Notices()
    line = Timeline(notices, starts=starts, timed=timed, end=end)
    samples = 0
    for time in times:
        samples += sum(len(piece) for piece in line.lay(frame(time)))
    samples += sum(len(piece) for piece in line.finish())
    assert line.position == pytest.approx(samples / 16_000)
    return samples / 16_000, notices.entries


def steady(start, end):
    return [start + number * FRAME for number in range(round((end - start) / FRAME))]


def test_steady_frames_are_only_themselves():
    assert laid(steady(0, 10)) == (pytest.approx(10), [])


def test_a_gap_is_filled_and_told():
    seconds, notices = laid(steady(0, 3) + steady(5, 10))
    assert seconds == pytest.approx(10)
    assert notices == [MediaNotice("gap", "", 3000, 5000)]


def test_a_gap_after_the_lead_in_of_an_encoder_is_filled_without_a_word():
    assert laid([0.0, *steady(0.3, 5)]) == (pytest.approx(5), [])


def test_jitter_is_not_filled():
    times = [time + (0.02 if number % 3 else -0.02) for number, time in enumerate(steady(1, 20))]
    assert laid(times) == (pytest.approx(19, abs=0.1), [])


@pytest.mark.parametrize("wrong", [400.0, 3.4, -400.0, 0.0, 1e9, -1e9])
def test_one_wrong_stamp_moves_nothing(wrong):
    assert laid([*steady(0, 3), wrong, *steady(3.1, 10)]) == (pytest.approx(10), [])


def test_frames_without_times_follow_one_another():
    assert laid([None] * 50) == (pytest.approx(5), [])
    assert laid([*steady(0, 3), *[None] * 20, *steady(5, 10)]) == (pytest.approx(10), [])


def test_a_clock_that_starts_again_counts_on():
    assert laid(steady(0, 30) + steady(0, 30)) == (pytest.approx(60), [])
    seconds, notices = laid(steady(0, 30) + steady(0, 10) + steady(12, 30))
    assert seconds == pytest.approx(60)
    assert [notice.start for notice in notices] == [40_000]


def test_an_overlap_is_neither_cut_nor_made_up_for():
    assert laid(steady(0, 5) + steady(4.5, 10)) == (pytest.approx(10.5), [])


def test_a_gap_beyond_the_end_of_the_file_is_not_believed():
    assert laid(steady(0, 3) + steady(100, 107), end=10.0) == (pytest.approx(10), [])


def test_no_file_gets_more_than_two_hours_of_silence():
    seconds, notices = laid([second * 600.0 for second in range(60)])
    assert 6_600 < seconds < 7_210
    assert len(notices) < 20


def test_a_picture_that_starts_earlier_brings_silence():
    assert laid(steady(5, 10), starts=0.0) == (pytest.approx(10), [MediaNotice("late_sound", "", 0, 5000)])
    assert laid(steady(1.42, 5), starts=1.4)[0] == pytest.approx(3.6, abs=0.05)
    assert laid(steady(1, 5), starts=3.0)[0] == pytest.approx(4)


def test_a_picture_hours_earlier_is_not_believed():
    assert laid(steady(50_000, 50_005), starts=0.0) == (pytest.approx(5), [])


def test_guessed_times_are_not_looked_at():
    assert laid(steady(0, 3) + steady(5, 10), timed=False) == (pytest.approx(8), [])


def test_a_long_silence_comes_in_pieces():
    line = Timeline(Notices(), starts=None, timed=True, end=None)
    pieces = [piece for time in (0.0, 3_600.0, 3_600.1) for piece in line.lay(frame(time))]
    assert max(len(piece) for piece in pieces) <= 160_000
