"""Windows of real recordings: speech is found however it was recorded, and noise is left alone."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from engine.speech.vad import SpeechDetector
from engine.speech.windows import Window

if TYPE_CHECKING:
    from engine.types import Samples

Collect: TypeAlias = Callable[..., list[Window]]
Record: TypeAlias = "Callable[[str], Samples]"

pytestmark = pytest.mark.real

JFK = [(250, 10_500)]
SORROW = [(300, 8_500)]
# File, and where there is speech by ear; None for times that stand beside the recording (refs).
SPEECH: dict[str, list[tuple[int, int]] | None] = {
    "odd/rate_8k_gsm.wav": JFK,
    "odd/rate_8k_mulaw.wav": JFK,
    "odd/rate_11025_8bit.wav": JFK,
    "odd/level_very_quiet.wav": SORROW,
    "odd/speech_fast_1.8x.wav": [(100, 4_700)],
    "odd/short_one_word.wav": [(50, 550)],
    "odd/speech_after_5min_silence.ogg": [(300_500, 308_500)],
    "odd/speech_then_2min_silence.mp3": JFK,
    "odd/exactly_30s.wav": [*JFK, (21_500, 30_000)],
    "odd/phone_call_google.wav": [(2_500, 43_000)],
    "speech/en_noise_dishes_5dB.wav": [(1_000, 11_000)],
    "speech/en_noise_kitchen_10dB.wav": [(500, 11_000)],
    "speech/ru_asterisk_demo-congrats.wav": [(0, 31_300)],
    "speech/en_3spk_picovoice.wav": None,
    "speech/en_3spk_turns_built.flac": None,
    "speech/en_meeting_ami_EN2001a_0-30s.wav": None,
    "speech/en_meeting_ami_EN2002b_0-30s.wav": None,
    "speech/mixed_en-de-fr-es-pt_fleurs.opus": None,
}
# Of the meetings, single quiet words far from the microphone are missed: "No.", "Okay.", "Gosh.", "'Kay."
# The times of the mixed recording are those of its clips, with the silence at their ends.
FOUND = {
    "speech/en_meeting_ami_EN2001a_0-30s.wav": 0.90,
    "speech/en_meeting_ami_EN2002b_0-30s.wav": 0.80,
    "speech/mixed_en-de-fr-es-pt_fleurs.opus": 0.80,
}


def covered(found: list[Window], start: int, end: int) -> int:
    """Milliseconds of [start, end) that lie in some window."""
    pieces = [(piece.start, piece.start + piece.length) for window in found for piece in window.pieces]
    return sum(max(0, min(end, last) - max(start, first)) for first, last in pieces)


def referenced(shared_audio: Path, name: str) -> list[tuple[int, int]]:
    """Where the reference beside the recording has speech."""
    with (shared_audio / "speech/refs" / f"{Path(name).stem}.segments.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [(round(float(row["start"]) * 1000), round(float(row["end"]) * 1000)) for row in rows]


@pytest.mark.parametrize("name", SPEECH)
def test_speech_is_found_however_it_was_recorded(shared_audio: Path, real: Record, collect: Collect, name: str) -> None:
    found = collect(real(name), SpeechDetector())
    wanted = SPEECH[name] or referenced(shared_audio, name)
    there = sum(covered(found, start, end) for start, end in wanted)
    assert there >= FOUND.get(name, 0.97) * sum(end - start for start, end in wanted)


@pytest.mark.parametrize(
    "name", ["silence_digital_30s.wav", "noise_white_30s.wav", "noise_kitchen_real_40s.wav", "short_50ms.wav"]
)
def test_noise_and_silence_give_no_window(real: Record, collect: Collect, name: str) -> None:
    assert collect(real(f"odd/{name}"), SpeechDetector()) == []


def test_of_music_only_the_announcement_is_left(real: Record, collect: Collect) -> None:
    (window,) = collect(real("odd/music_mix_ina.mp3"), SpeechDetector())
    assert window.start > 60_000


def test_of_a_film_without_words_only_the_groan_is_left(real: Record, collect: Collect) -> None:
    """The rabbit stretches, with a voice: 2.2 s at a probability of 0.97, which no threshold tells from speech."""
    found = collect(real("odd/video_big_buck_bunny_lhotse.mp4"), SpeechDetector())
    assert [window.speech[0].start // 100 for window in found] == [27]


def test_a_chapter_takes_nine_windows(shared_audio: Path, real: Record, collect: Collect) -> None:
    name = "speech/en_long_LJ001_chapter.ogg"
    found = collect(real(name), SpeechDetector())
    assert len(found) == 9
    assert all(len(window.pieces) == 1 for window in found)
    for start, end in referenced(shared_audio, name):
        assert covered(found, start, end) >= end - start - 150


def test_a_chapter_is_cut_in_its_pauses(real: Record, collect: Collect) -> None:
    found = collect(real("speech/en_long_LJ001_chapter.ogg"), SpeechDetector())
    assert min(after.speech[0].start - before.speech[-1].end for before, after in pairwise(found)) >= 250
