"""A damaged file gives what is there, at the right times, and says where it is damaged; nothing crashes or hangs."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.audio.media import open_media
from engine.errors import Code, EngineError

# How each is made, and whether a cut can be seen: the reader does not believe the header of a WAV.
CUT = {
    "cut.wav": (["-c:a", "pcm_s16le"], False),
    "cut.mp3": (["-b:a", "96k"], False),
    "cut.flac": ([], True),
    "cut.m4a": (["-c:a", "aac", "-movflags", "+faststart"], True),
    "cut.mka": (["-c:a", "libvorbis"], True),
    "cut.ogg": (["-c:a", "libopus"], False),
    "cut.aiff": ([], True),
    "cut.ts": (["-c:a", "aac"], False),
    "cut.aac": (["-c:a", "aac"], False),
    "cut.wma": ([], False),
}
NOISE = "0.3*random(0)"  # does not compress, so that bytes are time


@pytest.mark.parametrize("name", CUT)
def test_a_truncated_file_gives_what_is_there(name, make, listen, tmp_path):
    arguments, known = CUT[name]
    data = make(f"whole_{name}", *arguments, tone=f"{NOISE}|{NOISE}", seconds=20).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: len(data) * 6 // 10])
    heard = listen(path)
    assert 10_500 <= heard.ms <= 12_500
    if known:
        (notice,) = heard.notices
        assert notice.code == "damaged_at"
        assert notice.start == pytest.approx(heard.ms, abs=150)


def test_a_film_whose_sound_ends_before_the_picture_is_not_damaged(make, listen):
    picture = ("-f", "lavfi", "-i", "testsrc=d=8:r=10:s=64x64", "-f", "lavfi", "-i", "sine=440:d=3")
    for name in ("short_sound.mp4", "short_sound.mkv"):
        assert listen(make(name, *picture)).codes == []


def test_an_mp4_without_its_index_is_damaged(make, tmp_path):
    data = make("itunes.m4a", "-c:a", "aac").read_bytes()
    path = tmp_path / "crashed.m4a"
    path.write_bytes(data[: data.rindex(b"moov") - 4])
    with pytest.raises(EngineError) as caught:
        open_media(path)
    assert caught.value.code is Code.DAMAGED


def test_a_file_none_of_whose_sound_decodes_is_damaged(make, tmp_path):
    data = bytearray(make("moov_first.m4a", "-c:a", "aac", "-movflags", "+faststart").read_bytes())
    start = data.index(b"mdat") + 4
    data[start:] = bytes(len(data) - start)
    path = tmp_path / "zeros.m4a"
    path.write_bytes(data)
    with pytest.raises(EngineError) as caught:
        list(open_media(path).blocks())
    assert caught.value.code is Code.DAMAGED


@pytest.mark.parametrize("size", [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"])
def test_the_wav_of_a_recorder_that_crashed_is_read_to_its_end(size, make, listen, tmp_path):
    data = bytearray(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    data[4:8] = data[40:44] = size
    path = tmp_path / "crashed.wav"
    path.write_bytes(data)
    assert listen(path).ms == 3000


def test_odd_chunks_of_a_wav_are_passed_over(make, listen, tmp_path):
    data = make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes()
    junk = b"JUNK" + (5).to_bytes(4, "little") + b"\1\2\3\4\5\0" + b"LIST" + (5).to_bytes(4, "little") + b"INFO\1\0"
    path = tmp_path / "chunks.wav"
    path.write_bytes(data[:12] + junk + data[12:])
    assert listen(path).ms == 3000


def test_junk_before_the_first_frame_of_an_mp3_is_passed_over(make, listen, tmp_path):
    data = make("no_xing.mp3", "-write_xing", "0", "-id3v2_version", "0").read_bytes()
    path = tmp_path / "junk.mp3"
    path.write_bytes(random.Random(1).randbytes(3_000) + data)
    assert abs(listen(path).ms - 3000) <= 120


HOLES = {
    "hole.m4a": ["-c:a", "aac"],
    "hole.mp3": ["-b:a", "128k"],
    "hole.flac": [],
    "hole.ogg": ["-c:a", "libopus"],
    "hole.mka": ["-c:a", "libopus"],
    "hole.ts": ["-c:a", "aac"],
}


@pytest.mark.parametrize("name", HOLES)
def test_after_a_damaged_place_the_rest_is_heard_at_its_time(name, make, listen, tmp_path):
    # A click at 15 s of 20 s; bytes from 40 % on are destroyed.
    tone = f"if(between(t\\,15\\,15.1)\\,0.9\\,0.2*({NOISE}))"
    data = bytearray(make(f"click_{name}", *HOLES[name], tone=tone, seconds=20).read_bytes())
    place = len(data) * 4 // 10
    data[place : place + 3_000] = random.Random(2).randbytes(3_000)
    path = tmp_path / name
    path.write_bytes(data)
    heard = listen(path)
    loud = 10_000 + int((abs(heard.samples[160_000:]) > 0.5).argmax()) / 16  # at 8 s there may be any noise
    lost = 450 if name == "hole.mp3" else 120  # the reader of MP3 skips to the next frame without a word
    assert loud == pytest.approx(15_000, abs=lost)
    assert heard.notices
    assert {notice.code for notice in heard.notices} <= {"damaged_at", "gap"}
    assert heard.notices[0].start == pytest.approx(8_000, abs=1_500)


SMALL = {
    "small.wav": ["-c:a", "pcm_s16le"],
    "small.mp3": ["-b:a", "32k"],
    "small.ogg": ["-c:a", "libvorbis"],
    "small.opus": ["-c:a", "libopus"],
    "small.mp4": ["-c:a", "aac"],
    "small.flac": [],
    "small.mka": ["-c:a", "libopus"],
    "small.ts": ["-c:a", "aac"],
    "small.aiff": [],
    "small.wma": [],
    "small.avi": ["-c:a", "mp3"],
}


def survives(data: bytes, folder, limit=20.0) -> None:
    """Reading these bytes ends, with sound or with an EngineError of the right kind."""
    path = folder / "fuzzed"
    path.write_bytes(data)
    began = time.monotonic()
    code = None
    try:
        with open_media(path) as media:
            for block in media.blocks():
                assert len(block.samples) <= 480_000
    except EngineError as error:
        code = error.code
    assert code in {None, Code.EMPTY_FILE, Code.NOT_MEDIA, Code.NO_AUDIO, Code.DAMAGED, Code.NO_DECODER}
    assert time.monotonic() - began < limit


def wav_of_rate(hertz: int) -> bytes:
    layout = b"\x01\x00\x01\x00" + hertz.to_bytes(4, "little") * 2 + b"\x01\x00\x08\x00"
    return b"RIFF" + bytes(4) + b"WAVEfmt " + (16).to_bytes(4, "little") + layout + b"data" + bytes(4_004)


QUICKLY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICKLY
@given(st.binary(max_size=3_000))
@example(wav_of_rate(1))
@example(wav_of_rate(0x7FFFFFFF))
@example(
    b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\1\0\1\0\xff\xff\xff\x7f\1\0\0\0\1\0\x08\0data\xff\xff\xff\xff" + bytes(9)
)
def test_random_bytes_never_crash(tmp_path, data):
    survives(data, tmp_path)


@pytest.mark.parametrize("name", SMALL)
def test_random_damage_never_crashes(name, make, tmp_path):
    whole = make(name, *SMALL[name], seconds=1, rate=22_050).read_bytes()

    @QUICKLY
    @given(
        cut=st.integers(0, len(whole)),
        hits=st.lists(st.tuples(st.integers(0, len(whole)), st.binary(min_size=1, max_size=8)), max_size=6),
    )
    def damage(cut, hits):
        data = bytearray(whole)
        for place, patch in hits:
            data[place : place + len(patch)] = patch
        survives(bytes(data[:cut] if cut % 2 else data), tmp_path)

    damage()


@pytest.mark.parametrize("name", SMALL)
def test_random_damage_to_the_header_never_crashes(name, make, tmp_path):
    whole = make(name, *SMALL[name], seconds=1, rate=22_050).read_bytes()

    @QUICKLY
    @given(hits=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=4))
    def damage(hits):
        data = bytearray(whole)
        for place, byte in hits:
            data[min(place, len(data) - 1)] = byte
        survives(bytes(data), tmp_path)

    damage()
