"""The odd files of the shared recordings: what may fail does so as told, what must be heard has its right length."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.audio.media import open_media
from engine.errors import EngineError

pytestmark = pytest.mark.real

# How long the sound is, in ms, of files made from the same few recordings.
JFK, LJ, LIBRIVOX = 11_000, 9_655, 8_730
LENGTHS = {
    "bits_24.wav": LJ,
    "bits_float32.wav": LJ,
    "bits_float64.wav": LIBRIVOX,
    "browser_mediarecorder_no_duration.webm": JFK,
    "channels_5.1_centre.flac": JFK,
    "channels_left_only.wav": LIBRIVOX,
    "channels_phase_inverted.wav": LIBRIVOX,
    "channels_two_speakers.wav": 5_000,
    "codec_ac3.mka": JFK,
    "codec_speex.ogg": LIBRIVOX,
    "exactly_30s.wav": 30_000,
    "level_very_quiet.wav": LIBRIVOX,
    "long_2h_silence_then_words.flac": 7_200_000 + LIBRIVOX,
    "m4a_aac.m4a": JFK,
    "m4a_moov_at_end.m4a": LJ,
    "mp3_id3_art.mp3": JFK,
    "mp3_junk_before_first_frame.mp3": JFK,
    "mp3_named.wav": JFK,
    "mp3_truncated.mp3": 6_600,
    "noise_kitchen_real_40s.wav": 40_000,
    "noise_white_30s.wav": 30_000,
    "phone_call_google.wav": 45_300,
    "rate_11025_8bit.wav": JFK,
    "rate_44k_stereo.wav": JFK,
    "rate_8k_gsm.wav": JFK,
    "rate_8k_mulaw.wav": JFK,
    "rate_96k_24bit.flac": LJ,
    "short_50ms.wav": 50,
    "short_one_word.wav": 620,
    "silence_digital_30s.wav": 30_000,
    "speech_after_5min_silence.ogg": 301_000 + LIBRIVOX,
    "speech_then_2min_silence.mp3": JFK + 120_000,
    "video_audio_starts_late.mkv": 5_000 + LIBRIVOX,
    "video_h264_aac.mp4": JFK,
    "video_h264_two_audio.mkv": LIBRIVOX,
    "video_mov_pcm.mov": LIBRIVOX,
    "video_vp8_opus.webm": JFK,
    "voice_note.opus": LIBRIVOX,
    "wav_odd_chunks.wav": LIBRIVOX,
    "wav_streamed_sizes_zero.wav": LIBRIVOX,
    "wav_truncated_data.wav": LIBRIVOX // 2,
}
NOTICES = {"channels_phase_inverted.wav": ["channels_cancel"], "video_audio_starts_late.mkv": ["late_sound"]}


def manifest(folder: Path) -> Iterator[tuple[Path, str]]:
    with (folder / "odd" / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield folder / "odd" / row["file"], row["check"]


def outcome(path: Path) -> str:
    try:
        with open_media(path) as media:
            return f"sound:{sum(len(block.samples) for block in media.blocks()) > 0}"
    except EngineError as error:
        return str(error.code)


def test_every_check_of_the_manifest_holds_as_far_as_it_is_about_media(shared_audio):
    files = list(manifest(shared_audio))
    assert len(files) > 50
    wrong: list[str] = []
    for path, check in files:
        allowed = {"sound:True"}
        if check.startswith("error:"):
            allowed = set(check.removeprefix("error:").split("|"))
        elif check == "ok":  # or one sentence
            allowed |= {"damaged", "not_media", "no_audio"}
        if (came := outcome(path)) not in allowed:
            wrong.append(f"{path.name}: {came}, not {allowed}")
    assert wrong == []


@pytest.mark.parametrize("name", LENGTHS)
def test_an_odd_file_has_its_right_length(name, shared_audio, listen):
    heard = listen(shared_audio / "odd" / name)
    assert heard.ms == pytest.approx(LENGTHS[name], abs=110)  # an encoder's padding in 16 kHz MP3 is the most
    assert heard.codes == NOTICES.get(name, [])


def test_phase_inverted_speech_is_as_loud_as_it_was(shared_audio, listen, amplitude):
    plain = listen(shared_audio / "odd" / "bits_float64.wav").samples
    for name in ("channels_phase_inverted.wav", "channels_left_only.wav"):
        assert amplitude(listen(shared_audio / "odd" / name).samples) == pytest.approx(amplitude(plain), rel=0.01)


def test_the_english_track_is_the_default_and_named(shared_audio):
    with open_media(shared_audio / "odd" / "video_h264_two_audio.mkv") as media:
        assert media.track.name == "2: English, mono"
        assert [track.name for track in media.tracks] == ["1: German, mono", "2: English, mono"]


def test_late_sound_comes_late(shared_audio, listen):
    heard = listen(shared_audio / "odd" / "video_audio_starts_late.mkv")
    assert not heard.between(0, 5_000).any()
    assert heard.between(5_000, 6_000).any()
