"""Notices are few, and each is told once, when it is known how long its stretch is."""

from __future__ import annotations

from engine.audio.media import open_media
from engine.audio.notices import MediaNotice, Notices


def test_what_happens_again_right_there_is_one_stretch():
    notices = Notices()
    notices.add("gap", 1_000, 1_400)
    notices.add("damaged_at", 1_500, 1_520)
    notices.add("gap", 3_000, 3_500)
    notices.add("gap", 9_000, 9_100)
    assert notices.entries == [
        MediaNotice("gap", "", 1_000, 3_500),
        MediaNotice("damaged_at", "", 1_500, 1_520),
        MediaNotice("gap", "", 9_000, 9_100),
    ]


def test_a_file_with_a_thousand_gaps_has_twenty_notices():
    notices = Notices()
    for number in range(1_000):
        notices.add("gap", number * 10_000, number * 10_000 + 100)
    assert len(notices.entries) == 20


def test_only_a_stretch_that_has_ended_is_told():
    notices = Notices()
    notices.add("gap", 1_000, 1_400)
    notices.add("damaged_at", 2_000, 8_000)
    notices.add("gap", 4_000, 4_500)
    assert notices.settled(3_000) == []
    assert notices.settled(7_000) == notices.entries[:1]
    assert notices.settled(10_000) == notices.entries


def test_while_reading_the_list_only_grows(make, remux, tmp_path):
    whole = make("minute.ogg", "-c:a", "libopus", seconds=60, rate=48_000)
    holed = remux(whole, tmp_path / "holed.mka", lambda number, _: number < 250 or number % 25 < 20)
    told: list[MediaNotice] = []
    with open_media(holed) as media:
        for _ in media.blocks():
            now = media.notices
            assert now[: len(told)] == told
            told = list(now)
        assert [notice.code for notice in media.notices] == ["gap"]
        assert media.notices[0].start is not None
        assert media.notices[0].end is not None
        assert media.notices[0].end - media.notices[0].start > 50_000
