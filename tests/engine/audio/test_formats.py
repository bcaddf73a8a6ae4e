"""Whatever ffmpeg reads becomes the same tone at 16 kHz: right pitch, right length, right level."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.audio.media import open_media

MP3_DELAY = 60  # ms: what encoders put before and after, where the format cannot say how much
FORMATS = {
    "mu_law_8k.wav": (["-ac", "1", "-ar", "8000", "-c:a", "pcm_mulaw"], 2),
    "gsm_8k.wav": (["-ac", "1", "-ar", "8000", "-c:a", "libgsm_ms"], 40),
    "unsigned_8_bit.wav": (["-ar", "11025", "-c:a", "pcm_u8"], 2),
    "16_bit.wav": (["-c:a", "pcm_s16le"], 2),
    "24_bit_96k.wav": (["-ar", "96000", "-c:a", "pcm_s24le"], 2),
    "32_bit.wav": (["-c:a", "pcm_s32le"], 2),
    "float_32.wav": (["-c:a", "pcm_f32le"], 2),
    "float_64.wav": (["-c:a", "pcm_f64le"], 2),
    "16k_mono_float.wav": (["-af", "pan=mono|c0=c0", "-ar", "16000", "-c:a", "pcm_f32le"], 2),
    "192k.flac": (["-ar", "192000"], 2),
    "24_bit.flac": (["-sample_fmt", "s32"], 2),
    "big_endian.aiff": ([], 2),
    "apple.caf": ([], 2),
    "sun.au": ([], 2),
    "lossless.m4a": (["-c:a", "alac"], 2),
    "lossless.wv": ([], 2),
    "constant.mp3": (["-b:a", "128k"], 2),
    "variable.mp3": (["-q:a", "6"], 2),
    "no_xing.mp3": (["-write_xing", "0"], MP3_DELAY),
    "mpeg_2_16k.mp3": (["-ar", "16000"], 2),
    "layer_2.mp2": ([], MP3_DELAY),
    "bare.aac": (["-c:a", "aac"], MP3_DELAY),
    "itunes.m4a": (["-c:a", "aac"], 30),
    "moov_first.m4a": (["-c:a", "aac", "-movflags", "+faststart"], 30),
    "fragments.mp4": (["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"], 80),
    "dolby.ac3": ([], 40),
    "dolby.mka": (["-c:a", "ac3"], 40),
    "vorbis.ogg": (["-c:a", "libvorbis"], 2),
    "vorbis.mka": (["-c:a", "libvorbis"], 40),
    "opus.ogg": (["-c:a", "libopus"], 2),
    "opus.webm": (["-c:a", "libopus"], 2),
    "speex.ogg": (["-af", "pan=mono|c0=c0", "-ar", "16000", "-c:a", "libspeex"], 25),
    "flac.ogg": (["-c:a", "flac"], 2),
    "windows.wma": ([], 60),
    "broadcast.ts": (["-c:a", "aac"], MP3_DELAY),
    "flash.flv": (["-c:a", "mp3"], MP3_DELAY),
    "quicktime.mov": (["-c:a", "pcm_s16be"], 2),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_tone(name, make, listen, frequency, amplitude):
    arguments, tolerance = FORMATS[name]
    heard = listen(make(name, *arguments))
    assert abs(heard.ms - 3000) <= tolerance
    middle = heard.between(500, 2500)
    assert frequency(middle) == pytest.approx(440, abs=1)
    assert amplitude(middle) == pytest.approx(0.5, rel=0.06)  # LAME takes 5 % off by itself
    assert heard.notices == []


def test_the_first_sample_stays_the_first(make, listen):
    # A click at exactly 1 s is at exactly 1 s, whatever the rate it came from.
    for rate in (8_000, 11_025, 44_100, 48_000, 96_000):
        heard = listen(make(f"click{rate}.wav", tone="if(between(t\\,1\\,1.002)\\,0.8\\,0)", rate=rate))
        loud = abs(heard.samples) > 0.4
        assert loud.argmax() == pytest.approx(16_000, abs=6)
        assert len(heard.samples) == 48_000


def test_a_video_gives_its_sound(make, listen, frequency):
    heard = listen(make("film.mp4", "-f", "lavfi", "-i", "testsrc=d=3:r=10", "-f", "lavfi", "-i", "sine=300:d=3"))
    assert frequency(heard.between(500, 2500)) == pytest.approx(300, abs=1)
    assert abs(heard.ms - 3000) <= 30


def test_a_picture_inside_a_recording_is_no_video(make, listen, frequency, tmp_path):
    picture = make("cover.png", "-f", "lavfi", "-i", "testsrc=d=1:r=1", "-frames:v", "1")
    sound = make("plain.mp3")
    heard = listen(make("with_cover.mp3", "-i", str(picture), "-i", str(sound), "-map", "1", "-map", "0", "-c", "copy"))
    assert abs(heard.ms - 3000) <= 2
    assert heard.notices == []


def test_a_file_without_a_known_length_is_read_to_its_end(make, listen):
    live = make("live.webm", "-c:a", "libopus", "-f", "webm", "-live", "1")
    heard = listen(live)
    assert heard.media.duration is None
    assert abs(heard.ms - 3000) <= 2


def test_the_length_is_known_before_the_sound_is_read(make):
    with open_media(make("16_bit.wav", "-c:a", "pcm_s16le")) as media:
        assert media.duration == 3000


def test_a_recording_whose_format_changes_on_the_way_goes_on(make, listen, tmp_path, frequency):
    # Two programmes of a broadcast, one after the other: stereo at 48 kHz, then mono at 32 kHz.
    parts = [make("one.ts", "-c:a", "mp2", "-ar", "48000"), make("two.ts", "-c:a", "mp2", "-ac", "1", "-ar", "32000")]
    joined = tmp_path / "joined.ts"
    joined.write_bytes(b"".join(part.read_bytes() for part in parts))
    heard = listen(joined)
    assert abs(heard.ms - 6000) <= 2 * MP3_DELAY
    assert frequency(heard.between(500, 2500)) == pytest.approx(440, abs=1)
    assert frequency(heard.between(3500, 5500)) == pytest.approx(440, abs=1)


def test_nothing_is_printed_by_ffmpeg(make, tmp_path):
    broken = tmp_path / "broken.mp3"
    data = bytearray(make("constant.mp3", "-b:a", "128k").read_bytes())
    data[20_000:24_000] = bytes(4_000)
    broken.write_bytes(data)
    script = "import sys; from engine.audio.media import open_media; list(open_media(sys.argv[1]).blocks())"
    run = subprocess.run([sys.executable, "-c", script, str(broken)], capture_output=True, check=True)
    assert (run.stdout, run.stderr) == (b"", b"")
