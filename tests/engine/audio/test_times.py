"""Times count from the picture, and stay right where sound is missing."""

from __future__ import annotations

import numpy as np
import pytest

SILENT_PICTURE = ("-f", "lavfi", "-i", "testsrc=d=8:r=10:s=64x64")
LATE = ("-itsoffset", "5", "-f", "lavfi", "-i", "sine=440:d=2")
KINDS = {"late.mkv": "libvorbis", "late.mp4": "aac", "late.mov": "pcm_s16le", "late.ts": "aac", "late.flv": "mp3"}
JITTER = 60  # ms, of formats that round times or hide the encoder's priming


def first_sound(samples):
    """When the first loud sample comes, in ms."""
    return int((np.abs(samples) > 0.02).argmax()) / 16


@pytest.mark.parametrize("name", KINDS)
def test_sound_that_starts_after_the_picture_keeps_its_times(name, make, listen):
    heard = listen(make(name, *SILENT_PICTURE, *LATE, "-ar", "44100", "-c:a", KINDS[name]))
    assert first_sound(heard.samples) == pytest.approx(5000, abs=JITTER)
    assert abs(heard.ms - 7000) <= 2 * JITTER
    assert heard.codes == ["late_sound"]
    assert heard.notices[0].end == pytest.approx(5000, abs=JITTER)


def test_a_second_track_that_starts_late_keeps_its_times(make, listen):
    path = make(
        "late_track.mka", "-f", "lavfi", "-i", "sine=300:d=8", *LATE, "-map", "0", "-map", "1", "-c:a", "libvorbis"
    )
    assert first_sound(listen(path, 2).samples) == pytest.approx(5000, abs=JITTER)
    assert first_sound(listen(path, 1).samples) == pytest.approx(0, abs=JITTER)


@pytest.mark.parametrize("name", ["alone.mka", "alone.ts", "alone.m4a"])
def test_sound_alone_starts_at_once_whatever_its_clock_says(name, make, listen):
    heard = listen(make(name, *LATE, "-ar", "44100", "-c:a", "aac"))
    assert first_sound(heard.samples) <= JITTER
    assert heard.codes == []


def test_a_picture_that_starts_late_moves_nothing(make, listen):
    path = make("late_picture.mkv", "-f", "lavfi", "-i", "sine=440:d=8", "-itsoffset", "5", *SILENT_PICTURE)
    heard = listen(path)
    assert first_sound(heard.samples) <= JITTER
    assert heard.codes == []


@pytest.fixture(scope="session")
def ticking(make):
    """10 s of Opus in packets of 20 ms: a tone at 2 s and one at 8 s, 0.2 s each."""
    tone = "if(between(t\\,2\\,2.2)+between(t\\,8\\,8.2)\\,0.5*sin(2*PI*440*t)\\,0)"
    return make("ticking.ogg", "-c:a", "libopus", tone=tone, seconds=10, rate=48_000)


def last_sound(samples):
    """When the second tone begins, in ms."""
    return first_sound(samples[3 * 16_000 :]) + 3000


@pytest.mark.parametrize("lost", [4, 25, 200])
def test_lost_packets_become_silence_and_later_times_stay_right(lost, ticking, remux, listen, tmp_path):
    path = remux(ticking, tmp_path / "lost.mka", lambda number, _: not 200 <= number < 200 + lost)
    heard = listen(path)
    assert last_sound(heard.samples) == pytest.approx(8000, abs=15)
    assert abs(heard.ms - 10_000) <= 15
    (notice,) = heard.notices
    assert notice.code == "gap"
    assert (notice.start, notice.end) == pytest.approx((4000, 4000 + lost * 20), abs=15)
    assert not heard.between(4050, 3950 + lost * 20).any()


def test_one_lost_packet_is_not_worth_a_word(ticking, remux, listen, tmp_path):
    heard = listen(remux(ticking, tmp_path / "one.mka", lambda number, _: number != 200))
    assert heard.notices == []
    assert abs(heard.ms - 10_000) <= 25


def later(seconds, numbers):
    """A change for `remux`: these packets claim to be later."""

    def change(number, packet):
        if number in numbers:
            packet.pts += round(seconds / packet.time_base)
            packet.dts = packet.pts
        return True

    return change


def test_a_jump_of_hours_is_not_filled(ticking, remux, listen, tmp_path):
    heard = listen(remux(ticking, tmp_path / "hours.mka", later(5 * 3600, range(200, 10_000))))
    assert abs(heard.ms - 10_000) <= 30
    assert last_sound(heard.samples) == pytest.approx(8000, abs=30)


def test_after_a_jump_that_is_not_filled_gaps_are_still_seen(ticking, remux, listen, tmp_path):
    jump = later(5 * 3600, range(150, 10_000))
    path = remux(
        ticking, tmp_path / "both.mka", lambda number, packet: jump(number, packet) and not 200 <= number < 250
    )
    assert last_sound(listen(path).samples) == pytest.approx(8000, abs=30)


def test_many_small_gaps_are_a_few_notices(ticking, remux, listen, tmp_path):
    heard = listen(remux(ticking, tmp_path / "many.mka", lambda number, _: number % 20 < 15))
    assert abs(heard.ms - 10_000) <= 120
    assert heard.codes == ["gap"]
    assert heard.notices[0].end == pytest.approx(9600, abs=150)


def test_recordings_joined_end_to_end_are_heard_one_after_the_other(make, listen, tmp_path):
    part = make("part.ts", "-c:a", "aac", seconds=15)
    joined = tmp_path / "joined.ts"
    joined.write_bytes(part.read_bytes() * 2)
    assert listen(joined).ms == pytest.approx(30_000, abs=100)


def test_what_has_no_measured_times_gets_no_silence(make, listen):
    # The reader of MP3 guesses times from the bit rate; a guess must not tear the sound apart.
    heard = listen(make("variable_long.mp3", "-q:a", "9", "-write_xing", "0", seconds=60))
    assert heard.notices == []
    assert abs(heard.ms - 60_000) <= 60
