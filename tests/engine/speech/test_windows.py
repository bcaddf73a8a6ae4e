"""Windows from scripted probabilities: nothing lost, nothing twice, every millisecond back where it came from.

The samples of these recordings count upwards, so that a sample of a window tells where in the file it was taken.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.speech.spans import SpanFinder
from engine.speech.vad import SpeechDetector
from engine.speech.windows import Piece, Window, windows
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS, WINDOW_MS, AudioBlock, SpeechSpan

if TYPE_CHECKING:
    from engine.types import Samples

Script: TypeAlias = Callable[[Sequence[float]], SpeechDetector]
Collect: TypeAlias = Callable[..., list[Window]]

MS = 32  # a frame
NO_AUDIO = np.zeros(0, np.float32)

# Talk as it comes: some seconds of speech, mostly short pauses, now and then a long one.
pauses = st.one_of(st.integers(1, 40), st.integers(40, 120), st.integers(120, 700))
talk = st.lists(st.tuples(st.integers(1, 250), pauses), min_size=1, max_size=25).map(
    lambda turns: [value for yes, no in turns for value in [0.9] * yes + [0.02] * no]
)


def counting(milliseconds: int) -> Samples:
    return np.arange(milliseconds * SAMPLES_PER_MS, dtype=np.float32)


def of(script: Sequence[float]) -> Samples:
    return counting(len(script) * MS)


def merged(spans: Sequence[SpeechSpan]) -> list[SpeechSpan]:
    out: list[SpeechSpan] = []
    for span in spans:
        if out and out[-1].end == span.start:
            out[-1] = SpeechSpan(out[-1].start, span.end)
        else:
            out.append(span)
    return out


def speech_in(script: Sequence[float]) -> list[SpeechSpan]:
    finder = SpanFinder(0)
    return merged([*finder.feed(script), *finder.finish(len(script) * MS)])


def check(window: Window) -> None:
    """What holds for every window."""
    length = window.pieces[-1].at + window.pieces[-1].length
    assert 0 < length <= WINDOW_MS
    assert len(window.samples) == length * SAMPLES_PER_MS
    assert (window.start, window.end) == (window.pieces[0].start, window.pieces[-1].start + window.pieces[-1].length)
    assert window.pieces[0].at == 0
    for a, b in pairwise(window.pieces):
        assert a.at + a.length == b.at
        assert a.start + a.length < b.start
    for piece in window.pieces:
        taken = window.samples[piece.at * SAMPLES_PER_MS : (piece.at + piece.length) * SAMPLES_PER_MS]
        assert taken[0] == piece.start * SAMPLES_PER_MS
        assert (np.diff(taken) == 1).all()
    assert window.speech
    for span in window.speech:
        assert any(p.start <= span.start and span.end <= p.start + p.length for p in window.pieces)


@settings(max_examples=60, deadline=None)
@given(script=talk)
def test_windows_hold_all_speech_exactly_once(scripted: Script, collect: Collect, script: list[float]) -> None:
    found = collect(of(script), scripted(script))
    for window in found:
        check(window)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert merged([span for window in found for span in window.speech]) == speech_in(script)


@settings(max_examples=30, deadline=None)
@given(script=talk)
def test_times_come_back_exactly(scripted: Script, collect: Collect, script: list[float]) -> None:
    for window in collect(of(script), scripted(script)):
        length = len(window.samples) // SAMPLES_PER_MS
        times = [window.to_file(at) for at in range(length)]
        assert times == sorted(times)
        assert times == [int(sample) // SAMPLES_PER_MS for sample in window.samples[::SAMPLES_PER_MS]]
        assert [window.to_file(at + 1, end=True) - 1 for at in range(length)] == times
        assert window.to_file(-50) == window.start
        assert window.to_file(length) == window.to_file(length + 5_000) == window.end


@settings(max_examples=30, deadline=None)
@given(script=talk, sizes=st.lists(st.integers(0, 40_000), min_size=1, max_size=8))
def test_the_sizes_of_the_blocks_do_not_matter(
    scripted: Script, collect: Collect, script: list[float], sizes: list[int]
) -> None:
    samples = of(script)

    def blocks() -> Iterator[AudioBlock]:
        at = number = 0
        while at < len(samples):
            size = max(sizes[number % len(sizes)], 1 if number % len(sizes) == 0 else 0)
            yield AudioBlock(at // SAMPLES_PER_MS, samples[at : at + size * SAMPLES_PER_MS])
            at, number = at + size * SAMPLES_PER_MS, number + 1

    found = [window for window in windows(blocks(), scripted(script)) if window]
    expected = collect(samples, scripted(script), 30_000)
    assert [(w.pieces, w.speech) for w in found] == [(w.pieces, w.speech) for w in expected]
    assert all((a.samples == b.samples).all() for a, b in zip(found, expected, strict=True))


def frames(seconds: float) -> int:
    return round(seconds * 1000 / MS)


def said(*turns: tuple[float, float]) -> list[float]:
    """(seconds of speech, seconds of silence after it), …"""
    return [value for yes, no in turns for value in [0.9] * frames(yes) + [0.02] * frames(no)]


def test_neighbouring_sentences_share_a_window(scripted: Script, collect: Collect) -> None:
    script = said((4, 0.5), (6, 1.5), (5, 0.3), (8, 1))
    (window,) = collect(of(script), scripted(script))
    assert len(window.pieces) == 1
    assert len(window.speech) == 4


def test_a_long_silence_is_shortened_inside_a_window(scripted: Script, collect: Collect) -> None:
    script = said((4, 6), (4, 1))
    (window,) = collect(of(script), scripted(script))
    assert window.pieces == (Piece(0, 0, 5_000), Piece(5_000, 9_016, 5_992))
    assert window.to_file(5_000) == 9_016
    assert window.to_file(5_000, end=True) == 5_000


def test_after_a_very_long_silence_a_window_begins(scripted: Script, collect: Collect) -> None:
    script = said((4, 24), (4, 1))
    first, second = collect(of(script), scripted(script))
    assert first.end == 4_000 + 1_000
    assert second.start == 28_000 - 1_000


def test_a_window_is_cut_at_a_pause(scripted: Script, collect: Collect) -> None:
    script = said(*[(5.5, 0.4)] * 12)
    found = collect(of(script), scripted(script))
    assert all(span in speech_in(script) for window in found for span in window.speech)
    assert [len(window.speech) for window in found] == [5, 5, 2]


def test_a_long_pause_is_taken_before_the_window_is_full(scripted: Script, collect: Collect) -> None:
    script = said((12, 0.2), (12, 1.5), (2, 0.2), (6, 1))
    first, _ = collect(of(script), scripted(script))
    assert first.speech[-1].end == pytest.approx(24_200, abs=MS)


def test_speech_without_a_pause_is_cut_at_its_quietest_place(scripted: Script, collect: Collect) -> None:
    script = [0.9] * frames(45)
    samples = np.ones(len(script) * MS * SAMPLES_PER_MS, np.float32)
    samples[26_000 * SAMPLES_PER_MS : 26_100 * SAMPLES_PER_MS] = 0
    first, second = collect(samples, scripted(script))
    assert first.end == second.start == 26_050
    assert first.speech + second.speech == (SpeechSpan(0, 26_050), SpeechSpan(26_050, len(script) * MS))


def test_without_a_detector_everything_is_kept(collect: Collect) -> None:
    samples = counting(100_007)
    found = collect(samples, None)
    assert all(len(window.pieces) == 1 for window in found)
    assert (np.concatenate([window.samples for window in found]) == samples).all()
    assert [a.end for a in found[:-1]] == [b.start for b in found[1:]]
    assert max(window.end - window.start for window in found) <= WINDOW_MS
    assert min(window.end - window.start for window in found[:-1]) >= 20_000


@pytest.mark.parametrize("samples", [0, 1, 15, 511, 800])
def test_a_recording_of_a_few_samples_gives_no_window(collect: Collect, samples: int) -> None:
    assert collect(np.zeros(samples, np.float32), SpeechDetector()) == []


def test_no_blocks_give_no_windows() -> None:
    assert list(windows([], SpeechDetector())) == []
    assert list(windows([], None)) == []


def test_empty_blocks_are_let_pass(scripted: Script) -> None:
    script = said((2, 0.512))
    blocks = [AudioBlock(0, NO_AUDIO), AudioBlock(0, of(script)), AudioBlock(2_512, NO_AUDIO)]
    assert len([window for window in windows(blocks, scripted(script)) if window]) == 1


def test_a_rest_of_less_than_a_millisecond_is_dropped(scripted: Script, collect: Collect) -> None:
    samples = np.arange(2_000 * SAMPLES_PER_MS + 7, dtype=np.float32)
    (window,) = collect(samples, scripted([0.9] * 63))
    assert (window.start, window.end) == (0, 2_000)
    assert len(window.samples) == 2_000 * SAMPLES_PER_MS


def test_times_count_from_the_first_block(scripted: Script) -> None:
    script = said((0, 1), (3, 1))
    (window,) = [w for w in windows([AudioBlock(60_000, of(script))], scripted(script)) if w]
    assert window.speech == (SpeechSpan(60_992, 63_968 + MS),)
    assert window.start == 60_000


def test_a_window_comes_before_the_recording_ends(scripted: Script) -> None:
    script = said(*[(4, 0.4)] * 30)
    asked = 0

    def blocks() -> Iterator[AudioBlock]:
        nonlocal asked
        samples = of(script)
        for start in range(0, len(samples), 5_000 * SAMPLES_PER_MS):
            asked = start // SAMPLES_PER_MS + 5_000
            yield AudioBlock(start // SAMPLES_PER_MS, samples[start : start + 5_000 * SAMPLES_PER_MS])

    first = next(window for window in windows(blocks(), scripted(script)) if window)
    assert asked <= first.end + 15_000


def test_waiting_is_told_block_by_block(scripted: Script, cut: Callable[..., Iterator[AudioBlock]]) -> None:
    samples = np.zeros(60 * SAMPLE_RATE, np.float32)
    assert list(windows(cut(samples, 10_000), scripted([0.02] * frames(61)))) == [None] * 6


@pytest.mark.parametrize("script", [said((0, 3_600)), said(*[(0.5, 19)] * 185)], ids=["silence", "few words"])
def test_an_hour_takes_no_more_memory_than_minutes(scripted: Script, script: list[float]) -> None:
    silence = np.zeros(10 * SAMPLE_RATE, np.float32)
    detector = scripted(script)
    tracemalloc.start()
    for number, _ in enumerate(windows((AudioBlock(at * 10_000, silence.copy()) for at in range(360)), detector)):
        if number == 30:
            tracemalloc.reset_peak()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40_000_000  # four minutes of samples are 16 MB, and a window is copied twice
