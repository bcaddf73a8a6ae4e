"""The right audio track is taken and called by a name."""

from __future__ import annotations

import pytest

from engine.audio.media import open_media
from engine.audio.tracks import Track, choose
from engine.errors import Code, EngineError


def track(index=1, codec="aac", language="", title="", channels=2, rate=48_000, default=False):
    return Track(index, codec, language, title, channels, rate, default)


@pytest.fixture(scope="session")
def film(make):
    """A film with a German track of 300 Hz, then an English one of 600 Hz that is the default."""
    return make(
        "two_tracks.mkv",
        *("-f", "lavfi", "-i", "testsrc=d=3:r=5:s=64x64"),
        *("-f", "lavfi", "-i", "sine=300:d=3", "-f", "lavfi", "-i", "sine=600:d=3"),
        *("-map", "0", "-map", "1", "-map", "2", "-c:a", "aac", "-ac:a:1", "2"),
        *("-metadata:s:a:0", "language=ger", "-metadata:s:a:1", "language=eng"),
        *("-metadata:s:a:0", "title=Director's\ncut", "-disposition:a:0", "0", "-disposition:a:1", "default"),
    )


def test_the_default_track_is_taken(film, listen, frequency):
    heard = listen(film)
    assert heard.media.track.index == 2
    assert frequency(heard.between(500, 2500)) == pytest.approx(600, abs=1)


def test_another_track_can_be_asked_for(film, listen, frequency):
    heard = listen(film, 1)
    assert frequency(heard.between(500, 2500)) == pytest.approx(300, abs=1)


def test_all_tracks_are_named(film):
    with open_media(film) as media:
        assert [entry.name for entry in media.tracks] == ["1: German, mono, Director's cut", "2: English, stereo"]
        assert [entry.codec for entry in media.tracks] == ["aac", "aac"]
        assert media.track == media.tracks[1]


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (track(language="eng"), "1: English, stereo"),
        (track(index=3, channels=1), "3: mono"),
        (track(language="und", channels=6), "1: 6 channels"),
        (track(language="zho", title="评论"), "1: Chinese, stereo, 评论"),
        (track(language="tlh", channels=1), "1: tlh, mono"),
        (track(language="de", channels=0), "1: German"),
        (track(channels=0), "1: audio"),
    ],
)
def test_a_name_says_what_people_understand(made, name):
    assert made.name == name


def test_without_a_default_the_first_track_is_taken():
    assert choose([track(1), track(2)], None).index == 1


def test_a_track_that_cannot_be_read_is_not_the_default():
    assert choose([track(1, codec="", default=True), track(2)], None).index == 2
    assert choose([track(1, codec="", default=True), track(2)], 1).index == 1


@pytest.mark.parametrize("wanted", [0, 3, -1])
def test_a_number_that_no_track_has_is_refused(wanted):
    with pytest.raises(EngineError) as caught:
        choose([track(1), track(2)], wanted)
    assert caught.value.code is Code.NO_SUCH_TRACK
    assert caught.value.detail == "It has 2 tracks."


def test_tags_that_are_no_text_do_no_harm(make, listen, tmp_path):
    data = make("tagged.mp3", "-metadata", "title=SEVENTEEN LETTERS").read_bytes()
    path = tmp_path / "latin.mp3"
    path.write_bytes(data.replace(b"SEVENTEEN LETTERS", b"\xff\xfeSEVEN\x00\xe9LETTE\n\xc3("))
    assert abs(listen(path).ms - 3000) <= 60
