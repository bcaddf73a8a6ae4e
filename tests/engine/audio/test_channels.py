"""Several channels become one without losing what is said on any of them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.audio.channels import to_mono

TONE = "0.5*sin(2*PI*440*t)"
OTHER = "0.5*sin(2*PI*1000*t)"


def level_of(samples, hertz):
    """The amplitude of one frequency."""
    waves = np.exp(-2j * np.pi * hertz * np.arange(len(samples)) / 16_000)
    return float(2 * abs(np.dot(samples, waves)) / len(samples))


def test_opposite_channels_do_not_cancel(make, listen):
    heard = listen(make("opposite.wav", tone=f"{TONE}|-{TONE}"))
    assert level_of(heard.between(500, 2500), 440) == pytest.approx(0.5, rel=0.02)
    assert [(notice.code, notice.start, notice.end) for notice in heard.notices] == [("channels_cancel", 0, 3000)]


def test_unequal_opposite_channels_give_the_louder_one(make, listen):
    heard = listen(make("unequal.wav", tone=f"0.2*sin(2*PI*440*t)|-{TONE}"))
    assert heard.codes == []  # 0.15 of 0.5 is left: quieter, but there
    heard = listen(make("near.wav", tone=f"-0.45*sin(2*PI*440*t)|{TONE}"))
    assert heard.codes == ["channels_cancel"]
    assert level_of(heard.between(500, 2500), 440) == pytest.approx(0.475, rel=0.06)


def test_cancelling_is_told_once_for_a_long_file(make, listen):
    heard = listen(make("long_opposite.wav", tone=f"{TONE}|-{TONE}", seconds=45))
    assert heard.codes == ["channels_cancel"]
    assert level_of(heard.between(500, 44_500), 440) == pytest.approx(0.5, rel=0.02)


def test_a_voice_that_cancels_is_found_beside_loud_music_that_does_not(make, listen):
    voice = "if(gte(t\\,5)\\,0.05*sin(2*PI*440*t)\\,0)"
    music = "if(lt(t\\,5)\\,0.5*sin(2*PI*1000*t)\\,0)"
    heard = listen(make("music_voice.wav", tone=f"{voice}+{music}|-{voice}+{music}", seconds=10))
    assert heard.codes == ["channels_cancel"]
    assert level_of(heard.between(6000, 9000), 440) == pytest.approx(0.05, rel=0.05)


@pytest.mark.parametrize("silent", ["left", "right"])
@pytest.mark.parametrize("name", ["one.wav", "one.mp3", "one.m4a"])
def test_a_silent_channel_costs_no_level(silent, name, make, listen):
    tone = f"0|{TONE}" if silent == "left" else f"{TONE}|0"
    heard = listen(make(silent + name, tone=tone))
    assert level_of(heard.between(500, 2500), 440) == pytest.approx(0.5, rel=0.06)
    assert heard.codes == []


def test_both_speakers_of_two_channels_are_heard(make, listen):
    heard = listen(make("two.wav", tone=f"{TONE}|{OTHER}"))
    middle = heard.between(500, 2500)
    assert level_of(middle, 440) == pytest.approx(0.25, rel=0.02)
    assert level_of(middle, 1000) == pytest.approx(0.25, rel=0.02)
    assert heard.codes == []


@pytest.mark.parametrize(("layout", "centre"), [("5.1", 2), ("7.1", 2), ("3.0", 2)])
def test_the_centre_of_surround_sound_comes_through(layout, centre, make, listen):
    channels = {"5.1": 6, "7.1": 8, "3.0": 3}[layout]
    tone = "|".join(TONE if place == centre else "0" for place in range(channels)) + f":c={layout}"
    heard = listen(make(f"centre{layout}.flac", tone=tone, rate=48_000))
    assert level_of(heard.between(500, 2500), 440) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("channels", [3, 4, 8, 9, 10, 16, 24, 64])
def test_a_recorder_of_many_channels_loses_none(channels, make, listen, tmp_path):
    # Channels without a meaning: a voice on the last of them must not be taken for a subwoofer.
    frames = np.zeros((48_000, channels), np.int16)
    frames[:, -1] = 16_000 * np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000)
    size = frames.nbytes
    header = b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    header += (1).to_bytes(2, "little") + channels.to_bytes(2, "little") + (48_000).to_bytes(4, "little")
    header += (96_000 * channels).to_bytes(4, "little") + (2 * channels).to_bytes(2, "little")
    header += (16).to_bytes(2, "little") + b"data" + size.to_bytes(4, "little")
    path = tmp_path / "many.wav"
    path.write_bytes(header + frames.tobytes())
    heard = listen(path)
    assert level_of(heard.between(200, 800), 440) == pytest.approx(16_000 / 32_768, rel=0.02)


def test_ambisonic_sound_is_heard(make, listen):
    # No mix is defined for it; all its channels together are better than none.
    path = make(
        "ambisonic.ogg",
        "-c:a", "libopus", "-mapping_family", "2",
        tone=f"{TONE}|0|0|0:c=4.0", rate=48_000,
    )  # fmt: skip
    assert level_of(listen(path).between(500, 2500), 440) > 0.1


def test_mono_is_passed_on_as_it_is():
    samples = np.linspace(-1, 1, 500, dtype=np.float32).reshape(-1, 1)
    mono, cancels = to_mono(samples)
    assert np.array_equal(mono, samples[:, 0])
    assert not cancels


def test_silence_stays_silence_and_cancels_nothing():
    mono, cancels = to_mono(np.zeros((40_000, 2), np.float32))
    assert not mono.any()
    assert not cancels
    assert mono.shape == (40_000,)


def test_samples_that_are_no_numbers_become_silence(make, listen, tmp_path):
    path = make("float.wav", "-c:a", "pcm_f32le", rate=16_000)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 8 * 8
    data[middle : middle + 12] = np.array([np.nan, np.inf, 1e38], "<f4").tobytes()
    spoilt = tmp_path / "spoilt.wav"
    spoilt.write_bytes(data)
    heard = listen(spoilt)
    assert np.isfinite(heard.samples).all()
    assert np.abs(heard.samples).max() <= 32
    assert level_of(heard.between(100, 1_400), 440) == pytest.approx(0.5, rel=0.02)


def test_equal_channels_keep_their_level():
    wave = np.sin(np.arange(16_000, dtype=np.float32) / 10)
    mono, _ = to_mono(np.stack([wave, wave], axis=1))
    assert np.allclose(mono, wave, atol=1e-6)
    assert mono.dtype == np.float32
