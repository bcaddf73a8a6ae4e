"""Utterances begin before the first word and end in a pause, however the sound arrives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.audio.media import open_media
from engine.speech.endpointing import Endpointer
from engine.speech.vad import SpeechDetector
from engine.speech.windows import Window
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS


@pytest.fixture(scope="module")
def sound(speak: Callable[..., Path]) -> np.ndarray:
    """Two sentences, 1 s of silence around each."""
    parts = [np.zeros(SAMPLE_RATE, np.float32)]
    for text in ("The first sentence is about the weather.", "And the second one is about the sea."):
        with open_media(speak(text)) as media:
            parts += [*(block.samples for block in media.blocks()), parts[0]]
    return np.concatenate(parts)


def utterances(sound: np.ndarray, step: int) -> list[Window]:
    ear = Endpointer(0, SpeechDetector())
    found = [window for at in range(0, len(sound), step) for window in ear.hear(sound[at : at + step])]
    return [*found, *ear.finish()]


def test_an_utterance_begins_half_a_second_before_its_speech_and_ends_in_the_pause(sound: np.ndarray) -> None:
    first, second = utterances(sound, 1600)
    for window in (first, second):
        assert window.speech[0].start - window.start == 500
        assert 450 <= window.end - window.speech[-1].end <= 450 + 32
        assert len(window.samples) == (window.end - window.start) * SAMPLES_PER_MS
    assert first.end <= second.start


def test_utterances_do_not_depend_on_how_the_sound_arrives(sound: np.ndarray) -> None:
    def places(step: int) -> list[tuple[int, int]]:
        return [(window.start, window.end) for window in utterances(sound, step)]

    assert places(37) == places(1600) == places(5 * SAMPLE_RATE)


def test_speech_at_the_very_end_is_an_utterance(sound: np.ndarray) -> None:
    *_, last = utterances(sound[: len(sound) - int(1.5 * SAMPLE_RATE)], 1600)
    assert last.end == (len(sound) - int(1.5 * SAMPLE_RATE)) // SAMPLES_PER_MS


def test_an_utterance_that_is_going_on_is_known(sound: np.ndarray) -> None:
    ear = Endpointer(0, SpeechDetector())
    assert not list(ear.hear(sound[: 2 * SAMPLE_RATE]))
    assert ear.is_going_on
    assert len(ear.so_far()) == (ear.heard - ear.settled) * SAMPLES_PER_MS
    assert 400 <= ear.settled <= 700
    assert ear.heard - ear.spoken_until < 100


@pytest.mark.parametrize("loud", [0.0, 0.1], ids=["silence", "speech without an end"])
def test_no_more_is_held_than_one_utterance(loud: float) -> None:
    ear = Endpointer(0, None if loud else SpeechDetector())
    for _ in range(120):
        windows = list(ear.hear(np.full(SAMPLE_RATE, loud, np.float32)))
        assert all(window.end - window.start <= 30_000 for window in windows)
        assert sum(map(len, ear._tape._blocks)) <= 32 * SAMPLE_RATE
